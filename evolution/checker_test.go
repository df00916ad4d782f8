package evolution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"milena/evolution/diff"
	"milena/serde/avro"
	"milena/serde/schema"
)

func parse(t testing.TB, text string) schema.Parsed {
	t.Helper()
	s, err := avro.Parser{}.Parse(schema.Resolved{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newChecker(t testing.TB, o Options) *Checker {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func record(fields string) string { return `{"type":"record","name":"R","fields":[` + fields + `]}` }

const (
	fieldA     = `{"name":"a","type":"int"}`
	fieldB     = `{"name":"b","type":"int"}`
	fieldBDef  = `{"name":"b","type":"int","default":0}`
	fieldALong = `{"name":"a","type":"long"}`
)

// TestLevels asks every level about a history; the numbers are the failing
// versions (from 1), 0 where the new schema may follow.
func TestLevels(t *testing.T) {
	checker := newChecker(t, Options{})
	for _, c := range []struct {
		why  string
		old  []string
		next string
		want map[Level]int
	}{
		{"no history", nil, record(fieldA), map[Level]int{}},
		{"a field added without default", []string{record(fieldA)}, record(fieldA + "," + fieldB),
			map[Level]int{Backward: 1, BackwardTransitive: 1, Full: 1, FullTransitive: 1}},
		{"a field removed", []string{record(fieldA + "," + fieldB)}, record(fieldA),
			map[Level]int{Forward: 1, ForwardTransitive: 1, Full: 1, FullTransitive: 1}},
		{"a field added with default", []string{record(fieldA)}, record(fieldA + "," + fieldBDef), map[Level]int{}},
		{"a default given up after two versions", []string{record(fieldA), record(fieldA + "," + fieldBDef)}, record(fieldA + "," + fieldB),
			map[Level]int{BackwardTransitive: 1, FullTransitive: 1}},
		{"the newest failing version is told", []string{record(fieldB), record(fieldA), record(fieldALong)}, record(fieldA),
			map[Level]int{Backward: 3, BackwardTransitive: 3, ForwardTransitive: 1, Full: 3, FullTransitive: 3}},
	} {
		var old []schema.Parsed
		for _, text := range c.old {
			old = append(old, parse(t, text))
		}
		for l := None; l <= FullTransitive; l++ {
			res, err := checker.Check(t.Context(), l, parse(t, c.next), old)
			if err != nil {
				t.Fatal(err)
			}
			failed := 0
			if !res.Compatible {
				failed = res.Old + 1
			}
			if failed != c.want[l] || res.Level != l || res.Compatible != (len(res.Findings) == 0) {
				t.Errorf("%s, %s: version %d failed, want %d: %+v", c.why, l, failed, c.want[l], res)
			}
		}
	}
}

func TestParseLevel(t *testing.T) {
	for l := None; l <= FullTransitive; l++ {
		for _, name := range []string{l.String(), strings.ToLower(l.String())} {
			if got, ok := ParseLevel(name); !ok || got != l {
				t.Errorf("%s: %v %v", name, got, ok)
			}
		}
		if l.Transitive() != strings.HasSuffix(l.String(), "_TRANSITIVE") {
			t.Errorf("%s transitive: %v", l, l.Transitive())
		}
	}
	if _, ok := ParseLevel("BACKWARDS"); ok {
		t.Error("parsed BACKWARDS")
	}
	if Level(0).String() != "BACKWARD" || Level(99).String() != "BACKWARD" {
		t.Error("the default level is not BACKWARD")
	}
}

func TestMessages(t *testing.T) {
	checker := newChecker(t, Options{})
	enum := func(s string) string { return `{"type":"enum","name":"E","symbols":[` + s + `]}` }
	missing := func(reader, writer string) string {
		return fmt.Sprintf("{errorType:'MISSING_ENUM_SYMBOLS', description:'The %s schema is missing enum symbols '[B]' at path '/symbols' in the %s schema', additionalInfo:'[B]'}", reader, writer)
	}
	for _, c := range []struct {
		level     Level
		old, next string
		version   int
		want      []string
	}{
		{Backward, enum(`"A","B"`), enum(`"A"`), 7, []string{missing("new", "old"), "{oldSchemaVersion: 7}",
			`{oldSchema: '{"type":"enum","name":"E","symbols":["A","B"]}'}`, "{validateFields: 'false', compatibility: 'BACKWARD'}"}},
		{Forward, enum(`"A"`), enum(`"A","B"`), 0, []string{missing("old", "new"),
			`{oldSchema: '{"type":"enum","name":"E","symbols":["A"]}'}`, "{validateFields: 'false', compatibility: 'FORWARD'}"}},
		// Of a full check the version is named only after the backward list.
		{Full, enum(`"A"`), enum(`"A","B"`), 1, []string{missing("old", "new"), "{validateFields: 'false', compatibility: 'FULL'}"}},
		{FullTransitive, `"int"`, `"string"`, 1, []string{
			"{errorType:'TYPE_MISMATCH', description:'The type (path '/') of a field in the old schema does not match with the new schema', additionalInfo:'reader type: INT not compatible with writer type: STRING'}",
			"{errorType:'TYPE_MISMATCH', description:'The type (path '/') of a field in the new schema does not match with the old schema', additionalInfo:'reader type: STRING not compatible with writer type: INT'}",
			"{oldSchemaVersion: 1}", `{oldSchema: '"int"'}`, "{validateFields: 'false', compatibility: 'FULL_TRANSITIVE'}"}},
		{Backward, record(fieldA + "," + fieldB), record(`{"name":"c","type":"int","aliases":["a","b"]}`), 1, []string{
			"Unexpected exception during compatibility check: Reader record field c matches multiple fields in writer record schema R",
			"{oldSchemaVersion: 1}", "{oldSchema: '" + record(fieldA+","+fieldB) + "'}", "{validateFields: 'false', compatibility: 'BACKWARD'}"}},
		{Backward, `"int"`, `"int"`, 1, nil},
	} {
		res, err := checker.Check(t.Context(), c.level, parse(t, c.next), []schema.Parsed{parse(t, c.old)})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Messages(c.version, false); !slices.Equal(got, c.want) {
			t.Errorf("%s\n  got  %q\n  want %q", c.level, got, c.want)
		}
	}
}

func TestLongOldSchemaIsCut(t *testing.T) {
	long := `{"type":"int","p":"` + strings.Repeat("é", 6000) + strings.Repeat("x", 6000) + `"}`
	res, err := newChecker(t, Options{}).Check(t.Context(), Backward, parse(t, `"string"`), []schema.Parsed{parse(t, long)})
	if err != nil {
		t.Fatal(err)
	}
	chars := []rune(parse(t, long).Canonical())[:10240]
	if got := res.Messages(0, true); got[1] != "{oldSchema: <truncated> '"+string(chars)+"...'}" || got[2] != "{validateFields: 'true', compatibility: 'BACKWARD'}" {
		t.Errorf("%.80q … %q", got[1], got[2])
	}
}

// otherType is a schema of a format that has no comparison.
type otherType struct {
	schema.Parsed
	format schema.Type
}

func (o otherType) Type() schema.Type { return o.format }
func (o otherType) Canonical() string { return "{}" }

func TestOtherFormats(t *testing.T) {
	checker := newChecker(t, Options{})
	json := otherType{format: schema.JSON}
	for l := None; l <= FullTransitive; l++ {
		res, err := checker.Check(t.Context(), l, parse(t, `"int"`), []schema.Parsed{json})
		if err != nil || res.Compatible != (l == None) {
			t.Errorf("%s: %+v %v", l, res, err)
		}
		if l == Backward {
			want := []string{"Incompatible because of different schema type", "{validateFields: 'false', compatibility: 'BACKWARD'}"}
			if got := res.Messages(1, false); !slices.Equal(got, want) || res.Findings[0].Kind != TypeChanged {
				t.Errorf("%q", got)
			}
		}
	}
	res, err := checker.Check(t.Context(), Backward, json, []schema.Parsed{json})
	if err != nil || res.Compatible || res.Findings[0].Kind != NotComparable {
		t.Errorf("%+v %v", res, err)
	}
}

func TestLimitsAndCancel(t *testing.T) {
	a := parse(t, record(fieldA+","+fieldB))
	res, err := newChecker(t, Options{Limits: diff.Limits{StepsMax: 1}}).Check(t.Context(), Backward, a, []schema.Parsed{a})
	if err != nil || res.Compatible || res.Findings[0].Kind != NotComparable {
		t.Errorf("%+v %v", res, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newChecker(t, Options{}).Check(ctx, Backward, a, []schema.Parsed{a}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
