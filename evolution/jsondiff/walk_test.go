package jsondiff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"milena/evolution/diff"
	"milena/serde/jsonschema"
	"milena/serde/schema"
)

func parse(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Parser{}.ParseSchema(schema.Resolved{Text: text})
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return s
}

func table(t testing.TB) *diff.Table {
	t.Helper()
	tab, err := diff.NewTable(Rules())
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// harmless is the folder of cases without changes, beside one per kind.
const harmless = "none"

// TestCases runs testdata/<kind>/<case>.txt: a line with # says why, writer and
// reader hold the schemas, each = one change, a kind and a path. A case of a
// kind's folder has that kind among its changes, and every kind of the table
// has a folder.
func TestCases(t *testing.T) {
	tab := table(t)
	dirs, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var folders, kinds []string
	for _, d := range dirs {
		if d.Name() != harmless {
			folders = append(folders, d.Name())
		}
		files, err := filepath.Glob(filepath.Join("testdata", d.Name(), "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no cases of %s: %v", d.Name(), err)
		}
		for _, file := range files {
			t.Run(d.Name()+"/"+filepath.Base(file), func(t *testing.T) { runCase(t, tab, d.Name(), file) })
		}
	}
	for _, r := range tab.Rules() {
		kinds = append(kinds, string(r.Kind))
	}
	slices.Sort(kinds)
	if !slices.Equal(folders, kinds) {
		t.Errorf("folders %q\nkinds %q", folders, kinds)
	}
}

func runCase(t *testing.T, tab *diff.Table, folder, file string) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	var want []string
	for line := range strings.Lines(string(b)) {
		mark, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if mark == "=" {
			want = append(want, rest)
		} else {
			texts[mark] = rest
		}
	}
	changes, err := Compare(t.Context(), tab, parse(t, texts["reader"]), parse(t, texts["writer"]), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	hit := folder == harmless && len(changes) == 0
	for _, c := range changes {
		got = append(got, string(c.Kind)+" "+c.Path)
		hit = hit || string(c.Kind) == folder
		if text := tab.Describe(c, "new", "old"); !strings.Contains(text, c.Path) || strings.ContainsAny(text, "{}") {
			t.Errorf("description %q", text)
		}
	}
	if !slices.Equal(got, want) || !hit {
		t.Errorf("%s\n  writer %s\n  reader %s\n  got  %q\n  want %q", texts["#"], texts["writer"], texts["reader"], got, want)
	}
}

// TestPolicies: the lenient policy never refuses what the strict one lets pass,
// and decides also which parts fit.
func TestPolicies(t *testing.T) {
	tab := table(t)
	for _, c := range []struct {
		writer, reader  string
		strict, lenient bool // breaks
	}{
		{`{"properties":{"a":{}}}`, `{"properties":{"a":{},"b":{"type":"string"}}}`, true, false},
		{`{"properties":{"a":{},"b":{}},"additionalProperties":false}`, `{"properties":{"a":{}},"additionalProperties":false}`, true, false},
		{`{"properties":{"a":{}}}`, `{"properties":{"a":{},"b":{"type":"string"}},"required":["b"]}`, true, true},
		{`{"additionalProperties":{"type":"string"}}`, `{"properties":{"b":{"type":"integer"}},"additionalProperties":{"type":"string"}}`, true, true},
		{`{"oneOf":[{"properties":{"a":{}}},{"type":"string"}]}`, `{"oneOf":[{"properties":{"a":{},"b":{"type":"string"}}},{"type":"string"}]}`, true, false},
		{`{"type":"string"}`, `{"type":"string"}`, false, false},
	} {
		for _, lenient := range []bool{false, true} {
			changes, err := Compare(t.Context(), tab, parse(t, c.reader), parse(t, c.writer), Options{Lenient: lenient})
			want := c.strict
			if lenient {
				want = c.lenient
			}
			if err != nil || tab.AnyBreaks(changes, lenient) != want {
				t.Errorf("lenient %v: %s to %s: %v %v", lenient, c.writer, c.reader, changes, err)
			}
		}
	}
}

// list writes n texts made by f, separated by commas.
func list(n int, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, ",")
}

