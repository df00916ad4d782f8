package rest

import (
	"net/http"
	"testing"

	"milena/registry"
)

// TestPreferLinked: only clients that name themselves get the complete form of
// format=serialized.
func TestPreferLinked(t *testing.T) {
	named := http.Header{}
	named.Set("Confluent-Client-Version", "javascript/1.10.1")
	for _, c := range []struct {
		raw    string
		header http.Header
		want   string
	}{
		{"format=Serialized", named, registry.FormatLinked},
		{"format=serialized", http.Header{}, "serialized"},
		{"format=resolved", named, "resolved"},
		{"deleted=serialized", named, ""},
	} {
		q, err := parseQuery(c.raw, []string{"format", "deleted"})
		if err != nil {
			t.Fatal(err)
		}
		q.preferLinked(c.header)
		if got := q.text("format"); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.raw, c.header, got, c.want)
		}
	}
}
