package evolution

import (
	"slices"
	"testing"
	"time"

	"milena/evolution/protodiff"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

func parseProto(t *testing.T, text string, refs []schema.Dependency, lenient bool) *protobuf.Schema {
	t.Helper()
	s, err := protobuf.Parser{Lenient: lenient}.ParseSchema(schema.Resolved{Text: text, Dependencies: refs})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// protoDifferences lists all changes as the corpus does: the forward list, then
// the backward one, of each version from the newest to the first that fails.
func protoDifferences(t *testing.T, c *Checker, level Level, next *protobuf.Schema, old []*protobuf.Schema) []string {
	t.Helper()
	l := levels[level]
	list := []string{}
	for i, version := range slices.Backward(old) {
		if !l.all && i < len(old)-1 || !l.back && !l.fore {
			break
		}
		broken := false
		compare := func(reader, writer *protobuf.Schema) {
			changes, err := protodiff.Compare(t.Context(), c.proto, reader, writer, c.limits)
			if err != nil {
				t.Fatal(err)
			}
			for _, ch := range changes {
				list = append(list, string(ch.Kind)+" "+ch.Path)
			}
			broken = broken || c.proto.AnyBreaks(changes, false)
		}
		if l.fore {
			compare(version, next)
		}
		if l.back {
			compare(next, version)
		}
		if broken {
			break
		}
	}
	slices.Sort(list)
	return list
}

// TestProtobufCorpus replays pairs whose verdicts and differences are the
// reference's own.
func TestProtobufCorpus(t *testing.T) {
	checker := newChecker(t, Options{})
	eachRow(t, "protobuf.jsonl", func(row corpusRow) {
		refs := row.References
		next := parseProto(t, row.New, refs, false)
		if row.OldReferences != nil {
			refs = *row.OldReferences
		}
		var old []*protobuf.Schema
		var parsed []schema.Parsed
		for _, text := range row.Old {
			s := parseProto(t, text, refs, true)
			old, parsed = append(old, s), append(parsed, s)
		}
		level, ok := ParseLevel(row.Level)
		if !ok {
			t.Fatalf("%s: level %s", row.ID, row.Level)
		}
		start := time.Now()
		res, err := checker.Check(t.Context(), level, next, parsed)
		if err != nil || res.Compatible != row.Compatible {
			t.Errorf("%s: compatible %v %v, want %v (%s)\n  %v\n  old %v\n  new %s\n  want %v", row.ID, res.Compatible, err, row.Compatible, row.Level, res.Findings, row.Old, row.New, row.Differences)
			return
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("%s took %v", row.ID, d)
		}
		if row.Differences == nil {
			return
		}
		want := slices.Clone(*row.Differences)
		slices.Sort(want)
		if got := protoDifferences(t, checker, level, next, old); !slices.Equal(got, want) {
			t.Errorf("%s: differences (%s)\n  got  %q\n  want %q\n  old %v\n  new %s", row.ID, row.Level, got, want, row.Old, row.New)
		}
	})
}
