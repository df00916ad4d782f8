package jsonschema

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"milena/serde/schema"
)

// shared returns a file of the folder of reference answers that lies beside the
// repository, and skips the test if it isn't there.
func shared(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("MILENA_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	name := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("no %s (set MILENA_SHARED)", filepath.Join(parts...))
	}
	return name
}

type corpusRef struct {
	Name       string
	Schema     *string
	References []corpusRef
}

// dependencies returns the texts behind references, each after those it needs;
// ok is false if one is meant to be missing.
func dependencies(refs []corpusRef) (deps []schema.Dependency, ok bool) {
	ok = true
	for _, r := range refs {
		below, complete := dependencies(r.References)
		deps = append(deps, below...)
		if r.Schema == nil {
			return deps, false
		}
		ok = ok && complete
		deps = append(deps, schema.Dependency{Name: r.Name, Text: *r.Schema})
	}
	return deps, ok
}

// TestCanonicalCorpus compares what is accepted, stored and normalized with the
// reference's own answers.
func TestCanonicalCorpus(t *testing.T) {
	f, err := os.Open(shared(t, "corpus", "canonical", "json.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	rows := 0
	for sc.Scan() {
		var row struct {
			ID, Schema, Stored string
			Accept             bool
			Normalized         *string
			References         []corpusRef
			Detail             string
		}
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		deps, complete := dependencies(row.References)
		if !complete {
			continue // refused before a parser sees it
		}
		rows++
		s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.JSON, Text: row.Schema, Dependencies: deps})
		switch {
		case (err == nil) != row.Accept:
			t.Errorf("%s: %v, want accepted %v\n  %.500s\n  %v", row.ID, err, row.Accept, row.Schema, deps)
		case err != nil:
			if want := row.Detail == "Invalid JSON schema"; NotJSON(err) != want {
				t.Errorf("%s: no JSON %v, want %v: %v\n  %.300s", row.ID, !want, want, err, row.Schema)
			}
		case s.Canonical() != row.Stored:
			t.Errorf("%s: stored\n  got  %.500s\n  want %.500s", row.ID, s.Canonical(), row.Stored)
		case row.Normalized != nil && s.Normalized() != *row.Normalized:
			t.Errorf("%s: normalized\n  got  %.500s\n  want %.500s", row.ID, s.Normalized(), *row.Normalized)
		}
	}
	if rows == 0 || sc.Err() != nil {
		t.Fatalf("%d rows, %v", rows, sc.Err())
	}
}
