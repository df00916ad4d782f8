package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"milena/registry/api"
	"milena/registry/client"
	"milena/registry/errcode"
)

// TestCachesKeep: what is asked again is not sent again while it is fresh, and
// each cache has its time.
func TestCachesKeep(t *testing.T) {
	r := startRemote(t)
	id := int(r.register(t, "s", `"int"`))
	now := time.Unix(0, 0)
	c := newClient(t, client.Options{
		URL: r.url, Clock: func() time.Time { return now },
		LatestTTL: time.Minute, CacheTTL: time.Hour, SubjectsTTL: 2 * time.Minute, UnknownTTL: time.Second,
	})
	req := api.RegisterRequest{Schema: ptr(`"int"`)}
	ctx := t.Context()
	for _, q := range []struct {
		name string
		ask  func() error
		ttl  time.Duration // 0: for ever
		code error
	}{
		{"id", func() error { _, err := c.SchemaByID(ctx, id, client.IDQuery{}); return err }, 0, nil},
		{"version", func() error { _, err := c.Version(ctx, "s", "1", client.VersionQuery{}); return err }, time.Hour, nil},
		{"latest", func() error { _, err := c.Version(ctx, "s", client.Latest, client.VersionQuery{}); return err }, time.Minute, nil},
		{"look-up", func() error { _, err := c.Lookup(ctx, "s", req, client.LookupOptions{}); return err }, 2 * time.Minute, nil},
		{"unknown id", func() error { _, err := c.SchemaByID(ctx, 99, client.IDQuery{}); return err }, time.Second, errcode.SchemaNotFound},
		{"unknown version", func() error { _, err := c.Version(ctx, "s", "9", client.VersionQuery{}); return err }, time.Second, errcode.VersionNotFound},
		{"unknown subject", func() error { _, err := c.Version(ctx, "x", client.Latest, client.VersionQuery{}); return err }, time.Second, errcode.SubjectNotFound},
		{"metadata", func() error {
			_, err := c.SubjectMetadata(ctx, "x", client.MetadataQuery{Properties: map[string]string{"a": "b"}})
			return err
		}, time.Second, errcode.SubjectNotFound},
	} {
		sent := func() int {
			r.asked()
			if err := q.ask(); !errors.Is(err, q.code) && (q.code != nil || err != nil) {
				t.Errorf("%s: %v", q.name, err)
			}
			return len(r.asked())
		}
		if n := sent(); n != 1 {
			t.Errorf("%s: %d requests at first", q.name, n)
		}
		if n := sent(); n != 0 {
			t.Errorf("%s: %d requests at second", q.name, n)
		}
		if q.ttl == 0 {
			now = now.Add(10_000 * time.Hour)
			if n := sent(); n != 0 {
				t.Errorf("%s: %d requests after a year", q.name, n)
			}
			continue
		}
		now = now.Add(q.ttl)
		if n := sent(); n != 1 {
			t.Errorf("%s: %d requests after its time", q.name, n)
		}
	}
	c.Flush()
	r.asked()
	if _, err := c.SchemaByID(ctx, id, client.IDQuery{}); err != nil || len(r.asked()) != 1 {
		t.Errorf("after a flush: %v", err)
	}
}

