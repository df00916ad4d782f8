package avro

import (
	"errors"
	"testing"

	"milena/serde/schema"
)

// FuzzParse: whatever the text, parsing ends with a schema or a ParseError, and
// the canonical text of a schema is a schema with that canonical text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`"int"`, `[]`, ` [ "null" , {"type":"string","x":1.50} ] `, `{"type":"R"}`, `/**/{"type":"array","items":"int","p":[1,"\u00e9",null,{"a":-0}]}`,
		`{"type":"record","name":"n.R","aliases":["A","m.B"],"doc":"d","fields":[{"name":"f","type":["null","R"],"default":null},{"name":"g","type":"E","order":"ignore"},{"name":"h","type":{"type":"enum","name":"E","symbols":["A"],"default":"A"}}]}`,
		`{"type":"fixed","name":"F","size":8,"logicalType":"decimal","precision":10,"scale":2}`,
		`{"type":"record","name":"R","fields":[{"name":"a","type":"double","default":"1e3"},{"name":"b","type":{"type":"map","values":"float"},"default":{"z":1e39,"a":3}}]}`,
		`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"record","name":"S","namespace":"","fields":[]}},{"name":"b","type":{"type":"record","name":"S","fields":[]}}]}`,
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, lenient bool) {
		s, err := Parser{Lenient: lenient}.ParseSchema(schema.Resolved{Text: text})
		if err != nil {
			var pe *schema.ParseError
			if !errors.As(err, &pe) {
				t.Fatalf("error %T", err)
			}
			return
		}
		if _, err := s.InlineText(); err != nil {
			t.Errorf("inline: %v", err)
		}
		if !Equal(s, s) {
			t.Error("a schema differs from itself")
		}
		normalized, nerr := s.Normalized(), s.NormalizeError()
		if (normalized == "") != (nerr != nil) {
			t.Errorf("normalized %q, %v", normalized, nerr)
		}
		if mixesNamespaces(s) {
			return
		}
		stable(t, s.Canonical())
		if nerr == nil {
			stable(t, normalized)
		}
	})
}

func stable(t *testing.T, text string) {
	t.Helper()
	again, err := Parser{Lenient: true}.ParseSchema(schema.Resolved{Text: text})
	if err != nil {
		t.Fatalf("canonical text %s: %v", text, err)
	}
	if again.Canonical() != text {
		t.Errorf("canonical text\n  was    %s\n  became %s", text, again.Canonical())
	}
}

// mixesNamespaces reports whether types with and without namespace meet. The
// reference then writes bare names that it reads back as others, or not at
// all, and so do we.
func mixesNamespaces(s *Schema) bool {
	with, without := false, false
	seen := map[*Type]bool{}
	var walk func(*Type)
	walk = func(t *Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		if t.Kind.IsNamed() {
			if t.Name.Namespace == "" {
				without = true
			} else {
				with = true
			}
			for _, a := range t.Aliases {
				// An alias without namespace is read back as one with.
				without = without || a.Namespace == ""
			}
		}
		if t.Items != nil {
			walk(t.Items)
		}
		for _, b := range t.Branches {
			walk(b)
		}
		for i := range t.Fields {
			walk(t.Fields[i].Type)
		}
	}
	walk(s.Root())
	return with && without
}
