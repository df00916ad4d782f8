package avro

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"milena/serde/schema"
)

// schemaCase is one paragraph of testdata/schemas, see the README there.
type schemaCase struct {
	where, why string
	refs       []schema.Dependency
	text       string
	lenient    bool
	want       map[string]string // by line mark
}

func readCases(t *testing.T) []schemaCase {
	t.Helper()
	files, err := filepath.Glob("testdata/schemas/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var cases []schemaCase
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for para := range strings.SplitSeq(string(b), "\n\n") {
			c := schemaCase{where: fmt.Sprintf("%s:%d", filepath.Base(file), line), want: map[string]string{}}
			for l := range strings.SplitSeq(strings.Trim(para, "\n"), "\n") {
				mark, rest, _ := strings.Cut(l, " ")
				switch mark {
				case "#":
					c.why = rest
				case "^":
					c.refs = append(c.refs, schema.Dependency{Name: fmt.Sprintf("ref%d", len(c.refs)), Text: rest})
				case "<", "<<":
					c.text, c.lenient = newLines(rest), mark == "<<"
				case "=", "~", "~!", "@", "!":
					c.want[mark] = rest
				default:
					t.Fatalf("%s: mark %q", c.where, mark)
				}
			}
			line += strings.Count(para, "\n") + 2
			cases = append(cases, c)
		}
	}
	return cases
}

// newLines replaces \n outside of strings, where it would be an escape.
func newLines(text string) string {
	var b strings.Builder
	in := false
	for i := 0; i < len(text); i++ {
		switch {
		case !in && strings.HasPrefix(text[i:], `\n`):
			b.WriteByte('\n')
			i++
			continue
		case in && text[i] == '\\' && i+1 < len(text):
			b.WriteByte(text[i])
			i++
		case text[i] == '"':
			in = !in
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func TestSchemas(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.where, func(t *testing.T) {
			p := Parser{Lenient: c.lenient}
			s, err := p.ParseSchema(schema.Resolved{Type: schema.Avro, Text: c.text, Dependencies: c.refs})
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
			canonical := want(c, "=", c.text)
			check(t, c, "canonical", s.Canonical(), canonical)
			inline, err := s.InlineText()
			if err != nil {
				t.Errorf("inline: %v", err)
			}
			check(t, c, "inline", inline, want(c, "@", canonical))
			if why, ok := c.want["~!"]; ok {
				if err := s.NormalizeError(); err == nil || !strings.Contains(err.Error(), why) || s.Normalized() != "" {
					t.Errorf("%s: normalized %q, %v, want %s", c.why, s.Normalized(), err, why)
				}
				return
			}
			check(t, c, "normalized", s.Normalized(), want(c, "~", canonical))
			if err := s.NormalizeError(); err != nil {
				t.Errorf("normalize: %v", err)
			}
		})
	}
}

func want(c schemaCase, mark, otherwise string) string {
	if w, ok := c.want[mark]; ok {
		return w
	}
	return otherwise
}

func check(t *testing.T, c schemaCase, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s\n  got  %s\n  want %s", c.why, what, got, want)
	}
}

