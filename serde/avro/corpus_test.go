package avro

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"milena/serde/schema"
)

// sharedFile returns a file of the shared oracles, or skips.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("MILENA_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s (set MILENA_SHARED)", name)
	}
	return path
}

func eachRow[T any](t *testing.T, path string, do func(*testing.T, T)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	rows := 0
	for sc.Scan() {
		var row T
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows++
		do(t, row)
	}
	if sc.Err() != nil || rows == 0 {
		t.Fatalf("%d rows, %v", rows, sc.Err())
	}
}

type corpusRef struct {
	Name       string
	Subject    string
	Version    int
	Schema     *string
	References []corpusRef
}

// dependencies lists the texts behind references, innermost first.
func dependencies(refs []corpusRef) []schema.Dependency {
	var out []schema.Dependency
	for _, r := range refs {
		out = append(out, dependencies(r.References)...)
		if r.Schema != nil {
			out = append(out, schema.Dependency{Name: r.Name, Text: *r.Schema})
		}
	}
	return out
}

type corpusRow struct {
	ID              string
	Tags            []string
	Schema          string
	References      []corpusRef
	Accept          bool
	Stored          string
	Normalized      *string
	NormalizedError *struct{ Status int } `json:"normalized_error"`
	Formats         map[string]string
	Detail          string
}

func TestCanonicalCorpus(t *testing.T) {
	path := sharedFile(t, "corpus/canonical/avro.jsonl")
	details, same := 0, 0
	eachRow(t, path, func(t *testing.T, row corpusRow) {
		if strings.HasPrefix(row.Detail, "No schema reference found") {
			return // the registry's part
		}
		deps := dependencies(row.References)
		s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.Avro, Text: row.Schema, Dependencies: deps})
		if !row.Accept {
			if err == nil {
				t.Errorf("%s accepted: %s (%s)", row.ID, row.Schema, row.Detail)
			} else if details++; strings.Contains(err.Error(), row.Detail) {
				same++
			} else if !strings.Contains(row.Detail, "Exception") && len(row.Detail) < 200 {
				t.Errorf("%s message %q, want %q", row.ID, err, row.Detail)
			}
			return
		}
		if err != nil {
			t.Errorf("%s refused: %s: %v", row.ID, row.Schema, err)
			return
		}
		if s.Canonical() != row.Stored {
			t.Errorf("%s stored\n  of   %s\n  got  %s\n  want %s", row.ID, row.Schema, s.Canonical(), row.Stored)
		}
		if want, ok := row.Formats["resolved"]; ok || row.Normalized != nil {
			if !ok {
				want = row.Stored
			}
			if got, err := s.InlineText(); err != nil || got != want {
				t.Errorf("%s resolved\n  got  %s %v\n  want %s", row.ID, got, err, want)
			}
		}
		switch {
		case row.NormalizedError != nil:
			if s.NormalizeError() == nil {
				t.Errorf("%s normalized: %s", row.ID, s.Normalized())
			}
		case s.NormalizeError() != nil:
			t.Errorf("%s not normalized: %s: %v", row.ID, row.Schema, s.NormalizeError())
		case s.Normalized() != *row.Normalized:
			t.Errorf("%s normalized\n  of   %s\n  got  %s\n  want %s", row.ID, row.Stored, s.Normalized(), *row.Normalized)
		}
		if again, err := (Parser{Lenient: true}).ParseSchema(s.Resolved()); err != nil || again.Canonical() != s.Canonical() {
			t.Errorf("%s canonical text is not stable: %v", row.ID, err)
		}
	})
	t.Logf("%d of %d refusals in the reference's words", same, details)
}

type lookupRow struct {
	ID                  string
	SchemaType          string
	Registered          string
	References          []corpusRef
	RegisteredNormalize bool         `json:"registered_normalize"`
	LookedUp            string       `json:"looked_up"`
	LookedUpReferences  *[]corpusRef `json:"looked_up_references"`
	Normalize           bool
	Found               bool
	ErrorCode           int `json:"error_code"`
}

// stored parses text as a registry would keep it.
func stored(t *testing.T, p Parser, text string, refs []corpusRef, normalize bool) (*Schema, error) {
	t.Helper()
	s, err := p.ParseSchema(schema.Resolved{Type: schema.Avro, Text: text, Dependencies: dependencies(refs)})
	if err != nil || !normalize {
		return s, err
	}
	if err := s.NormalizeError(); err != nil {
		return nil, err
	}
	return Parser{Lenient: true}.ParseSchema(schema.Resolved{Type: schema.Avro, Text: s.Normalized(), Dependencies: s.Resolved().Dependencies})
}

// referenceKeys is what a registry compares of references; every subject of
// the corpus has one version, so -1 (the latest) is 1.
func referenceKeys(refs []corpusRef, normalize bool) []string {
	var keys []string
	for _, r := range refs {
		keys = append(keys, fmt.Sprint(r.Subject, " ", max(r.Version, 1), " ", r.Name))
	}
	if normalize {
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	return keys
}

func TestLookupCorpus(t *testing.T) {
	path := sharedFile(t, "corpus/canonical/lookup.jsonl")
	eachRow(t, path, func(t *testing.T, row lookupRow) {
		if row.SchemaType != "AVRO" || strings.TrimSpace(row.LookedUp) == "" {
			return
		}
		reg, err := stored(t, Parser{}, row.Registered, row.References, row.RegisteredNormalize)
		if err != nil {
			t.Errorf("%s: %v", row.ID, err)
			return
		}
		refs := row.References
		if row.LookedUpReferences != nil {
			refs = *row.LookedUpReferences
		}
		look, err := stored(t, Parser{Lenient: true}, row.LookedUp, refs, row.Normalize)
		if row.ErrorCode == 42201 {
			missing := slices.ContainsFunc(refs, func(r corpusRef) bool { return r.Schema == nil })
			if err == nil && !missing {
				t.Errorf("%s: parsed %s", row.ID, row.LookedUp)
			}
			return
		}
		if err != nil {
			t.Errorf("%s: %s: %v", row.ID, row.LookedUp, err)
			return
		}
		// Which references must be equal is the registry's part: a text without
		// references finds one with, no other way round.
		found := Equal(reg, look) && (len(refs) == 0 ||
			slices.Equal(referenceKeys(refs, row.Normalize), referenceKeys(row.References, row.Normalize)))
		if found != row.Found {
			t.Errorf("%s: found %v, want %v\n  registered %s\n  looked up  %s (normalize %v)", row.ID, found, row.Found, reg.Canonical(), look.Canonical(), row.Normalize)
		}
	})
}
