package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"milena/registry"
)

// TestKnownFaultsOfSize: what is too large is the client's error, told at once,
// and what is within the limits works afterwards.
func TestKnownFaultsOfSize(t *testing.T) {
	h := openServer(t, registry.Options{}, Options{}).Handler()
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"name":"a_field_with_some_longer_name_%d","type":"string"}`, i)
		}
		return `{"type":"record","name":"R","fields":[` + b.String()[1:] + `]}`
	}
	million := strings.Repeat(`{"name":"n","subject":"s","version":1},`, 200_000) // within the limit on bodies
	for _, c := range []struct {
		kind, body   string
		status, code int
	}{
		{"20,000 fields", quoteSchema(t, fields(20_000)), 422, 42209},
		{"25 MB", quoteSchema(t, strings.Repeat("x", 25<<20)), 413, 413},
		{"references without number", `{"schema":"\"int\"","references":[` + million[:len(million)-1] + `]}`, 422, 42201},
		{"a body that is packed", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 400, 400},
		{"5,000 fields", quoteSchema(t, fields(5_000)), 200, 0},
	} {
		start := time.Now()
		w := do(t, h, http.MethodPost, "/subjects/s/versions", c.body)
		if w.Code != c.status || c.code != 0 && !strings.Contains(w.Body.String(), fmt.Sprintf(`"error_code":%d`, c.code)) || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %d %.200s after %v", c.kind, w.Code, w.Body.String(), time.Since(start))
		}
	}
}

// TestKnownFaultsOfAnswers: every answer of the transcripts is what the OpenAPI
// document says: the status is one of the operation's, and members are those of
// its schema.
func TestKnownFaultsOfAnswers(t *testing.T) {
	doc := document(t)
	for _, file := range transcripts(t) {
		script := readTranscript(t, file)
		for _, x := range script.exchanges {
			op := operationFor(doc, x.method, x.path)
			if op == nil || x.want == "" {
				continue // no route: that is an answer too
			}
			status, body, _ := strings.Cut(x.want, "\n")
			response, ok := at(op, "responses", status).(map[string]any)
			if !ok {
				t.Errorf("%s: %s %s: the document has no answer %s", file, x.method, x.path, status)
				continue
			}
			content, _ := at(response, "content", typeV1, "schema").(map[string]any)
			if content == nil || content["description"] != nil || body == "" {
				continue // no JSON, or what the HTTP layer refuses
			}
			if err := fits(doc, content, body); err != nil {
				t.Errorf("%s: %s %s: %v: %.200s", file, x.method, x.path, err, body)
			}
		}
	}
}