func mustParse(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Parser{}.ParseSchema(schema.Resolved{Text: text})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// TestRecursiveTypesAreCycles checks what programs rely on: one pointer a named
// type, wherever it is referred to.
func TestRecursiveTypesAreCycles(t *testing.T) {
	s := mustParse(t, `{"type":"record","name":"n.R","fields":[
		{"name":"next","type":["null","R"]},
		{"name":"all","type":{"type":"array","items":"n.R"}},
		{"name":"e","type":"E"},
		{"name":"f","type":{"type":"enum","name":"E","symbols":["A"],"default":"A"}}]}`)
	r := s.Root()
	if r.Kind != KindRecord || r.Name != (Name{"n", "R"}) || s.Name() != "n.R" || r.FullName() != "n.R" {
		t.Errorf("root %v %v %s", r.Kind, r.Name, s.Name())
	}
	if r.Fields[0].Type.Branches[1] != r || r.Fields[1].Type.Items != r {
		t.Error("references to the record are not the record")
	}
	e := r.Fields[2].Type
	if e != r.Fields[3].Type || e.Kind != KindEnum || *e.EnumDefault != "A" {
		t.Errorf("forward reference %+v", e)
	}
	if got := r.Fields[0].Type.FullName(); got != "union" {
		t.Errorf("full name of a union: %s", got)
	}
}

func TestLogicalTypes(t *testing.T) {
	for _, c := range []struct {
		text             string
		want             Logical
		precision, scale int
	}{
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}`, LogicalDecimal, 4, 2},
		{`{"type":"bytes","logicalType":"decimal","precision":4}`, LogicalDecimal, 4, 0},
		{`{"type":"bytes","logicalType":"decimal","precision":0}`, LogicalNone, 0, 0},
		{`{"type":"bytes","logicalType":"decimal"}`, LogicalNone, 0, 0},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":5}`, LogicalNone, 0, 0},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":-1}`, LogicalNone, 0, 0},
		{`{"type":"bytes","logicalType":"decimal","precision":4,"scale":null}`, LogicalNone, 0, 0},
		{`{"type":"bytes","logicalType":"decimal","precision":"4"}`, LogicalNone, 0, 0},
		{`{"type":"bytes","logicalType":"decimal","precision":4.0}`, LogicalNone, 0, 0},
		{`{"type":"fixed","name":"F","size":16,"logicalType":"decimal","precision":38}`, LogicalDecimal, 38, 0},
		{`{"type":"fixed","name":"F","size":16,"logicalType":"decimal","precision":39}`, LogicalNone, 0, 0},
		{`{"type":"fixed","name":"F","size":0,"logicalType":"decimal","precision":1}`, LogicalNone, 0, 0},
		{`{"type":"bytes","logicalType":"big-decimal"}`, LogicalBigDecimal, 0, 0},
		{`{"type":"string","logicalType":"uuid"}`, LogicalUUID, 0, 0},
		{`{"type":"fixed","name":"F","size":16,"logicalType":"uuid"}`, LogicalUUID, 0, 0},
		{`{"type":"fixed","name":"F","size":15,"logicalType":"uuid"}`, LogicalNone, 0, 0},
		{`{"type":"int","logicalType":"date"}`, LogicalDate, 0, 0},
		{`{"type":"int","logicalType":"time-millis"}`, LogicalTimeMillis, 0, 0},
		{`{"type":"long","logicalType":"time-micros"}`, LogicalTimeMicros, 0, 0},
		{`{"type":"long","logicalType":"timestamp-millis"}`, LogicalTimestampMillis, 0, 0},
		{`{"type":"long","logicalType":"timestamp-micros"}`, LogicalTimestampMicros, 0, 0},
		{`{"type":"long","logicalType":"timestamp-nanos"}`, LogicalTimestampNanos, 0, 0},
		{`{"type":"long","logicalType":"local-timestamp-millis"}`, LogicalLocalTimestampMillis, 0, 0},
		{`{"type":"long","logicalType":"local-timestamp-micros"}`, LogicalLocalTimestampMicros, 0, 0},
		{`{"type":"long","logicalType":"local-timestamp-nanos"}`, LogicalLocalTimestampNanos, 0, 0},
		{`{"type":"fixed","name":"F","size":12,"logicalType":"duration"}`, LogicalDuration, 0, 0},
		{`{"type":"fixed","name":"F","size":11,"logicalType":"duration"}`, LogicalNone, 0, 0},
		{`{"type":"int","logicalType":"timestamp-millis"}`, LogicalNone, 0, 0},
		{`{"type":"long","logicalType":"Date"}`, LogicalNone, 0, 0},
		{`{"type":"long","logicalType":7}`, LogicalNone, 0, 0},
		{`{"type":"enum","name":"E","symbols":["A"],"logicalType":"date"}`, LogicalNone, 0, 0},
	} {
		r := mustParse(t, c.text).Root()
		if r.Logical != c.want || r.Precision != c.precision || r.Scale != c.scale {
			t.Errorf("%s: %d (%d,%d), want %d (%d,%d)", c.text, r.Logical, r.Precision, r.Scale, c.want, c.precision, c.scale)
		}
	}
}

