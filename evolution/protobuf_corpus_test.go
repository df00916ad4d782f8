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

// TestProtobufMessages: form and words of the findings, only of what breaks.
func TestProtobufMessages(t *testing.T) {
	const p = "syntax = \"proto3\";\n\n"
	old := parseProto(t, p+"message M {\n  string a = 1;\n}\n", nil, true)
	next := parseProto(t, p+"message M {\n  int32 b = 1;\n}\n", nil, false)
	res, err := newChecker(t, Options{}).Check(t.Context(), Forward, next, []schema.Parsed{old})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path '#/M/1' in the old schema does not match its kind in the new schema"}`,
		"{oldSchemaVersion: 3}", "{oldSchema: '" + old.Canonical() + "'}", "{validateFields: 'false', compatibility: 'FORWARD'}",
	}
	if got := res.Messages(3, false); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestProtobufBugs: what other checkers got wrong.
func TestProtobufBugs(t *testing.T) {
	const p = "syntax = \"proto3\"; package shop; "
	for _, c := range []struct {
		why        string
		level      Level
		old        []string
		next       string
		compatible bool
	}{
		{"a changed package is no small change", Backward, []string{"syntax = \"proto3\"; package x.v1; message M { int32 a = 1; }"},
			"syntax = \"proto3\"; package x.v2; message M { int32 a = 1; }", false},
		{"a number taken up again is judged against each version", BackwardTransitive,
			[]string{p + "message M { int32 a = 1; string b = 2; }", p + "message M { int32 a = 1; reserved 2; }"},
			p + "message M { int32 a = 1; int32 z = 2; }", false},
		{"but not against the latest, which reserves it", Backward,
			[]string{p + "message M { int32 a = 1; string b = 2; }", p + "message M { int32 a = 1; reserved 2; }"},
			p + "message M { int32 a = 1; int32 z = 2; }", true},
		{"types that hold each other end", Full,
			[]string{p + "message Node { Node next = 1; map<string, Node> kids = 2; Leaf leaf = 3; } message Leaf { Node up = 1; }"},
			p + "message Node { Node next = 1; map<string, Node> kids = 2; Leaf leaf = 3; int32 more = 4; } message Leaf { Node up = 1; }", true},
	} {
		var old []schema.Parsed
		for _, text := range c.old {
			old = append(old, parseProto(t, text, nil, true))
		}
		res, err := newChecker(t, Options{}).Check(t.Context(), c.level, parseProto(t, c.next, nil, false), old)
		if err != nil || res.Compatible != c.compatible {
			t.Errorf("%s: %v %v", c.why, res, err)
		}
	}
}
