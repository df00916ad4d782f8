package evolution

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"milena/serde/avro"
	"milena/serde/schema"
)

type corpusRow struct {
	ID            string
	Source        string
	Level         string
	Old           []string
	New           string
	References    []schema.Dependency
	OldReferences *[]schema.Dependency `json:"old_references"`
	Compatible    bool
	Differences   *[]string
}

// UnmarshalJSON of dependencies: the corpus calls the text schema.
func (r *corpusRow) UnmarshalJSON(b []byte) error {
	type ref struct{ Name, Schema string }
	type plain corpusRow
	var in struct {
		plain
		References    []ref
		OldReferences *[]ref `json:"old_references"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = corpusRow(in.plain)
	for _, x := range in.References {
		r.References = append(r.References, schema.Dependency{Name: x.Name, Text: x.Schema})
	}
	if in.OldReferences != nil {
		r.OldReferences = &[]schema.Dependency{}
		for _, x := range *in.OldReferences {
			*r.OldReferences = append(*r.OldReferences, schema.Dependency{Name: x.Name, Text: x.Schema})
		}
	}
	return nil
}

// TestAvroCorpus replays pairs whose verdicts and differences are the
// reference's own.
func TestAvroCorpus(t *testing.T) {
	checker := newChecker(t, Options{})
	eachRow(t, "avro.jsonl", func(row corpusRow) { checkRow(t, checker, row) })
}

// eachRow runs do for every row of a corpus file, and skips the test if it is
// not there.
func eachRow(t *testing.T, name string, do func(corpusRow)) {
	t.Helper()
	dir := os.Getenv("MILENA_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "corpus", "evolution", name))
	if err != nil {
		t.Skipf("no corpus/evolution/%s (set MILENA_SHARED)", name)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	rows := 0
	for sc.Scan() {
		var row corpusRow
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows++
		do(row)
	}
	if rows == 0 || sc.Err() != nil {
		t.Fatalf("%d rows, %v", rows, sc.Err())
	}
}

func checkRow(t *testing.T, checker *Checker, row corpusRow) {
	t.Helper()
	next, err := avro.Parser{}.Parse(schema.Resolved{Text: row.New, Dependencies: row.References})
	if err != nil {
		t.Errorf("%s: new: %v", row.ID, err)
		return
	}
	refs := row.References
	if row.OldReferences != nil {
		refs = *row.OldReferences
	}
	var old []schema.Parsed
	for _, text := range row.Old {
		s, err := avro.Parser{Lenient: true}.Parse(schema.Resolved{Text: text, Dependencies: refs})
		if err != nil {
			t.Errorf("%s: old: %v", row.ID, err)
			return
		}
		old = append(old, s)
	}
	level, ok := ParseLevel(row.Level)
	if !ok {
		t.Errorf("%s: level %s", row.ID, row.Level)
		return
	}
	start := time.Now()
	res, err := checker.Check(t.Context(), level, next, old)
	if err != nil || res.Compatible != row.Compatible {
		t.Errorf("%s: compatible %v %v, want %v (%s)\n  %v\n  old %v\n  new %s", row.ID, res.Compatible, err, row.Compatible, row.Level, res.Findings, row.Old, row.New)
		return
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("%s took %v", row.ID, d)
	}
	if row.Differences == nil {
		return
	}
	var got []string
	for _, f := range res.Findings {
		got = append(got, string(f.Kind)+" "+f.Path)
	}
	if !slices.Equal(got, *row.Differences) {
		t.Errorf("%s: differences (%s)\n  got  %q\n  want %q\n  old %v\n  new %s", row.ID, row.Level, got, *row.Differences, row.Old, row.New)
	}
}
