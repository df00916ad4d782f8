package jsonschema

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"milena/serde/schema"
)

// textCase is one paragraph of testdata/schemas, see the README there.
type textCase struct {
	where, why string
	refs       []schema.Dependency
	text       string
	want       map[string]string // by mark
}

func readCases(t testing.TB) []textCase {
	t.Helper()
	files, err := filepath.Glob("testdata/schemas/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var cases []textCase
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for para := range strings.SplitSeq(string(b), "\n\n") {
			c := textCase{where: fmt.Sprintf("%s:%d", filepath.Base(file), line), want: map[string]string{}}
			line += strings.Count(para, "\n") + 2
			for l := range strings.SplitSeq(strings.Trim(para, "\n"), "\n") {
				mark, rest, _ := strings.Cut(l, " ")
				switch mark {
				case "#":
					c.why = rest
				case "^":
					name, text, _ := strings.Cut(rest, " ")
					c.refs = append(c.refs, schema.Dependency{Name: name, Text: text})
				case "<":
					c.text = newLines(rest)
				case "=", "~", "!":
					c.want[mark] = rest
				default:
					t.Fatalf("%s: mark %q", c.where, mark)
				}
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// newLines replaces \n outside of strings, where it would be an escape.
func newLines(text string) string {
	parts := strings.Split(text, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], `\n`, "\n")
	}
	return strings.Join(parts, `"`)
}

func TestSchemas(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.where, func(t *testing.T) {
			s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.JSON, Text: c.text, Dependencies: c.refs})
			if want, refused := c.want["!"]; refused {
				var pe *schema.ParseError
				if !errors.As(err, &pe) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s\n  of   %s\n  got  %v\n  want %s", c.why, c.text, err, want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %s: %v", c.why, c.text, err)
			}
			canonical, ok := c.want["="]
			if !ok {
				canonical = c.text
			}
			if s.Canonical() != canonical {
				t.Errorf("%s: canonical\n  got  %s\n  want %s", c.why, s.Canonical(), canonical)
			}
			normalized, ok := c.want["~"]
			if ok && s.Normalized() != normalized {
				t.Errorf("%s: normalized\n  got  %s\n  want %s", c.why, s.Normalized(), normalized)
			}
			again, err := Parser{}.ParseSchema(schema.Resolved{Text: s.Normalized(), Dependencies: c.refs})
			if err != nil || again.Canonical() != s.Normalized() || again.Normalized() != s.Normalized() {
				t.Errorf("%s: normalized text read again: %v", c.why, err)
			}
		})
	}
}

// TestParsed looks at what the seam shows of a schema.
func TestParsed(t *testing.T) {
	deps := []schema.Dependency{{Name: "a.json", Text: `{ }`}}
	p, err := Parser{}.Parse(schema.Resolved{Type: schema.JSON, Text: `{ "title": "T", "properties": {"b": {}, "a": {}}, "additionalProperties": {"$ref": "a.json"} }`, Dependencies: deps})
	if err != nil {
		t.Fatal(err)
	}
	s := p.(*Schema)
	r := p.Resolved()
	if p.Type() != schema.JSON || p.Name() != "T" || r.Text != p.Canonical() || r.Type != schema.JSON || len(r.Dependencies) != 1 || r.Dependencies[0] != deps[0] {
		t.Errorf("%v %q %v", p.Type(), p.Name(), r)
	}
	if s.Draft() != Draft7 || s.Root().Kind != KindObject || strings.Join(s.Properties(), " ") != "b a" || s.Root().Offset() != 0 {
		t.Errorf("%v %v %v", s.Draft(), s.Root().Kind, s.Properties())
	}
	if _, err := (Parser{}).Parse(schema.Resolved{Type: schema.Avro, Text: `{}`}); err == nil {
		t.Error("parsed an Avro schema")
	}
	if b, err := (Parser{}).ParseSchema(schema.Resolved{Text: `true`}); err != nil || b.Name() != "" || b.Properties() != nil {
		t.Errorf("%v", err)
	}
}

func TestLimits(t *testing.T) {
	small := Parser{Limits: schema.Limits{TextBytesMax: 10}}
	for _, r := range []schema.Resolved{
		{Text: `{"title":"x"}`},
		{Text: `{}`, Dependencies: []schema.Dependency{{Name: "a", Text: `{"title":"x"}`}}},
		{Text: `{}`, Dependencies: []schema.Dependency{
			{Name: "1", Text: `{"a":1}   `}, {Name: "2", Text: `{"a":1}   `}, {Name: "3", Text: `{"a":1}   `}, {Name: "4", Text: `{"a":1}   `}, {Name: "5", Text: `{"a":1}   `},
			{Name: "6", Text: `{"a":1}   `}, {Name: "7", Text: `{"a":1}   `}, {Name: "8", Text: `{"a":1}   `}, {Name: "9", Text: `{"a":1}   `},
		}},
	} {
		var pe *schema.ParseError
		if _, err := small.Parse(r); !errors.As(err, &pe) || !strings.Contains(err.Error(), "exceeds") && !strings.Contains(err.Error(), "too long") {
			t.Errorf("%v", err)
		}
	}
}