func TestEqual(t *testing.T) {
	base := `{"type":"record","name":"R","doc":"d","aliases":["A","B"],"fields":[{"name":"f","type":["null","R"],"default":null,"p":{"a":1,"b":2}},{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"],"default":"A"}}]}`
	for _, c := range []struct {
		old, new string
		want     bool
	}{
		{`"doc":"d"`, `"doc":"d"`, true},
		{`["A","B"],"f`, `["B","A"],"f`, true},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`"type":"record"`, `"type":"error"`, true},
		{`{"a":1,"b":2}`, `{"a":1.0,"b":2}`, false},
		{`{"a":1,"b":2}`, `{"a":1,"c":2}`, false},
		{`,"p":{"a":1,"b":2}`, ``, false},
		{`"doc":"d",`, ``, false},
		{`"doc":"d"`, `"doc":"e"`, false},
		{`["A","B"],"f`, `["A","C"],"f`, false},
		{`["A","B"],"f`, `["A"],"f`, false},
		{`,"default":null`, ``, false},
		{`"default":"A"`, `"default":"B"`, false},
		{`,"default":"A"`, ``, false},
		{`["null","R"]`, `["null","int"]`, false},
		{`"symbols":["A","B"]`, `"symbols":["B","A"]`, false},
		{`"name":"f"`, `"name":"g"`, false},
		{`"name":"e"`, `"name":"e","order":"ignore"`, false},
		{`,{"name":"e"`, `,{"name":"x","type":"int"},{"name":"e"`, false},
		{`"name":"R"`, `"name":"R","namespace":"n"`, false},
	} {
		a, b := mustParse(t, base), mustParse(t, strings.Replace(base, c.old, c.new, 1))
		if Equal(a, b) != c.want || Equal(b, a) != c.want {
			t.Errorf("%s for %s: want %v", c.new, c.old, c.want)
		}
	}
}

func TestParsed(t *testing.T) {
	deps := []schema.Dependency{{Name: "any", Text: `{"type":"record","name":"x.S","fields":[]}`}}
	p, err := Parser{}.Parse(schema.Resolved{Type: schema.Avro, Text: ` ["null", "x.S"] `, Dependencies: deps})
	if err != nil {
		t.Fatal(err)
	}
	if p.Type() != schema.Avro || p.Name() != "" || p.Canonical() != `["null","x.S"]` {
		t.Errorf("%s %q %s", p.Type(), p.Name(), p.Canonical())
	}
	r := p.Resolved()
	if r.Text != p.Canonical() || r.Type != schema.Avro || len(r.Dependencies) != 1 || r.Dependencies[0] != deps[0] {
		t.Errorf("%+v", r)
	}
	if _, err := (Parser{}).Parse(schema.Resolved{Type: schema.JSON, Text: "{}"}); err == nil {
		t.Error("parsed a JSON schema")
	}
}

func TestWords(t *testing.T) {
	for k := KindNull; k <= KindUnion; k++ {
		primitive, ok := primitiveKind(k.String())
		if ok != k.IsPrimitive() || ok && primitive != k || k.IsNamed() && ok {
			t.Errorf("%s: primitive %v, named %v", k, ok, k.IsNamed())
		}
	}
	if Kind(0).String() != "unknown" || Kind(99).String() != "unknown" {
		t.Error("names of no kind")
	}
	for o, want := range map[Order]string{OrderAscending: "ascending", OrderDescending: "descending", OrderIgnore: "ignore"} {
		if o.String() != want {
			t.Errorf("%s, want %s", o, want)
		}
	}
	d := mustParse(t, `{"type":"record","name":"R","fields":[{"name":"f","type":"double","default":1e2}]}`).Root().Fields[0].Default
	if d.JSON() != "100.0" {
		t.Errorf("default %s", d.JSON())
	}
	if s := clip(strings.Repeat("é", 2000)); len(s) > 2100 || !strings.HasSuffix(s, "é…") {
		t.Errorf("clipped to %d bytes", len(s))
	}
}

