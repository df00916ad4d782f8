package evolution

import (
	"regexp"
	"strings"
	"testing"

	"milena/serde/avro"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// TestExplainCorpus: every finding of the corpora says why and what to do, and
// has a place in one of the texts unless it stands in a schema they refer to.
func TestExplainCorpus(t *testing.T) {
	checker := newChecker(t, Options{})
	blank := regexp.MustCompile(`\{(name|keyword|old|new|info|reader|writer|branch|promoted|symbols|orField|oldType|newType|orProperty|kinds)\}`)
	for file, p := range map[string]struct{ next, old schema.Parser }{
		"avro.jsonl":     {avro.Parser{}, avro.Parser{Lenient: true}},
		"json.jsonl":     {jsonschema.Parser{}, jsonschema.Parser{}},
		"protobuf.jsonl": {protobuf.Parser{}, protobuf.Parser{Lenient: true}},
	} {
		t.Run(file, func(t *testing.T) {
			explained, placed := 0, 0
			eachRow(t, file, func(row corpusRow) {
				next, err := p.next.Parse(schema.Resolved{Text: row.New, Dependencies: row.References})
				level, ok := ParseLevel(row.Level)
				if row.Compatible || err != nil || !ok {
					return
				}
				refs := row.References
				if row.OldReferences != nil {
					refs = *row.OldReferences
				}
				var old []schema.Parsed
				for _, text := range row.Old {
					s, err := p.old.Parse(schema.Resolved{Text: text, Dependencies: refs})
					if err != nil {
						return
					}
					old = append(old, s)
				}
				r, err := checker.Check(t.Context(), level, next, old)
				if err != nil || len(r.Findings) == 0 {
					t.Errorf("%s: %v %v", row.ID, r, err)
					return
				}
				for _, e := range checker.Explain(r.Findings, Text{next, row.New}, Text{old[r.Old], row.Old[r.Old]}) {
					explained++
					if e.New.Exact || e.Old.Exact {
						placed++
					}
					if e.Why == "" || e.Fix == "" || blank.MatchString(e.Why+e.Fix) {
						t.Errorf("%s: %+v", row.ID, e)
					}
					if len(refs) == 0 && !e.New.Exact && !e.Old.Exact && !strings.HasSuffix(e.Rule, string(NotComparable)) {
						t.Logf("%s: no place for %s at %s\nold %s\nnew %s", row.ID, e.Rule, e.Path, row.Old[r.Old], row.New)
					}
				}
			})
			t.Logf("%d of %d findings have a place", placed, explained)
			if placed*100 < explained*95 {
				t.Errorf("only %d of %d findings have a place", placed, explained)
			}
		})
	}
}
