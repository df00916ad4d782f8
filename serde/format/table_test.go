package format

import (
	"errors"
	"testing"

	"milena/serde/record"
	"milena/serde/schema"
)

// TestEveryFormat: each row parses and compiles its smallest schema, or says that
// it has no programs, and refuses a text that isn't one with a place.
func TestEveryFormat(t *testing.T) {
	smallest := map[schema.Type]struct {
		text, canonical string
		payload         []byte
	}{
		schema.Avro:     {` "long"`, `"long"`, []byte{2}},
		schema.JSON:     {` {"type" : "integer"}`, `{"type":"integer"}`, nil},
		schema.Protobuf: {"message M{ } ", "\nmessage M {}\n", nil},
	}
	if len(Types()) != len(smallest) {
		t.Errorf("formats %v", Types())
	}
	for _, f := range Types() {
		c := smallest[f]
		s := schema.Resolved{Type: f, Text: c.text}
		parsed, err := Parse(s)
		if err != nil || parsed.Type() != f || parsed.Canonical() != c.canonical {
			t.Fatalf("%v: parsed %v, %v", f, parsed, err)
		}
		p, err := Compile(s)
		if c.payload == nil {
			if !errors.Is(err, ErrNoProgram) {
				t.Errorf("%v: compiled %v, %v, want no program", f, p, err)
			}
			refuses(t, f)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		packed, style, err := p.Decode(nil, c.payload)
		if err != nil || style == record.StyleOriginal {
			t.Fatalf("%v: style %v, %v", f, style, err)
		}
		if back, err := p.Encode(nil, packed, style); err != nil || string(back) != string(c.payload) {
			t.Errorf("%v: %x, %v", f, back, err)
		}
		if p.RecordType() == nil {
			t.Errorf("%v: no record type", f)
		}
		refuses(t, f)
	}
}

// refuses checks that half a text is a parse error of the format.
func refuses(t *testing.T, f schema.Type) {
	t.Helper()
	for _, run := range []func() error{
		func() error { _, err := Parse(schema.Resolved{Type: f, Text: "{"}); return err },
		func() error { _, err := Compile(schema.Resolved{Type: f, Text: "{"}); return err },
	} {
		var wrong *schema.ParseError
		if err := run(); !errors.As(err, &wrong) {
			t.Errorf("%v: %v, want a parse error", f, err)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	for _, f := range []schema.Type{"", "XML", "avro"} {
		if _, err := Parse(schema.Resolved{Type: f}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("parse %q: %v", f, err)
		}
		if _, err := Compile(schema.Resolved{Type: f}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("compile %q: %v", f, err)
		}
	}
	if _, err := compileAvro(nil); !errors.Is(err, ErrUnsupported) {
		t.Errorf("compile of another format's schema: %v", err)
	}
}
