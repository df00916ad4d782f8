package registry_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store"
	"milena/registry/store/memory"
	"milena/registry/store/sqlite"
)

// TestOneTextForManySubjects: thousands of subjects with one large schema cost
// one text, as they come in and after a restart.
func TestOneTextForManySubjects(t *testing.T) {
	log, err := sqlite.Open(t.Context(), t.TempDir()+"/registry.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	r := open(t, registry.Options{Log: log})
	text := `{"type":"record","name":"R","doc":"` + strings.Repeat("x", 80_000) + `","fields":[]}`
	const subjects = 200
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	for i := range subjects {
		register(t, r, fmt.Sprint("s", i), text)
	}
	if grown := heap() - before; grown > subjects*len(text)/4 {
		t.Errorf("%d subjects of one schema of %d bytes cost %d bytes", subjects, len(text), grown)
	}
	before = heap()
	again := open(t, registry.Options{Log: log})
	if grown := heap() - before; grown > subjects*len(text)/2 { // buffers of the replay included
		t.Errorf("after a restart they cost %d bytes", grown)
	}
	runtime.KeepAlive(again)
}

// TestManyVersionsOfOneSubject: no list is cut unless it is asked for, and a
// subject of many versions can be deleted.
func TestManyVersionsOfOneSubject(t *testing.T) {
	r := open(t, registry.Options{})
	if _, err := r.SetConfig(t.Context(), "big", api.ConfigRequest{Compatibility: api.Given("NONE")}); err != nil {
		t.Fatal(err)
	}
	const versions = 600
	for i := range versions {
		register(t, r, "big", fmt.Sprintf(`{"type":"fixed","name":"F","size":%d}`, i))
	}
	all, err := r.Versions(t.Context(), "big", registry.VersionsQuery{})
	if err != nil || len(all) != versions || all[versions-1] != versions {
		t.Errorf("%d versions, %v", len(all), err)
	}
	page, err := r.Versions(t.Context(), "big", registry.VersionsQuery{Page: registry.Page{Offset: 500, Limit: 50}})
	if err != nil || len(page) != 50 || page[0] != 501 {
		t.Errorf("a page: %v, %v", page, err)
	}
	deleted, err := r.DeleteSubject(t.Context(), "big", false)
	if err != nil || len(deleted) != versions {
		t.Errorf("deleted %d, %v", len(deleted), err)
	}
}

// TestRetryAfterTimeout: a registration whose answer came too late is found by
// the next one, and makes no second version.
func TestRetryAfterTimeout(t *testing.T) {
	slow, release := make(chan struct{}), sync.Once{}
	log := &flakyLog{Log: memory.New(), before: func() error { <-slow; return nil }}
	r := open(t, registry.Options{Log: log})
	defer release.Do(func() { close(slow) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := r.Register(ctx, "s", request(`"int"`), registry.RegisterOptions{}); !errors.Is(err, errcode.OperationTimedOut) {
		t.Errorf("the slow one: %v", err)
	}
	release.Do(func() { close(slow) })
	first := register(t, r, "s", `"int"`)
	second := register(t, r, "s", `"int"`)
	versions, err := r.Versions(t.Context(), "s", registry.VersionsQuery{Deleted: true})
	if first.ID != 1 || second.ID != 1 || err != nil || !slices.Equal(versions, []int{1}) {
		t.Errorf("ids %d, %d, versions %v, %v", first.ID, second.ID, versions, err)
	}
}

// TestRegisterWhileDeleting: a registration is before a deletion or after it: the
// answers name each version once, and what no deletion named is there.
func TestRegisterWhileDeleting(t *testing.T) {
	r := open(t, registry.Options{})
	if _, err := r.SetConfig(t.Context(), "s", api.ConfigRequest{Compatibility: api.Given("NONE")}); err != nil {
		t.Fatal(err)
	}
	const rounds = 300
	var deleted []int
	done := make(chan error, 1)
	go func() {
		for range rounds {
			gone, err := r.DeleteSubject(t.Context(), "s", false)
			if err != nil && !errors.Is(err, errcode.SubjectNotFound) && !errors.Is(err, errcode.SubjectSoftDeleted) {
				done <- err
				return
			}
			deleted = append(deleted, gone...)
		}
		done <- nil
	}()
	registered := map[int]bool{}
	for i := range rounds {
		a := register(t, r, "s", fmt.Sprintf(`{"type":"fixed","name":"F","size":%d}`, i))
		if registered[a.Version] {
			t.Errorf("version %d was registered twice", a.Version)
		}
		registered[a.Version] = true
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	live, err := r.Versions(t.Context(), "s", registry.VersionsQuery{})
	if err != nil && !errors.Is(err, errcode.SubjectNotFound) {
		t.Fatal(err)
	}
	for _, version := range append(deleted, live...) {
		if !registered[version] {
			t.Errorf("version %d was deleted twice, or is there and was deleted, or never was", version)
		}
		delete(registered, version)
	}
	if len(registered) > 0 {
		t.Errorf("versions %v are gone, and no answer says so", registered)
	}
}

// TestStoredUnderOddNames: schemas of other times, whose names nobody would take
// today, are read, compared, referred to and looked up in process.
func TestStoredUnderOddNames(t *testing.T) {
	log := memory.New()
	var entries []store.Entry
	for i, text := range []string{
		`{"type":"record","name":"A","fields":[{"name":"unit-price","type":"string"}]}`,
		`{"type":"record","name":"1abc","fields":[{"name":"f","type":"int"}]}`,
		`{"type":"record","name":"Depot","namespace":"acme-eu.x","fields":[{"name":"f","type":"string"}]}`,
	} {
		e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: fmt.Sprint("s", i), Version: 1, Schema: &store.Schema{
			Subject: fmt.Sprint("s", i), Version: 1, ID: i + 1, Type: "AVRO", Text: text,
		}})
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	if _, err := log.Append(t.Context(), 0, entries); err != nil {
		t.Fatal(err)
	}
	r := open(t, registry.Options{Log: log})
	for i := range entries {
		subject := fmt.Sprint("s", i)
		if _, err := r.Version(t.Context(), subject, "1", registry.VersionQuery{Format: "resolved", FindTags: []string{"*"}}); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
		in, err := r.InspectVersion(t.Context(), subject, "1", registry.VersionQuery{})
		if err != nil || !in.Decodable {
			t.Errorf("%s: %+v, %v", subject, in.Problems, err)
		}
		got, err := r.Compatibility(t.Context(), subject, "latest", request(`"int"`), registry.CompatibilityQuery{Verbose: true})
		if err != nil || got.IsCompatible || !strings.Contains(strings.Join(*got.Messages, " "), "TYPE_MISMATCH") {
			t.Errorf("%s: %+v, %v", subject, got, err)
		}
	}
}

// TestOneTextUnderManyNames: many references to one long text don't take its
// length many times over.
func TestOneTextUnderManyNames(t *testing.T) {
	r := open(t, registry.Options{})
	long := `{"type":"record","name":"L","doc":"` + strings.Repeat("x", 900_000) + `","fields":[]}`
	register(t, r, "long", long)
	req := request(`{"type":"record","name":"R","fields":[]}`)
	for i := range 1000 {
		req.References = append(req.References, api.Reference{Name: fmt.Sprintf("L%d", i), Subject: "long", Version: 1})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := r.Register(t.Context(), "many", req, registry.RegisterOptions{})
	runtime.ReadMemStats(&after)
	wantRow(t, err, errcode.InvalidSchema, "references to more than 33554432 bytes")
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("%d bytes allocated", got)
	}
	req.References = req.References[:30]
	registerRequest(t, r, "many", req)
}
