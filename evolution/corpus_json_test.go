package evolution

import (
	"slices"
	"strings"
	"testing"
	"time"

	"milena/evolution/diff"
	"milena/evolution/jsondiff"
	"milena/serde/jsonschema"
	"milena/serde/schema"
)

// TestJSONCorpus replays pairs whose verdicts and differences are the
// reference's own.
func TestJSONCorpus(t *testing.T) {
	checker := newChecker(t, Options{})
	table, err := diff.NewTable(jsondiff.Rules())
	if err != nil {
		t.Fatal(err)
	}
	eachRow(t, "json.jsonl", func(row corpusRow) {
		next, old := parseJSONRow(t, row)
		level, ok := ParseLevel(row.Level)
		if next == nil || !ok {
			t.Errorf("%s: level %s, parsed %v", row.ID, row.Level, next != nil)
			return
		}
		start := time.Now()
		res, err := checker.Check(t.Context(), level, next, old)
		if err != nil || res.Compatible != row.Compatible {
			t.Errorf("%s: compatible %v %v, want %v (%s)\n  %v\n  want %v\n  old %v\n  new %s", row.ID, res.Compatible, err, row.Compatible, row.Level, res.Findings, row.Differences, row.Old, row.New)
			return
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s took %v", row.ID, d)
		}
		if row.Differences == nil {
			return
		}
		got := changesOf(t, table, level, next, old)
		if want := sortedKinds(*row.Differences); !slices.Equal(sortedKinds(got), want) {
			t.Errorf("%s: differences (%s, %s)\n  got  %q\n  want %q\n  old %v\n  new %s", row.ID, row.Source, row.Level, sortedKinds(got), want, row.Old, row.New)
		}
	})
}

// parseJSONRow parses a row's schemas. It returns nil if one is refused.
func parseJSONRow(t *testing.T, row corpusRow) (schema.Parsed, []schema.Parsed) {
	t.Helper()
	refs := row.References
	if row.OldReferences != nil {
		refs = *row.OldReferences
	}
	var parsed []schema.Parsed
	for i, text := range append(slices.Clone(row.Old), row.New) {
		if i == len(row.Old) {
			refs = row.References
		}
		s, err := jsonschema.Parser{}.Parse(schema.Resolved{Text: text, Dependencies: refs})
		if err != nil {
			t.Errorf("%s: %v\n  %s", row.ID, err, text)
			return nil, nil
		}
		parsed = append(parsed, s)
	}
	return parsed[len(row.Old)], parsed[:len(row.Old)]
}

// changesOf lists all changes in the order in which a check visits versions.
func changesOf(t *testing.T, table *diff.Table, level Level, next schema.Parsed, old []schema.Parsed) []string {
	t.Helper()
	var out []string
	l := levels[level]
	for _, o := range slices.Backward(old) {
		broken := false
		compare := func(reader, writer schema.Parsed) {
			changes, err := jsondiff.Compare(t.Context(), table, reader.(*jsonschema.Schema), writer.(*jsonschema.Schema), jsondiff.Options{})
			if err != nil {
				t.Fatal(err)
			}
			broken = broken || table.AnyBreaks(changes, false)
			for _, c := range changes {
				out = append(out, string(c.Kind)+" "+c.Path)
			}
		}
		if l.fore {
			compare(o, next)
		}
		if l.back {
			compare(next, o)
		}
		if broken || !l.all {
			break
		}
	}
	return out
}

// sortedKinds sorts differences. The number of a part of an allOf is not
// stable in the reference, so it is left out.
func sortedKinds(differences []string) []string {
	out := slices.Clone(differences)
	for i, d := range out {
		steps := strings.Split(d, "/")
		for j := range steps {
			if j > 0 && steps[j-1] == "allOf" {
				steps[j] = "n"
			}
		}
		out[i] = strings.Join(steps, "/")
	}
	slices.Sort(out)
	return out
}