// TestHostile: texts made to cost much are answered, one way or the other, in
// bounded time and without a deep stack.
func TestHostile(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"not":`, n) + "{}" + strings.Repeat("}", n) }
	var chain, wide strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&chain, `,"d%d":{"$ref":"#/definitions/d%d"}`, i, i+1)
		fmt.Fprintf(&wide, `,"p%d":{"$ref":"#/definitions/x"}`, i)
	}
	const modern = `{"$schema":"https://json-schema.org/draft/2020-12/schema",`
	long := `"$id":"http://x/` + strings.Repeat("a/", 250_000) + `"`
	var anchors, ids, anchored, pointers strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&anchors, `,"d%d":{"$anchor":"a%d"}`, i, i)
		fmt.Fprintf(&ids, `,"d%d":{"$id":"i%d"}`, i, i)
		fmt.Fprintf(&anchored, `,"d%d":{"$ref":"#a"}`, i)
		fmt.Fprintf(&pointers, `,"d%d":{"$ref":"#/definitions/y"}`, i)
	}
	for _, c := range []struct {
		why, text string
		accepted  bool
	}{
		{"999 levels", nested(999), true},
		{"100,000 levels", nested(100_000), false},
		{"a million brackets", strings.Repeat("[", 1_000_000), false},
		{"too many values", `{"enum":[` + strings.Repeat("1,", 600_000) + `1]}`, false},
		{"a long chain of references", `{"$ref":"#/definitions/d0","definitions":{"d20000":{}` + chain.String() + `}}`, true},
		{"many references to one schema", `{"definitions":{"x":{"type":"object"}},"properties":{"p":{}` + wide.String() + `}}`, true},
		{"many types", `{"type":["object"` + strings.Repeat(`,"object"`, 20_000) + `],"properties":{"a":{"type":"string"}}}`, true},
		{"a long number", `{"const":` + strings.Repeat("1", 1001) + `}`, false},
		{"deep groups", `{"pattern":"` + strings.Repeat("(", 100_000) + `"}`, false},
		{"deep classes", `{"pattern":"` + strings.Repeat("[", 100_000) + `"}`, false},
		{"a long pattern", `{"pattern":"` + strings.Repeat("(a|b)*", 100_000) + `"}`, true},
		{"long keys nested deeply", strings.Repeat(`{"properties":{"`+strings.Repeat("k", 200)+`":`, 400) + "1" + strings.Repeat("}}", 400), false},
		{"many anchors under a long address", modern + long + `,"$ref":"#a1","$defs":{"x":{}` + anchors.String() + `}}`, false},
		{"many identifiers under a long address", modern + long + `,"$ref":"#","$defs":{"x":{}` + ids.String() + `}}`, false},
		{"many references to anchors under a long address", modern + long + `,"$defs":{"x":{"$anchor":"a"}` + anchored.String() + `}}`, false},
		{"many references under a long address", `{` + long + `,"definitions":{"y":{}` + pointers.String() + `}}`, true},
		{"long identifiers nested deeply", modern + `"$ref":"#","not":` + strings.Repeat(`{"$id":"`+strings.Repeat("b", 1000)+`/","not":`, 900) + "{}" + strings.Repeat("}", 900) + `}`, false},
		{"bad UTF-8", "{\"a\":\"\xff\"}", false},
	} {
		start := time.Now()
		_, err := Parser{}.Parse(schema.Resolved{Text: c.text})
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s took %v", c.why, d)
		}
		var pe *schema.ParseError
		if (err == nil) != c.accepted || err != nil && (!errors.As(err, &pe) || len(err.Error()) > 2000) {
			t.Errorf("%s: %.300v", c.why, err)
		}
	}
}

// TestTargets: a chain of references ends where it leads, or at a reference if
// it leads back.
func TestTargets(t *testing.T) {
	for text, want := range map[string]Kind{
		`{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/c"},"c":{"type":"string"}}}`: KindString,
		`{"$ref":"#"}`: KindReference,
		`{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/c"},"c":{"$ref":"#/definitions/b"}}}`: KindReference,
		`{"type":"null"}`: KindNull,
	} {
		s, err := Parser{}.ParseSchema(schema.Resolved{Text: text})
		if err != nil || s.Root().Target().Kind != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDrafts: every spelling of a draft's name is known, and what names none is
// draft 7.
func TestDrafts(t *testing.T) {
	for name, want := range map[string]Draft{
		"http://json-schema.org/draft-04/schema#": Draft4, "https://json-schema.org/draft-04/schema": Draft4,
		"http://json-schema.org/schema#": Draft4, "http://json-schema.org/draft-06/schema": Draft6,
		"http://json-schema.org/draft-07/schema": Draft7, "http://json-schema.org/draft-07/schema#": Draft7, "https://json-schema.org/draft-07/schema#": Draft7,
		"https://json-schema.org/draft/2019-09/schema": Draft2019, "http://json-schema.org/draft/2019-09/schema#": Draft2019,
		"https://json-schema.org/draft/2020-12/schema#": Draft2020, "http://json-schema.org/draft/2020-12/schema": Draft2020,
		"https://corp.test/my-dialect": Draft7, "": Draft7, "#": Draft7, "HTTP://JSON-SCHEMA.ORG/draft-04/schema": Draft7,
		"https://json-schema.org/draft/2020-12/schema/": Draft7, "http://json-schema.org/draft-03/schema": Draft7,
	} {
		s, err := Parser{}.ParseSchema(schema.Resolved{Text: `{"$schema":"` + name + `"}`})
		if err != nil || s.Draft() != want {
			t.Errorf("%q: %v %v, want %v", name, s.Draft(), err, want)
		}
	}
	if s, err := (Parser{}).ParseSchema(schema.Resolved{Text: `{"properties":{"x":{"$schema":"http://json-schema.org/draft-04/schema#"}}}`}); err != nil || s.Draft() != Draft7 {
		t.Errorf("%v", err)
	}
	for d := Draft4; d <= Draft2020; d++ {
		if draftOf("http://json-schema.org/"+strings.ReplaceAll(strings.ReplaceAll("draft/"+d.String(), "draft/draft", "draft"), "//", "/")+"/schema") != d {
			t.Errorf("%v is not its own name", d)
		}
	}
}
