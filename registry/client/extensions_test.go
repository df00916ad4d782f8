package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"milena/registry/api"
	"milena/registry/client"
	"milena/registry/errcode"
	"milena/serde/schema"
)

// TestTransfer moves a registry to another: as a stream, and by its address.
func TestTransfer(t *testing.T) {
	from, to, third := startRemote(t), startRemote(t), startRemote(t)
	from.register(t, "s", `"int"`)
	from.register(t, ":.c:s", `"long"`)
	read := func(c *client.Client, q client.ExportQuery) string {
		t.Helper()
		body, err := c.Export(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = body.Close() }()
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	source := newClient(t, client.Options{URL: from.url})
	all := read(source, client.ExportQuery{})
	if !strings.Contains(all, `"subject":"s"`) || !strings.Contains(all, `"subject":":.c:s"`) || !strings.Contains(all, `{"end":`) {
		t.Errorf("all: %s", all)
	}
	if part := read(source.InContext("c"), client.ExportQuery{LiveOnly: true}); strings.Contains(part, `"subject":"s"`) || !strings.Contains(part, `"subject":":.c:s"`) {
		t.Errorf("of a context: %s", part)
	}
	target := newClient(t, client.Options{URL: to.url})
	if _, err := target.SchemaByID(t.Context(), 1, client.IDQuery{}); !errors.Is(err, errcode.SchemaNotFound) {
		t.Errorf("%v", err)
	}
	if sum, err := target.Import(t.Context(), strings.NewReader(all), client.ImportOptions{DryRun: true}); err != nil || !sum.DryRun || sum.Imported != sum.Lines {
		t.Errorf("dry run: %+v, %v", sum, err)
	}
	sum, err := target.Import(t.Context(), strings.NewReader(all), client.ImportOptions{})
	if err != nil || !sum.Complete || sum.Imported != sum.Lines || sum.Lines == 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	// That it was not there is forgotten.
	if _, err := target.SchemaByID(t.Context(), 1, client.IDQuery{}); err != nil {
		t.Error(err)
	}
	var findings []api.ImportLine
	conflict := strings.Replace(all, `"version":1,"id":1`, `"version":1,"id":9`, 1)
	sum, err = target.Import(t.Context(), strings.NewReader(conflict), client.ImportOptions{Report: func(l api.ImportLine) { findings = append(findings, l) }})
	if err != nil || sum.Conflicts != 1 || len(findings) != 1 || findings[0].Outcome != "conflict" {
		t.Errorf("%+v, %+v, %v", sum, findings, err)
	}
	if _, err := target.Import(t.Context(), strings.NewReader("noise"), client.ImportOptions{}); !errors.Is(err, errcode.BadRequest) || errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("noise: %v", err)
	}
	sum, err = newClient(t, client.Options{URL: third.url}).ImportFrom(t.Context(), api.ImportFrom{From: from.url}, client.ImportOptions{})
	if err != nil || !sum.Complete || sum.Imported == 0 {
		t.Errorf("from another: %+v, %v", sum, err)
	}
}

// TestTryRegister says what would happen, in the client's context.
func TestTryRegister(t *testing.T) {
	r := startRemote(t)
	c := newClient(t, client.Options{URL: r.url}).InContext("c")
	r.register(t, ":.c:s", `"int"`)
	for text, want := range map[string]string{
		`"int"`:    "1 false true",
		`"long"`:   "2 true true",
		`"string"`: "2 true false",
	} {
		got, err := c.TryRegister(t.Context(), "s", api.RegisterRequest{Schema: &text}, client.RegisterOptions{})
		if s := fmt.Sprint(got.Version, " ", got.Created, " ", got.IsCompatible); err != nil || s != want {
			t.Errorf("%s: %s, %v; want %s", text, s, err, want)
		}
	}
	if _, err := c.TryRegister(t.Context(), "s", api.RegisterRequest{Schema: ptr("{")}, client.RegisterOptions{}); !errors.Is(err, errcode.InvalidSchema) {
		t.Errorf("%v", err)
	}
	if list, err := c.Versions(t.Context(), "s", client.VersionsQuery{}); err != nil || len(list) != 1 {
		t.Errorf("something was registered: %v, %v", list, err)
	}
}

// TestSearch pages through what it finds.
func TestSearch(t *testing.T) {
	r := startRemote(t)
	for i := range 5 {
		r.register(t, fmt.Sprint("s", i), fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"amount","type":"int"}]}`, i))
	}
	r.register(t, "other", `"int"`)
	c := newClient(t, client.Options{URL: r.url})
	var found []string
	q := client.SearchQuery{Field: "amount", SchemaType: "AVRO", Limit: 2}
	for range 10 {
		page, err := c.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Matches {
			found = append(found, m.Subject)
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if got := fmt.Sprint(found); got != "[s0 s1 s2 s3 s4]" {
		t.Error(got)
	}
}

// TestElsewhere: registries without these routes say so, answers that end early
// and connections that break are no answers, and a body is sent once.
func TestElsewhere(t *testing.T) {
	var bodies atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		if len(text) > 0 {
			bodies.Add(1)
		}
		switch req.Header.Get("Case") {
		case "missing":
			answers(404, "<html>")(w, req)
		case "method":
			answers(405, "")(w, req)
		case "overload":
			answers(503, "")(w, req)
		case "cut":
			answers(200, `{"line":1,"outcome":"warning"}`+"\n")(w, req)
		case "noise":
			answers(200, "noise\n")(w, req)
		default:
			panic(http.ErrAbortHandler)
		}
	}))
	defer web.Close()
	for name, check := range map[string]func(error) bool{
		"missing": client.IsMissing,
		"method":  client.IsMissing,
		"overload": func(err error) bool {
			return errors.Is(err, schema.ErrUnavailable) && errors.Is(err, errcode.Unavailable)
		},
		"cut": func(err error) bool {
			return errors.Is(err, client.ErrImportCut) && errors.Is(err, schema.ErrUnavailable)
		},
		"noise":  func(err error) bool { return errors.Is(err, schema.ErrUnavailable) },
		"broken": func(err error) bool { return errors.Is(err, schema.ErrUnavailable) },
	} {
		bodies.Store(0)
		// The first URL is of nobody: the body is still whole for the second.
		c := newClient(t, client.Options{URL: "http://" + closedPort(t) + "," + web.URL, Header: http.Header{"Case": {name}}})
		if _, err := c.Import(t.Context(), strings.NewReader("x"), client.ImportOptions{}); !check(err) || bodies.Load() != 1 {
			t.Errorf("%s: %v, %d bodies", name, err, bodies.Load())
		}
		if name == "cut" || name == "noise" {
			continue // an export is for its reader to check
		}
		if _, err := c.Export(t.Context(), client.ExportQuery{}); !check(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newClient(t, client.Options{URL: web.URL}).Export(ctx, client.ExportQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}
