package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/store/memory"
)

// discard is a response writer that keeps nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// BenchmarkGetByID is the read that every consumer does, without the network.
func BenchmarkGetByID(b *testing.B) {
	log := memory.New()
	defer log.Close()
	r, err := registry.Open(b.Context(), registry.Options{Log: log})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	s, err := New(r, Options{})
	if err != nil {
		b.Fatal(err)
	}
	body := `{"schema":"{\"type\":\"record\",\"name\":\"User\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"},{\"name\":\"name\",\"type\":\"string\"},{\"name\":\"email\",\"type\":\"string\"},{\"name\":\"age\",\"type\":\"int\"}]}"}`
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/subjects/user-value/versions", strings.NewReader(body)))
	if w.Code != http.StatusOK {
		b.Fatal(w.Body)
	}
	req := httptest.NewRequest(http.MethodGet, "/schemas/ids/1?subject=user-value", nil)
	req.Header.Set("Accept", typeV1)
	b.ReportAllocs()
	for b.Loop() {
		d := &discard{header: http.Header{}}
		s.Handler().ServeHTTP(d, req)
		if d.status != http.StatusOK {
			b.Fatal(d.status)
		}
	}
}
