package rest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"milena/registry"
	"milena/registry/store"
	"milena/registry/store/memory"
)

// TestLongLists reads a list that is sent in pieces, whole and in pages, with
// and without compression, over a connection.
func TestLongLists(t *testing.T) {
	log := memory.New()
	var entries []store.Entry
	var want []string
	for i := range 6_000 {
		name := fmt.Sprintf("subject-with-\"quotes\"-%05d", i)
		e, err := store.Encode(&store.Record{Kind: store.SchemaKind, Subject: name, Version: 1, Schema: &store.Schema{
			Subject: name, Version: 1, ID: i%7 + 1, Type: "AVRO", Text: fmt.Sprintf(`{"type":"fixed","name":"F","size":%d}`, i%7+1),
		}})
		if err != nil {
			t.Fatal(err)
		}
		entries, want = append(entries, e), append(want, name)
	}
	if _, err := log.Append(t.Context(), 0, entries); err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), registry.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	s, err := New(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := anyPort(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	get := func(method, query, coding string) (*http.Response, []string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+l.Addr().String()+"/subjects"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", coding)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body := io.Reader(resp.Body)
		if resp.Header.Get("Content-Encoding") == "gzip" && method == http.MethodGet {
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		var names []string
		if method == http.MethodGet {
			if err := json.NewDecoder(body).Decode(&names); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.Copy(io.Discard, body); err != nil {
			t.Fatal(err)
		}
		return resp, names
	}
	for _, c := range []struct {
		query  string
		want   []string
		pieces bool
	}{
		{"", want, true},
		{"?limit=5000", want[:5000], true},
		{"?offset=100&limit=3", want[100:103], false},
		{"?offset=5999", want[5999:], false},
		{"?offset=6000", nil, false},
		{"?offset=-1&limit=0", want, true},
		{"?subjectPrefix=none", nil, false},
	} {
		for _, coding := range []string{"identity", "gzip"} {
			resp, got := get(http.MethodGet, c.query, coding)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s %s: %d names, want %d", c.query, coding, len(got), len(c.want))
			}
			if pieces := resp.ContentLength < 0; pieces != c.pieces || resp.Header.Get("Content-Type") != typeV1 || resp.Header.Get("Vary") == "" {
				t.Errorf("%s %s: length %d, headers %v", c.query, coding, resp.ContentLength, resp.Header)
			}
			if zipped := resp.Header.Get("Content-Encoding") == "gzip"; zipped != (coding == "gzip" && c.pieces) {
				t.Errorf("%s %s: content encoding %q", c.query, coding, resp.Header.Get("Content-Encoding"))
			}
		}
	}
	if resp, _ := get(http.MethodHead, "", "identity"); resp.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %s", resp.Status)
	}
	client.CloseIdleConnections()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
}
