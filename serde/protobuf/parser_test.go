package protobuf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"milena/serde/schema"
)

func parse(t testing.TB, text string, deps ...schema.Dependency) *Schema {
	t.Helper()
	s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.Protobuf, Text: text, Dependencies: deps})
	if err != nil {
		t.Fatalf("%.300s: %v", text, err)
	}
	return s
}

// caseFile reads a case file: a comment line, then parts that begin with their
// names.
func caseFile(t testing.TB, file string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	name := ""
	for line := range strings.Lines(string(raw)) {
		if s, ok := strings.CutPrefix(line, "-- "); ok {
			name = strings.TrimSuffix(s, " --\n")
			continue
		}
		out[name] += line
	}
	return out
}

// TestCanonicalCases runs testdata/canonical: schema, and what must become of
// it.
func TestCanonicalCases(t *testing.T) {
	files, err := filepath.Glob("testdata/canonical/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := caseFile(t, file)
			s := parse(t, c["schema"])
			check := func(what, got, want string) {
				if got != want {
					t.Errorf("%s\n--- got\n%s\n--- want\n%s", what, got, want)
				}
			}
			check("stored", s.Canonical(), c["stored"])
			check("normalized", s.Normalized(), c["normalized"])
			if want, ok := c["ignore_extensions"]; ok {
				check("ignore_extensions", s.WithoutExtensions(), want)
			}
			again := parse(t, s.Normalized())
			check("normalized again", settled(again.Normalized()), settled(s.Normalized()))
			check("normal form", s.Normal().Canonical(), s.Normalized())
			check("stored again", parse(t, s.Canonical()).Canonical(), s.Canonical())
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
		message      string
	}{
		{"syntax = \"proto3\";\nmessage M { string a = 1 }", 2, 27, "expected ';' but was '}'"},
		{"edition = \"2023\"; message M {}", 1, 8, "edition is not currently supported"},
		{"message M {", 1, 12, "unexpected end of file"},
		{"message M {}\n//", 2, 3, "unexpected end of file in a comment"},
		{"message M {} /* ", 1, 17, "unterminated comment"},
		{"message M {} / x", 1, 15, "unexpected '/'"},
		{"message M { optional int32 a = 08x; }", 1, 35, "expected an integer but was 08x"},
		{"syntax = \"proto3\"; message M { int32 a = 1 [default = 'x\\x']; }", 1, 59, "expected a digit after"},
		{"syntax = \"proto3\"; message M { int32 a = 1 [default = 'x", 1, 57, "unterminated string"},
		{"syntax = \"proto3\"; import 'a\\", 1, 30, "unexpected end of file"},
		{"syntax = \"proto3\"; message M { int32 a = 1; } message M {}", 1, 47, "M (:1:47) is already defined at :1:20"},
		{"syntax = \"proto3\"; message M { N a = 1; }", 1, 32, "Could not resolve type: N"},
		{"syntax = \"proto3\"; message M { map<bytes, int32> a = 1; }", 1, 32, "map key must be"},
		{"syntax = \"proto3\"; message M { reserved 1 or 2; }", 1, 45, "expected ',', ';' or 'to'"},
		{"syntax = \"proto3\"; message M { extensions 1 2; }", 1, 46, "expected ',', ';' or 'to'"},
		{"message M { optional group G = 1 { optional group H = 2 {} } }", 1, 36, "was a group"},
		{"syntax = \"proto3\"; service S { rpc R (M) return (M); } message M {}", 1, 48, "expected 'returns'"},
		{"syntax = \"proto3\"; option (x = 1;", 1, 30, "expected ')'"},
		{"syntax = \"proto3\"; option x = [1 2];", 1, 34, "expected ',' or ']'"},
		{"message \xff {}", 0, 0, "not UTF-8"},
		{"// nothing but this", 0, 0, "Empty schema"},
		{"AAAA", 1, 1, "unexpected label: AAAA"},
		{"CgF4", 0, 0, "Empty schema"},
	} {
		_, err := Parser{}.ParseSchema(schema.Resolved{Text: c.text})
		var parse *schema.ParseError
		if !errors.As(err, &parse) || parse.Line != c.line || parse.Column != c.column || !strings.Contains(parse.Message, c.message) {
			t.Errorf("%q\n  got  %v\n  want %d:%d %s", c.text, err, c.line, c.column, c.message)
		}
	}
	if _, err := (Parser{}).Parse(schema.Resolved{Type: schema.Avro, Text: "message M {}"}); err == nil || IsSyntax(err) {
		t.Errorf("another format: %v", err)
	}
}

func TestLenientAndReferences(t *testing.T) {
	const text = "syntax = \"proto3\";\n\nimport \"t.proto\";\n\nmessage M {\n  t.T a = 1;\n}\n"
	dep := schema.Dependency{Name: "t.proto", Text: "package t; message T {}"}
	s := parse(t, text, dep)
	if got := s.Normalized(); !strings.Contains(got, ".t.T a = 1;") || s.Canonical() != text {
		t.Errorf("%s", got)
	}
	if r := s.Resolved(); len(r.Dependencies) != 1 || r.Dependencies[0] != dep || r.Text != text || s.Name() != "M" || s.Type() != schema.Protobuf {
		t.Errorf("%+v %s", r, s.Name())
	}
	if d, ok := s.Resolve("M", "t.T"); !ok || d.Name != "t.T" || d.Message == nil || d.LocalName() != "T" {
		t.Errorf("%+v %v", d, ok)
	}
	if _, ok := s.Resolve("M", "int32"); ok {
		t.Error("a scalar resolved")
	}
	// A stored schema may lack what it refers to.
	loose, err := Parser{Lenient: true}.ParseSchema(schema.Resolved{Text: text})
	if err != nil || loose.Normalized() != "" || loose.NormalizeError() == nil || loose.Normal() != nil {
		t.Fatalf("%v", err)
	}
	if !Equal(s, loose) || Equal(s, parse(t, "message M {}")) {
		t.Error("equal is not by canonical text")
	}
	if _, err := loose.Serialized(); !errors.Is(err, ErrNoDescriptor) {
		t.Errorf("serialized: %v", err)
	}
	_, err = Parser{}.ParseSchema(schema.Resolved{Text: text, Dependencies: []schema.Dependency{{Name: "t.proto", Text: "nope"}}})
	var wrong *schema.ParseError
	if !errors.As(err, &wrong) || wrong.Path != "reference t.proto" {
		t.Errorf("%v", err)
	}
	// A reference that is named like a built-in file replaces it.
	mine := schema.Dependency{Name: "google/protobuf/any.proto", Text: "package mine; message X {}"}
	if _, err := (Parser{}).ParseSchema(schema.Resolved{Text: "syntax = \"proto3\"; message M { google.protobuf.Any a = 1; }", Dependencies: []schema.Dependency{mine}}); err == nil {
		t.Error("a replaced file's type resolved")
	}
}

func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"package p; message M {}": "p.M", "enum E {}": "E", "package p;": "", "package p; enum E {} message M {}": "p.M",
	} {
		if got := parse(t, text).Name(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
