package avrodiff

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
	"milena/serde/avro"
	"milena/serde/schema"
)

func parse(t testing.TB, text string) *avro.Schema {
	t.Helper()
	s, err := avro.Parser{}.ParseSchema(schema.Resolved{Text: text})
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

// Folders of testdata beside one per kind.
const (
	compatible = "compatible"
	ambiguous  = "ambiguous" // the reader's field means several of the writer's
)

// TestCases runs testdata/<kind>/<case>.txt: a line with # says why, reader
// and writer hold the schemas, each = one expected change (kind, path,
// information). A case of a kind's folder has that kind as its first change.
func TestCases(t *testing.T) {
	tab := table(t)
	dirs, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, d := range dirs {
		files, err := filepath.Glob(filepath.Join("testdata", d.Name(), "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no cases of %s: %v", d.Name(), err)
		}
		if d.Name() != compatible && d.Name() != ambiguous {
			kinds = append(kinds, d.Name())
		}
		for _, file := range files {
			t.Run(d.Name()+"/"+filepath.Base(file), func(t *testing.T) { runCase(t, tab, d.Name(), file) })
		}
	}
	var rules []string
	for _, r := range tab.Rules() {
		rules = append(rules, string(r.Kind))
	}
	slices.Sort(rules)
	if !slices.Equal(rules, kinds) {
		t.Errorf("rules %v, folders of cases %v", rules, kinds)
	}
}

func runCase(t *testing.T, tab *diff.Table, folder, file string) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var why string
	var reader, writer *avro.Schema
	var want []string
	for line := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		switch mark {
		case "#":
			why = rest
		case "reader":
			reader = parse(t, rest)
		case "writer":
			writer = parse(t, rest)
		case "=":
			want = append(want, rest)
		default:
			t.Fatalf("mark %q", mark)
		}
	}
	changes, err := Compare(t.Context(), tab, reader, writer, diff.Limits{})
	if folder == ambiguous {
		var a *AmbiguousFieldError
		if !errors.As(err, &a) || len(want) != 1 || a.Error() != want[0] || changes != nil {
			t.Errorf("%s: %v %v, want %v", why, changes, err, want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s %s %s", c.Kind, c.Path, c.Info))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\n  got  %q\n  want %q", why, got, want)
	}
	if folder == compatible && len(want) != 0 || folder != compatible && (len(changes) == 0 || string(changes[0].Kind) != folder) {
		t.Errorf("%s stands in the wrong folder", file)
	}
}

// TestEveryRuleBreaks: the reference reports nothing for what can be read, and
// the walker relies on it.
func TestEveryRuleBreaks(t *testing.T) {
	for _, r := range Rules() {
		if !r.Breaks || !strings.Contains(r.Message, "{path}") {
			t.Errorf("%+v", r)
		}
	}
}

// records returns a union of n records with k fields, which refer to
// those before.
func records(n, k int, typ string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"record","name":"R%d","fields":[{"name":"v","type":"%s"}`, i, typ)
		for j := range k {
			fmt.Fprintf(&b, `,{"name":"f%d","type":"R%d"}`, j, max(i-j-1, 0))
		}
		b.WriteString(`]}`)
	}
	b.WriteByte(']')
	return b.String()
}

// TestHostileSchemas: no pair takes longer than about a second or fills the
// memory, whatever its shape. The bound on time allows for the race detector
// on a busy machine.
func TestHostileSchemas(t *testing.T) {
	tab := table(t)
	var names, aliases []string
	for i := range 200 {
		names = append(names, fmt.Sprintf(`{"type":"record","name":"A%d","fields":[]}`, i))
		var list []string
		for j := range 200 {
			list = append(list, fmt.Sprintf(`"x%d_%d"`, i, j))
		}
		aliases = append(aliases, fmt.Sprintf(`{"type":"record","name":"B%d","aliases":[%s],"fields":[]}`, i, strings.Join(list, ",")))
	}
	// Every type is used twice by the one before: lists of changes would double.
	var double strings.Builder
	for i := range 150 {
		fmt.Fprintf(&double, `{"type":"record","name":"D%d","fields":[{"name":"a","type":`, i)
	}
	double.WriteString(`"%s"`)
	for i := 149; i >= 0; i-- {
		if i == 149 {
			double.WriteString(`}]}`)
			continue
		}
		fmt.Fprintf(&double, `},{"name":"b","type":"D%d"}]}`, i+1)
	}
	for _, c := range []struct {
		name, reader, writer string
		breaks, complex      bool
	}{
		{"wide unions", records(200, 3, "long"), records(200, 3, "int"), false, false},
		{"unlike unions", records(200, 3, "int"), records(200, 3, "long"), true, false},
		{"aliases", "[" + strings.Join(aliases, ",") + "]", "[" + strings.Join(names, ",") + "]", true, true},
		{"doubling", fmt.Sprintf(double.String(), "int"), fmt.Sprintf(double.String(), "long"), true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			reader, writer := parse(t, c.reader), parse(t, c.writer)
			start := time.Now()
			changes, err := Compare(t.Context(), tab, reader, writer, diff.Limits{})
			if errors.Is(err, diff.ErrTooComplex) != c.complex || !c.complex && (err != nil || c.breaks != (len(changes) > 0)) {
				t.Errorf("%d changes, %v", len(changes), err)
			}
			if len(changes) > 1000 {
				t.Errorf("%d changes", len(changes))
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := parse(t, records(10, 2, "int"))
	if _, err := Compare(ctx, table(t), s, s, diff.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := Compare(t.Context(), table(t), s, s, diff.Limits{DepthMax: 3}); !errors.Is(err, diff.ErrTooComplex) {
		t.Errorf("depth: %v", err)
	}
	if _, err := Compare(t.Context(), table(t), s, s, diff.Limits{StepsMax: 3}); !errors.Is(err, diff.ErrTooComplex) {
		t.Errorf("steps: %v", err)
	}
}