func wide(n int, typ string) string {
	return `{"type":"object","properties":{` + list(n, func(i int) string {
		return fmt.Sprintf(`"p%d":{"type":%q,"title":"t%d","minLength":%d}`, i, typ, i, i%7)
	}) + `}}`
}

// patience is about ten times what the slowest pair takes on an idle machine.
const patience = 5 * time.Second * slowdown

// TestHostile: no pair takes longer than about a second, and one that would is
// an error that says so.
func TestHostile(t *testing.T) {
	tab := table(t)
	branches := func(n, fields, shift int) string {
		return `{"oneOf":[` + list(n, func(i int) string {
			return `{"type":"object","additionalProperties":false,"required":["k"],"properties":{` + list(fields+1, func(j int) string {
				if j == 0 {
					return fmt.Sprintf(`"k":{"const":%d}`, i+shift)
				}
				return fmt.Sprintf(`"f%d":{"type":"string","maxLength":%d}`, j, 10+i)
			}) + `}}`
		}) + `]}`
	}
	mutual := func(leaf string) string {
		return `{"$ref":"#/definitions/n0","definitions":{` + list(30, func(i int) string {
			return fmt.Sprintf(`"n%d":{"anyOf":[%s,{"type":%q}]}`, i, list(30, func(j int) string {
				return fmt.Sprintf(`{"type":"object","properties":{"x%d":{"$ref":"#/definitions/n%d"}},"additionalProperties":false}`, j, j)
			}), leaf)
		}) + `}}`
	}
	dag := func(leaf string) string {
		return `{"$ref":"#/definitions/d0","definitions":{` + list(40, func(i int) string {
			return fmt.Sprintf(`"d%d":{"properties":{"a":{"$ref":"#/definitions/d%d"},"b":{"$ref":"#/definitions/d%d"}}}`, i, i+1, i+1)
		}) + `,"d40":{"type":"` + leaf + `"}}}`
	}
	deep := func(leaf string) string {
		return strings.Repeat(`{"items":`, 900) + `{"type":"` + leaf + `"}` + strings.Repeat("}", 900)
	}
	chain := func(n int, leaf string) string {
		return `{"$ref":"#/definitions/c0","definitions":{` + list(n, func(i int) string {
			return fmt.Sprintf(`"c%d":{"properties":{"n":{"$ref":"#/definitions/c%d"}}}`, i, i+1)
		}) + fmt.Sprintf(`,"c%d":{"type":%q}}}`, n, leaf)
	}
	for _, c := range []struct {
		why, writer, reader string
		breaks, complex     bool
	}{
		{"2,000 fields", wide(2000, "string"), wide(2000, "string"), false, false},
		{"2,000 other fields", wide(2000, "string"), wide(2000, "integer"), true, false},
		{"100 branches", branches(100, 10, 0), branches(100, 10, 0), false, false},
		{"100 branches, one moved", branches(100, 10, 0), branches(100, 10, 1), true, false},
		{"100 branches of one kind", `{"oneOf":[` + list(100, func(i int) string { return fmt.Sprintf(`{"type":"integer","minimum":%d}`, i) }) + `]}`,
			`{"oneOf":[` + list(100, func(i int) string { return fmt.Sprintf(`{"type":"integer","minimum":%d}`, 99-i) }) + `]}`, false, false},
		{"2,000 branches", branches(2000, 0, 0), branches(2000, 0, 0), false, false},
		{"2,000 branches, none alike", branches(2000, 0, 0), branches(2000, 0, 5000), true, true},
		{"mutual recursion", mutual("string"), mutual("string"), false, false},
		{"mutual recursion, a leaf differs", mutual("string"), mutual("integer"), true, false},
		{"2^40 ways", dag("string"), dag("string"), false, false},
		{"2^40 ways to a change", dag("string"), dag("integer"), true, false},
		{"900 levels", deep("string"), deep("integer"), true, false},
		{"5,000 levels of references", chain(5_000, "string"), chain(5_000, "string"), false, true},
		{"many values", `{"enum":[` + list(20_000, func(i int) string { return fmt.Sprint(i) }) + `]}`, `{"enum":[0]}`, true, false},
	} {
		writer, reader := parse(t, c.writer), parse(t, c.reader)
		start := time.Now()
		changes, err := Compare(t.Context(), tab, reader, writer, Options{})
		d := time.Since(start)
		t.Logf("%s: %v, %d changes, %v", c.why, d, len(changes), err)
		if d > patience {
			t.Errorf("%s took %v", c.why, d)
		}
		if errors.Is(err, diff.ErrTooComplex) != c.complex || !c.complex && (err != nil || tab.AnyBreaks(changes, false) != c.breaks) {
			t.Errorf("%s: %d changes, %v", c.why, len(changes), err)
		}
		if len(changes) > 2000 {
			t.Errorf("%s: %d changes", c.why, len(changes))
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := parse(t, wide(10, "string"))
	if _, err := Compare(ctx, table(t), s, s, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := Compare(t.Context(), table(t), s, s, Options{Limits: diff.Limits{StepsMax: 5}}); !errors.Is(err, diff.ErrTooComplex) {
		t.Errorf("%v", err)
	}
}

// TestWideIsFast: a pair with 300 fields is parsed and compared in a few
// milliseconds. The best of several runs counts, since others use the machine.
func TestWideIsFast(t *testing.T) {
	tab := table(t)
	a, b := wide(300, "string"), wide(299, "string")
	best := time.Hour
	for range 20 {
		start := time.Now()
		if _, err := Compare(t.Context(), tab, parse(t, b), parse(t, a), Options{}); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	t.Logf("300 fields parsed twice and compared: %v", best)
	if best > 50*time.Millisecond*slowdown {
		t.Errorf("300 fields took %v at best", best)
	}
}

// TestChangesAreBounded: beyond the limit harmless changes go first, so that a
// verdict never hangs on the order.
func TestChangesAreBounded(t *testing.T) {
	tab := table(t)
	writer := `{"properties":{` + list(500, func(i int) string { return fmt.Sprintf(`"p%d":{"title":"a"}`, i) }) + `,"z":{"type":"string"}}}`
	reader := `{"properties":{` + list(500, func(i int) string { return fmt.Sprintf(`"p%d":{"title":"b"}`, i) }) + `,"z":{"type":"integer"}}}`
	changes, err := Compare(t.Context(), tab, parse(t, reader), parse(t, writer), Options{Limits: diff.Limits{ChangesMax: 10}})
	if err != nil || len(changes) != 11 || !tab.AnyBreaks(changes, false) {
		t.Errorf("%d changes, %v", len(changes), err)
	}
}

// FuzzCompare: a schema reads its own data, and no pair of schemas fails but by
// its limits.
func FuzzCompare(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `{"anyOf":[{"type":"string"},{"$ref":"#"}]}`)
	f.Add(`{"not":{"not":{"$ref":"#"}}}`, `{"allOf":[{"minimum":1},{"type":["null","array"],"items":[{}]}]}`)
	f.Add(`{"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}},"$ref":"#/definitions/a"}`, `false`)
	tab := table(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		var parsed []*jsonschema.Schema
		for _, text := range []string{a, b} {
			s, err := jsonschema.Parser{}.ParseSchema(schema.Resolved{Text: text})
			if err != nil {
				return
			}
			parsed = append(parsed, s)
		}
		for _, p := range [][2]int{{0, 0}, {0, 1}, {1, 0}} {
			changes, err := Compare(t.Context(), tab, parsed[p[0]], parsed[p[1]], Options{Limits: diff.Limits{StepsMax: 10_000}})
			if err != nil && !errors.Is(err, diff.ErrTooComplex) {
				t.Fatal(err)
			}
			if err == nil && p[0] == p[1] && tab.AnyBreaks(changes, false) {
				t.Errorf("%s can't read its own data: %v", a, changes)
			}
		}
	})
}