// TestBounds feeds what would overflow a stack or take quadratic time. Each
// must end at once with a ParseError that says what is too large.
func TestBounds(t *testing.T) {
	deepRecords := func(n int) string {
		var b strings.Builder
		b.WriteByte('[')
		for i := range n {
			fmt.Fprintf(&b, `{"type":"record","name":"R%d","fields":[{"name":"f","type":"R%d"}]},`, i, i+1)
		}
		fmt.Fprintf(&b, `{"type":"record","name":"R%d","fields":[]}]`, n)
		return b.String()
	}
	var wide strings.Builder // unions of records make checking a default exponential
	wide.WriteByte('[')
	for level := range 40 {
		for i := range 8 {
			branches := make([]string, 8)
			for j := range branches {
				branches[j] = fmt.Sprintf(`"R%d_%d"`, level+1, j)
			}
			fmt.Fprintf(&wide, `{"type":"record","name":"R%d_%d","fields":[{"name":"f","type":[%s]}]},`, level, i, strings.Join(branches, ","))
		}
	}
	for i := range 8 {
		fmt.Fprintf(&wide, `{"type":"record","name":"R40_%d","fields":[{"name":"g","type":"int"}]},`, i)
	}
	wide.WriteString(`{"type":"record","name":"D","fields":[{"name":"d","type":"R0_0","default":` + strings.Repeat(`{"f":`, 41) + `1` + strings.Repeat(`}`, 41) + `}]}]`)

	for _, c := range []struct {
		name, text, want string
		limits           schema.Limits
	}{
		{"levels", strings.Repeat(`{"type":"array","items":`, 100_000) + `"int"` + strings.Repeat(`}`, 100_000), "nesting depth", schema.Limits{}},
		{"open brackets", strings.Repeat(`[`, 1_000_000), "nesting depth", schema.Limits{}},
		{"type depth", strings.Repeat(`{"type":"array","items":`, 600) + `"int"` + strings.Repeat(`}`, 600), "Types nest deeper", schema.Limits{}},
		{"depth by forward references", deepRecords(10_000), "Types nest deeper", schema.Limits{}},
		{"bytes", `"` + strings.Repeat("x", 5<<20) + `"`, "exceeds the maximum allowed", schema.Limits{}},
		{"values", `{"type":"int","p":[` + strings.Repeat(`0,`, 600_000) + `0]}`, "JSON values", schema.Limits{}},
		{"number", `{"type":"int","p":` + strings.Repeat(`1`, 100_000) + `}`, "Number value length", schema.Limits{}},
		{"name", `{"type":"fixed","size":1,"name":"` + strings.Repeat(`a`, 100_000) + `"}`, "Name of more than", schema.Limits{}},
		{"names", `[` + strings.Repeat(`{"type":"fixed","name":"F","size":1},`, 1) + `{"type":"fixed","name":"G","size":1}]`, "named types", schema.Limits{NamesMax: 1}},
		{"default", wide.String(), "Defaults take too many steps", schema.Limits{}},
		{"comment", strings.Repeat(`/`, 3<<20), "Unexpected end-of-input", schema.Limits{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			_, err := Parser{Limits: c.limits}.Parse(schema.Resolved{Text: c.text})
			var pe *schema.ParseError
			if !errors.As(err, &pe) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.200v, want %s", err, c.want)
			}
			if err != nil && len(err.Error()) > 10_000 {
				t.Errorf("message of %d bytes", len(err.Error()))
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
	ref := schema.Dependency{Name: "r", Text: strings.Repeat(" ", 50) + `"int"`}
	_, err := Parser{Limits: schema.Limits{TextBytesMax: 64}}.Parse(schema.Resolved{Text: `"int"`, Dependencies: slices.Repeat([]schema.Dependency{ref}, 10)})
	if err == nil || !strings.Contains(err.Error(), "too long together") {
		t.Errorf("references: %v", err)
	}
}

// TestLargeSchemas parses what is large and legal.
func TestLargeSchemas(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"record","name":"R","namespace":"com.example","fields":[`)
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"name":"f%d","type":["null",{"type":"record","name":"S%d","fields":[{"name":"x","type":"R%d"},{"name":"y","type":"double","default":1}]}],"default":null},`, i, i, 0)
	}
	b.WriteString(`{"name":"last","type":{"type":"fixed","name":"R0","size":1}}]}`)
	s := mustParse(t, b.String())
	if len(s.Root().Fields) != 20_001 || s.NormalizeError() != nil {
		t.Errorf("%d fields, %v", len(s.Root().Fields), s.NormalizeError())
	}
	// Full names everywhere would make the normalized text far larger than the
	// schema; that is refused, the schema isn't.
	long := strings.Repeat("n", 10_000)
	s = mustParse(t, `{"type":"record","name":"R","namespace":"`+long+`","fields":[{"name":"f","type":{"type":"fixed","name":"F","size":1}}`+
		func() string {
			var b strings.Builder
			for i := range 2_000 {
				fmt.Fprintf(&b, `,{"name":"f%d","type":"F"}`, i)
			}
			return b.String()
		}()+`]}`)
	if err := s.NormalizeError(); err == nil || !strings.Contains(err.Error(), "full names") {
		t.Errorf("normalized text of %d bytes, %v", len(s.Normalized()), err)
	}
}
