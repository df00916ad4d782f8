package protodiff

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
	"milena/serde/protobuf"
	"milena/serde/schema"
)

func parse(t testing.TB, text string, deps ...schema.Dependency) *protobuf.Schema {
	t.Helper()
	s, err := protobuf.Parser{}.ParseSchema(schema.Resolved{Text: text, Dependencies: deps})
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

// harmless is the folder of cases beside one per kind.
const harmless = "none"

// TestCases runs testdata/<kind>/<case>.txt: writer and reader, each with the
// files it refers to, and the changes in their order. A case of a kind's folder
// has that kind among its changes, and every kind of the table has a folder.
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

type parts struct {
	texts map[string]string
	deps  map[string][]schema.Dependency
}

func readCase(t *testing.T, file string) parts {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := parts{texts: map[string]string{}, deps: map[string][]schema.Dependency{}}
	name := ""
	for line := range strings.Lines(string(raw)) {
		if s, ok := strings.CutPrefix(line, "-- "); ok {
			name = strings.TrimSuffix(s, " --\n")
			continue
		}
		p.texts[name] += line
	}
	for name, text := range p.texts {
		if side, path, ok := strings.Cut(name, " "); ok {
			p.deps[side] = append(p.deps[side], schema.Dependency{Name: path, Text: text})
		}
	}
	return p
}

func runCase(t *testing.T, tab *diff.Table, folder, file string) {
	p := readCase(t, file)
	reader := parse(t, p.texts["reader"], p.deps["reader"]...)
	writer := parse(t, p.texts["writer"], p.deps["writer"]...)
	changes, err := Compare(t.Context(), tab, reader, writer, diff.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	there := folder == harmless
	for _, c := range changes {
		got += fmt.Sprintf("%s %s\n", c.Kind, c.Path)
		there = there || string(c.Kind) == folder
	}
	if got != p.texts["changes"] || !there {
		t.Errorf("got\n%swant\n%s", got, p.texts["changes"])
	}
	for _, s := range []*protobuf.Schema{reader, writer} {
		if same, err := Compare(t.Context(), tab, s, s, diff.Limits{}); err != nil || len(same) > 0 {
			t.Errorf("a schema differs from itself: %v %v", same, err)
		}
	}
}

// TestDirections: what one direction adds, the other removes.
func TestDirections(t *testing.T) {
	tab := table(t)
	a := parse(t, "syntax = \"proto3\"; message M { int32 a = 1; oneof o { int32 b = 2; } enum E { A = 0; } message N {} }")
	b := parse(t, "syntax = \"proto3\"; message M {}")
	forth, err := Compare(t.Context(), tab, a, b, diff.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := Compare(t.Context(), tab, b, a, diff.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, c := range forth {
		if c.Kind != OneofFieldAdded { // the whole oneof goes, so its members are not told
			want = append(want, strings.Replace(string(c.Kind), "_ADDED", "_REMOVED", 1)+" "+c.Path)
		}
	}
	for _, c := range back {
		got = append(got, string(c.Kind)+" "+c.Path)
	}
	if !slices.Equal(got, want) || len(got) != 4 {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHostilePairs(t *testing.T) {
	const n = 2000
	var mutual, wide, imported strings.Builder
	for i := range n {
		fmt.Fprintf(&wide, "int32 f%d = %d;", i, i+1)
	}
	for i := range 300 {
		fmt.Fprintf(&mutual, "message M%d {", i)
		fmt.Fprintf(&imported, "message M%d {", i)
		for j := range 100 {
			fmt.Fprintf(&mutual, "M%d f%d = %d;", (i*7+j)%300, j, j+1)
			fmt.Fprintf(&imported, "M%d f%d = %d;", (i*7+j)%300, j, j+1)
		}
		mutual.WriteString("}")
		imported.WriteString("}")
	}
	const p3 = "syntax = \"proto3\"; "
	dep := func(pkg, extra string) schema.Dependency {
		return schema.Dependency{Name: pkg + ".proto", Text: p3 + "package " + pkg + "; " + imported.String() + extra}
	}
	user := func(pkg string) string { return p3 + "message U { " + pkg + ".M0 a = 1; " + pkg + ".M1 b = 2; }" }
	nested := strings.Repeat("message M {", 400) + strings.Repeat("}", 400)
	tab := table(t)
	for name, pair := range map[string][2]*protobuf.Schema{
		"wide":     {parse(t, p3+"message M {"+wide.String()+"}"), parse(t, p3+"message M {"+wide.String()+"}")},
		"mutual":   {parse(t, p3+mutual.String()), parse(t, p3+mutual.String())},
		"imported": {parse(t, user("a"), dep("a", "")), parse(t, user("b"), dep("b", "message More {}"))},
		"nested":   {parse(t, p3+nested), parse(t, p3+nested)},
		"gone":     {parse(t, p3+"message M {}"), parse(t, p3+"message M {"+wide.String()+"}")},
	} {
		start := time.Now()
		_, err := Compare(t.Context(), tab, pair[0], pair[1], diff.Limits{})
		if err != nil && !errors.Is(err, diff.ErrTooComplex) {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s took %v", name, d)
		} else {
			t.Logf("%s: %v %v", name, d, err)
		}
	}
}

func TestLimitsAndCancel(t *testing.T) {
	tab := table(t)
	a := parse(t, "syntax = \"proto3\"; message M { message N { int32 a = 1; } N n = 1; }")
	if _, err := Compare(t.Context(), tab, a, a, diff.Limits{StepsMax: 2}); !errors.Is(err, diff.ErrTooComplex) {
		t.Errorf("steps: %v", err)
	}
	if _, err := Compare(t.Context(), tab, a, a, diff.Limits{DepthMax: 1}); !errors.Is(err, diff.ErrTooComplex) {
		t.Errorf("depth: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, tab, a, a, diff.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// FuzzCompare: no pair breaks the comparison, a schema equals itself, and what
// one side has more the other has less.
func FuzzCompare(f *testing.F) {
	f.Add("syntax = \"proto3\"; message M { int32 a = 1; }", "syntax = \"proto3\"; message M { oneof o { M a = 1; } map<string, M> m = 2; }")
	f.Add("package p; message A { required B b = 1; message B { extensions 4; } } enum E { X = 0; }", "message A { optional group G = 1 {} }")
	f.Fuzz(func(t *testing.T, x, y string) {
		tab := table(t)
		a, errA := protobuf.Parser{}.ParseSchema(schema.Resolved{Text: x})
		b, errB := protobuf.Parser{}.ParseSchema(schema.Resolved{Text: y})
		if errA != nil || errB != nil {
			return
		}
		limits := diff.Limits{StepsMax: 50_000}
		if _, err := Compare(t.Context(), tab, a, b, limits); err != nil && !errors.Is(err, diff.ErrTooComplex) {
			t.Fatal(err)
		}
		same, err := Compare(t.Context(), tab, a, a, limits)
		if err == nil && len(same) > 0 {
			t.Fatalf("a schema differs from itself: %v\n%s", same, a.Canonical())
		}
	})
}
