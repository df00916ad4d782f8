package rest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store/memory"
)

// FuzzServer sends whatever net/http takes as a request. An answer is never a
// server error, but for what a key management service fails at; if it is an
// error, it has the API's body and a status that
// belongs to its code.
func FuzzServer(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for entry := range strings.SplitSeq(string(text), "\n\n") {
			line, rest, _ := strings.Cut(entry, "\n")
			if method, path, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
				body, _, _ := strings.Cut(rest, "---")
				f.Add(method, path, body, "application/json", "*/*")
			}
		}
	}
	f.Fuzz(func(t *testing.T, method, path, body, contentType, accept string) {
		text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nContent-Type: %s\r\nAccept: %s\r\n\r\n%s",
			method, path, len(body), contentType, accept, body)
		req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return
		}
		log := memory.New()
		defer log.Close()
		r, err := registry.Open(t.Context(), registry.Options{Log: log})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		s, err := New(r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, req)
		if w.Code >= 500 && !strings.Contains(w.Body.String(), fmt.Sprint(errcode.KMSFailed.Code)) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w.Code < 400 || w.Code == 414 || w.Body.Len() == 0 {
			return
		}
		var m api.ErrorMessage
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
			t.Fatalf("%d %q: %v", w.Code, w.Body, err)
		}
		if !strings.HasPrefix(fmt.Sprint(m.ErrorCode), fmt.Sprint(w.Code)) || m.Message == "" {
			t.Fatalf("%d with %+v", w.Code, m)
		}
	})
}
