package protobuf

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"milena/serde/schema"
)

// FuzzParse: no text breaks the parser, and what it takes is stable: the
// canonical text is its own canonical text, and the normalized text parses back
// to the same schema.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/canonical/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add(caseFile(f, file)["schema"])
	}
	for _, s := range []string{
		"", "message", "syntax = \"proto2\"; message M { optional int32 a = 1 [default = -.5e3, json_name = \"\\\"\"]; }",
		"Cgd4LnByb3RvIhEKAUESDAoBYRgBIAEoBVIBYWIGcHJvdG8z", "option (a).(b.c).d = {[x]: 1; y {z: 'q'} y {}, w []};",
		"service S { rpc R (stream A) returns (A) { option (x) = 1; } } message A { extensions 4 to max [(y) = 010]; }",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		s, err := Parser{}.ParseSchema(schema.Resolved{Text: text})
		if err != nil {
			var parse *schema.ParseError
			if !errors.As(err, &parse) {
				t.Fatalf("%v", err)
			}
			return
		}
		if rawQuotes(s.Canonical()) {
			return
		}
		again, err := Parser{Lenient: true}.ParseSchema(schema.Resolved{Text: s.Canonical()})
		if err != nil || again.Canonical() != s.Canonical() {
			t.Fatalf("canonical text is not stable: %v\n%s", err, s.Canonical())
		}
		normal, err := Parser{}.ParseSchema(schema.Resolved{Text: s.Normalized()})
		if err != nil {
			t.Fatalf("normalized text is no schema: %v\n%s", err, s.Normalized())
		}
		if _, err := s.Serialized(); err != nil && !errors.Is(err, ErrNoDescriptor) {
			t.Fatal(err)
		}
		s.WithoutExtensions()
		normal.Tags()
	})
}

// rawQuotes reports whether a text has what the reference prints without
// escaping it, so that it reads as something else: names and paths with
// backslashes, defaults that aren't words.
func rawQuotes(text string) bool {
	return strings.Contains(text, `\`) || strings.Contains(text, "default = ") || strings.Contains(text, "import ")
}
