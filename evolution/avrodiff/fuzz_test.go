package avrodiff

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"milena/evolution/diff"
	"milena/serde/avro"
	"milena/serde/schema"
)

// FuzzCompare: any two schemas are compared to an end, and every schema reads
// its own data unless the comparison has no answer.
func FuzzCompare(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.Split(string(b), "\n")
		f.Add(strings.TrimPrefix(lines[1], "reader "), strings.TrimPrefix(lines[2], "writer "))
	}
	tab := table(f)
	f.Fuzz(func(t *testing.T, reader, writer string) {
		p := avro.Parser{Lenient: true}
		r, err := p.ParseSchema(schema.Resolved{Text: reader})
		if err != nil {
			return
		}
		var ambiguous *AmbiguousFieldError
		changes, err := Compare(t.Context(), tab, r, r, diff.Limits{StepsMax: 100_000})
		if err != nil && !errors.As(err, &ambiguous) && !errors.Is(err, diff.ErrTooComplex) {
			t.Fatalf("%v", err)
		}
		if len(changes) > 0 {
			t.Errorf("%s does not read itself: %v", r.Canonical(), changes)
		}
		w, err := p.ParseSchema(schema.Resolved{Text: writer})
		if err != nil {
			return
		}
		changes, err = Compare(t.Context(), tab, r, w, diff.Limits{StepsMax: 100_000})
		if err != nil && !errors.As(err, &ambiguous) && !errors.Is(err, diff.ErrTooComplex) {
			t.Fatalf("%v", err)
		}
		for _, c := range changes {
			if _, ok := tab.Rule(c.Kind); !ok || !strings.HasPrefix(c.Path, "/") {
				t.Errorf("change %+v", c)
			}
		}
	})
}
