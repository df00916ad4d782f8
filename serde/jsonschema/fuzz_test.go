package jsonschema

import (
	"errors"
	"testing"

	"milena/serde/schema"
)

// FuzzParse: whatever the text, the parser answers, and what it takes reads
// back to itself, also normalized.
func FuzzParse(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add(c.text)
	}
	f.Fuzz(fuzzParse)
}

func fuzzParse(t *testing.T, text string) {
	s, err := Parser{}.ParseSchema(schema.Resolved{Text: text})
	if err != nil {
		var pe *schema.ParseError
		if !errors.As(err, &pe) {
			t.Fatalf("%T", err)
		}
		return
	}
	for _, again := range []string{s.Canonical(), s.Normalized()} {
		r, err := Parser{}.ParseSchema(schema.Resolved{Text: again})
		if err != nil || r.Canonical() != again || r.Normalized() != s.Normalized() {
			t.Errorf("%q reads back as %v", again, err)
		}
	}
}
