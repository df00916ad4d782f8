package rest

import (
	"strings"
	"testing"
)

func TestNegotiate(t *testing.T) {
	for _, c := range []struct{ accept, want string }{
		{"", typeV1},
		{" , ", typeV1},
		{"*/*", typeV1},
		{"*", typeV1},
		{"application/*", typeV1},
		{"APPLICATION/JSON", typeJSON},
		{"application/json", typeJSON},
		{"application/vnd.schemaregistry+json", typeBare},
		{"application/vnd.schemaregistry.v1+json; q=0.9, application/json; q=0.5", typeV1},
		{"application/json, application/vnd.schemaregistry+json", typeBare},
		{"application/json, application/vnd.schemaregistry+json, application/vnd.schemaregistry.v1+json", typeV1},
		{"application/json;q=0.9, application/vnd.schemaregistry.v1+json;q=0.8", typeJSON},
		{"application/json, */*;q=0.8", typeJSON},
		{"*/*, application/json", typeV1},
		{"text/html, application/xhtml+xml, */*;q=0.1", typeV1},
		// Java's HttpURLConnection without an Accept of its own.
		{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", typeV1},
		// .NET and Python
		{"application/vnd.schemaregistry.v1+json; qs=1, application/vnd.schemaregistry+json; qs=0.9, application/json; qs=0.5", typeV1},
		{"application/json;q=0", typeJSON},
		{"application/json;q=0, application/vnd.schemaregistry+json;q=0.1", typeBare},
		{"application/json;q=x", typeJSON},
		{"application/json;q=7, application/vnd.schemaregistry.v1+json;q=0.5", typeJSON},
		{"application/json;charset=utf-8", typeJSON + ";charset=utf-8"},
		{"application/json; charset=utf-8; q=0.5; v=1", typeJSON + ";charset=utf-8;v=1"},
		{"application/json;\x01x=\x7f", typeJSON},
		{"text/html", ""},
		{"application/jsonx", ""},
		{"text/*", ""},
		{"nonsense", ""},
		{"application/vnd.schemaregistry.v2+json", ""},
	} {
		got, ok := negotiate([]string{c.accept})
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Accept %q: %q, %v; want %q", c.accept, got, ok, c.want)
		}
	}
	if got, ok := negotiate(nil); got != typeV1 || !ok {
		t.Errorf("without Accept: %q, %v", got, ok)
	}
	if got, _ := negotiate([]string{"text/html", "application/json"}); got != typeJSON {
		t.Errorf("two headers: %q", got)
	}
}

func TestContentType(t *testing.T) {
	for header, want := range map[string]bodyType{
		"":                                       bodyTaken,
		"application/json":                       bodyTaken,
		"Application/JSON; charset=utf-8":        bodyTaken,
		"application/octet-stream":               bodyTaken,
		"application/vnd.schemaregistry+json":    bodyTaken,
		typeV1 + ";x=y":                          bodyTaken,
		"text/plain":                             bodyUnsupported,
		"application/x-www-form-urlencoded":      bodyUnsupported,
		"application/vnd.schemaregistry.v2+json": bodyUnsupported,
		"json":                                   bodyMalformed,
		"/":                                      bodyMalformed,
		"a/b/c":                                  bodyMalformed,
		"a b/c":                                  bodyMalformed,
		";charset=":                              bodyMalformed,
	} {
		if got := checkContentType(header); got != want {
			t.Errorf("Content-Type %q: %v, want %v", header, got, want)
		}
	}
}

func TestTakesGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"gzip": true, "deflate, GZIP;q=0.5": true, "x-gzip": true,
		"": false, "gzip;q=0": false, "identity": false, "*": false, "gzipx": false,
	} {
		if got := takesGzip([]string{header}); got != want {
			t.Errorf("Accept-Encoding %q: %v", header, got)
		}
	}
}

// FuzzNegotiate: the type of an answer is one of the three, with parameters
// that can be sent.
func FuzzNegotiate(f *testing.F) {
	f.Add("application/json;q=0.5, */*")
	f.Add("a/b;;=;q=,*;q=1e9")
	f.Fuzz(func(t *testing.T, accept string) {
		got, ok := negotiate([]string{accept})
		if ok == (got == "") {
			t.Fatalf("%q: %q, %v", accept, got, ok)
		}
		if base, _, _ := strings.Cut(got, ";"); ok && base != typeV1 && base != typeBare && base != typeJSON || !isPrintable(got) {
			t.Fatalf("%q: %q", accept, got)
		}
	})
}