// TestChangesShow: a change made through a client is visible to its next read.
func TestChangesShow(t *testing.T) {
	r := startRemote(t)
	c := newClient(t, client.Options{URL: r.url})
	ctx := t.Context()
	register := func(subject, text string) {
		t.Helper()
		if _, err := c.Register(ctx, subject, api.RegisterRequest{Schema: &text}, client.RegisterOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	text := `"int"`
	lookup := func() error {
		_, err := c.Lookup(ctx, "s", api.RegisterRequest{Schema: &text}, client.LookupOptions{})
		return err
	}
	if err := lookup(); !errors.Is(err, errcode.SubjectNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := c.SchemaByID(ctx, 1, client.IDQuery{}); !errors.Is(err, errcode.SchemaNotFound) {
		t.Errorf("%v", err)
	}
	register("s", text)
	r.asked()
	register("s", text)
	if n := len(r.asked()); n != 0 {
		t.Errorf("%d requests for a known content", n)
	}
	if err := lookup(); err != nil {
		t.Errorf("registered: %v", err)
	}
	if _, err := c.SchemaByID(ctx, 1, client.IDQuery{}); err != nil {
		t.Errorf("registered: %v", err)
	}
	register("t", `"long"`)
	if _, err := c.Version(ctx, "s", client.Latest, client.VersionQuery{}); err != nil {
		t.Error(err)
	}
	// An alias leads elsewhere.
	if _, err := c.SetConfig(ctx, "s", api.ConfigRequest{Alias: api.Given("t")}); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Version(ctx, "s", client.Latest, client.VersionQuery{}); err != nil || v.Schema != `"long"` {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := c.DeleteConfig(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Version(ctx, "s", client.Latest, client.VersionQuery{}); err != nil || v.Schema != `"int"` {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := c.DeleteSubject(ctx, "s", false); err != nil {
		t.Fatal(err)
	}
	if err := lookup(); !errors.Is(err, errcode.SubjectNotFound) {
		t.Errorf("deleted: %v", err)
	}
	r.asked()
	register("s", text)
	if n := len(r.asked()); n != 1 {
		t.Errorf("%d requests after a deletion", n)
	}
}

// TestNotKept: what names an id or version, or takes over a text, is sent every
// time.
func TestNotKept(t *testing.T) {
	r := startRemote(t)
	c := newClient(t, client.Options{URL: r.url})
	r.register(t, "s", `"int"`)
	text := `"int"`
	for name, req := range map[string]api.RegisterRequest{
		"no text": {}, "empty text": {Schema: ptr("")}, "version": {Schema: &text, Version: ptr(-1)}, "id": {Schema: &text, ID: ptr(1)},
		"propagation": {Schema: &text, PropagateSchemaTags: true},
		"reference":   {Schema: &text, References: []api.Reference{{Name: "s", Subject: "s", Version: -1}}},
	} {
		for range 2 {
			r.asked()
			if _, err := c.Register(t.Context(), "s", req, client.RegisterOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if n := len(r.asked()); n != 1 {
				t.Errorf("%s: %d requests", name, n)
			}
		}
	}
}

// TestSlowAnswerIsNotKept: an answer to a question from before a change is
// given to who asked, but not to those who ask after it.
func TestSlowAnswerIsNotKept(t *testing.T) {
	var version atomic.Int32
	asked, release := make(chan struct{}, 8), make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			version.Add(1)
			_, _ = io.WriteString(w, `{"id":1}`)
			return
		}
		v := version.Load()
		if v == 0 {
			asked <- struct{}{}
			<-release
		}
		_, _ = fmt.Fprintf(w, `{"subject":"s","version":%d,"schema":"x"}`, v)
	}))
	defer web.Close()
	c := newClient(t, client.Options{URL: web.URL})
	latest := func() int {
		v, err := c.Version(context.Background(), "s", client.Latest, client.VersionQuery{})
		if err != nil {
			t.Error(err)
		}
		return v.Version
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if v := latest(); v != 0 {
			t.Errorf("asked before: %d", v)
		}
	})
	<-asked
	if _, err := c.Register(t.Context(), "s", api.RegisterRequest{Schema: ptr("x")}, client.RegisterOptions{}); err != nil {
		t.Fatal(err)
	}
	if v := latest(); v != 1 {
		t.Errorf("asked after: %d", v)
	}
	close(release)
	wg.Wait()
	if v := latest(); v != 1 {
		t.Errorf("asked at last: %d", v)
	}
}

// TestStats counts what the caches and the wire did.
func TestStats(t *testing.T) {
	r := startRemote(t)
	for i := range 5 {
		r.register(t, fmt.Sprint("s", i), fmt.Sprintf(`{"type":"fixed","name":"F","size":%d}`, i+1))
	}
	c := newClient(t, client.Options{URL: r.url, CacheEntriesMax: 3})
	for range 2 {
		for id := 1; id <= 5; id++ {
			if _, err := c.SchemaByID(t.Context(), id, client.IDQuery{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		if _, err := c.SchemaByID(t.Context(), 99, client.IDQuery{}); !errors.Is(err, errcode.SchemaNotFound) {
			t.Fatal(err)
		}
	}
	if _, err := c.SchemaByID(t.Context(), 5, client.IDQuery{}); err != nil {
		t.Fatal(err)
	}
	s := c.Stats()
	if s.Requests != 11 || s.Retries != 0 || s.Failures != 0 {
		t.Errorf("%+v", s)
	}
	for _, k := range s.Caches {
		if k.Name != "ids" {
			if k.Entries != 0 || k.Misses != 0 {
				t.Errorf("%+v", k)
			}
			continue
		}
		if k.Hits != 1 || k.UnknownHits != 2 || k.Misses != 11 || k.Evictions != 8 || k.Entries != 3 || k.Bytes <= 0 {
			t.Errorf("%+v", k)
		}
	}
	c.Flush()
	if k := c.Stats().Caches[1]; k.Entries != 0 || k.Bytes != 0 {
		t.Errorf("after a flush: %+v", k)
	}
}

// TestPreload: afterwards reads send nothing, by id, by number and for the
// latest version, in the default context and in another.
func TestPreload(t *testing.T) {
	r := startRemote(t)
	r.register(t, "a", `"int"`)
	r.register(t, "b", `"int"`)
	r.register(t, "b", `"long"`)
	r.register(t, ":.c:a", `"string"`)
	c := newClient(t, client.Options{URL: r.url})
	if n, err := c.Preload(t.Context(), client.PreloadOptions{Prefix: ":*:"}); err != nil || n != 4 {
		t.Fatalf("%d, %v", n, err)
	}
	in := c.InContext(".c")
	if n, err := in.Preload(t.Context(), client.PreloadOptions{}); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	r.asked()
	text := func(v api.Schema, err error) string {
		return fmt.Sprint(v.Subject, " ", v.Version, " ", v.Schema, " ", err)
	}
	for got, want := range map[string]string{
		text(c.Version(t.Context(), "b", "1", client.VersionQuery{})):            `b 1 "int" <nil>`,
		text(c.Version(t.Context(), "b", client.Latest, client.VersionQuery{})):  `b 2 "long" <nil>`,
		text(c.Version(t.Context(), "a", client.Latest, client.VersionQuery{})):  `a 1 "int" <nil>`,
		text(c.Version(t.Context(), ":.c:a", "1", client.VersionQuery{})):        `:.c:a 1 "string" <nil>`,
		text(in.Version(t.Context(), "a", client.Latest, client.VersionQuery{})): `:.c:a 1 "string" <nil>`,
		text(in.Version(t.Context(), ":.c:a", "1", client.VersionQuery{})):       `:.c:a 1 "string" <nil>`,
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, ask := range []struct {
		c    *client.Client
		id   int
		want string
	}{{c, 1, `"int"`}, {c, 2, `"long"`}, {in, 1, `"string"`}} {
		if s, err := ask.c.SchemaByID(t.Context(), ask.id, client.IDQuery{}); err != nil || s.Schema != ask.want {
			t.Errorf("%d: %+v, %v", ask.id, s, err)
		}
	}
	if paths := r.asked(); len(paths) != 0 {
		t.Errorf("sent %q", paths)
	}
	limited := newClient(t, client.Options{URL: r.url})
	if n, err := limited.Preload(t.Context(), client.PreloadOptions{SchemasMax: 2}); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	r.asked()
	if v, err := limited.Version(t.Context(), "b", client.Latest, client.VersionQuery{}); err != nil || v.Version != 2 || len(r.asked()) != 1 {
		t.Errorf("the latest version of a subject that was cut: %+v, %v", v, err)
	}
}
