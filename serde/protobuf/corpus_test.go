package protobuf

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

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

func rows[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	var out []T
	for sc.Scan() {
		var row T
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if sc.Err() != nil || len(out) == 0 {
		t.Fatalf("%d rows, %v", len(out), sc.Err())
	}
	return out
}

type corpusRef struct {
	Name       string
	Subject    string
	Version    int
	Schema     *string
	References []corpusRef
}

// subjects holds what the rows of a file register under a subject: a reference
// without a text means an earlier one.
type subjects map[string]corpusRef

func (s subjects) learn(refs []corpusRef) {
	for _, r := range refs {
		s.learn(r.References)
		if r.Schema != nil {
			s[r.Subject] = r
		}
	}
}

// dependencies lists the texts behind references, innermost first, each name
// once. It reports false if one is missing.
func (s subjects) dependencies(refs []corpusRef) ([]schema.Dependency, bool) {
	var out []schema.Dependency
	seen := map[string]bool{}
	ok := true
	var walk func([]corpusRef)
	walk = func(refs []corpusRef) {
		for _, r := range refs {
			if seen[r.Name] {
				continue
			}
			seen[r.Name] = true
			known, there := s[r.Subject]
			if !there {
				ok = false
				continue
			}
			walk(known.References)
			out = append(out, schema.Dependency{Name: r.Name, Text: *known.Schema})
		}
	}
	walk(refs)
	return out, ok
}

type corpusRow struct {
	ID         string
	Tags       []string
	Schema     string
	References []corpusRef
	Accept     bool
	Stored     string
	Normalized *string
	Formats    map[string]string
	FormatErrs map[string]int `json:"format_errors"`
	Detail     string
}

// sameWords reports whether a refusal says what the reference says, or it says
// it in words of its language.
func sameWords(got, detail string) bool {
	return strings.Contains(got, detail) || strings.Contains(detail, "startIndex")
}

func TestCanonicalCorpus(t *testing.T) {
	all := rows[corpusRow](t, sharedFile(t, "corpus/canonical/protobuf.jsonl"))
	known := subjects{}
	for _, row := range all {
		known.learn(row.References)
	}
	details, same := 0, 0
	for _, row := range all {
		deps, there := known.dependencies(row.References)
		if !there {
			continue // the registry's part
		}
		s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.Protobuf, Text: row.Schema, Dependencies: deps})
		if !row.Accept {
			if err == nil {
				t.Errorf("%s accepted: %s (%s)", row.ID, row.Schema, row.Detail)
			} else if details++; sameWords(err.Error(), row.Detail) {
				same++
			} else {
				t.Logf("%s says %q, the reference %q", row.ID, err, row.Detail)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s refused: %s: %v", row.ID, row.Schema, err)
			continue
		}
		checkAccepted(t, row, s)
	}
	t.Logf("%d of %d refusals in the reference's words", same, details)
}

func checkAccepted(t *testing.T, row corpusRow, s *Schema) {
	t.Helper()
	if s.Canonical() != row.Stored {
		t.Errorf("%s stored\n--- of\n%s\n--- got\n%s\n--- want\n%s", row.ID, row.Schema, s.Canonical(), row.Stored)
		return
	}
	if s.Normalized() != *row.Normalized {
		t.Errorf("%s normalized\n--- of\n%s\n--- got\n%s\n--- want\n%s", row.ID, row.Stored, s.Normalized(), *row.Normalized)
	}
	again, err := Parser{Lenient: true}.ParseSchema(s.Resolved())
	if err != nil || again.Canonical() != s.Canonical() {
		t.Errorf("%s canonical text is not stable: %v\n%s", row.ID, err, s.Canonical())
	}
	r := s.Resolved()
	r.Text = s.Normalized()
	if again, err = (Parser{}).ParseSchema(r); err != nil || settled(again.Normalized()) != settled(s.Normalized()) {
		t.Errorf("%s normalized text is not stable: %v\n%s\n---\n%s", row.ID, err, s.Normalized(), again.Normalized())
	}
	if _, fails := row.FormatErrs["ignore_extensions"]; !fails {
		want, ok := row.Formats["ignore_extensions"]
		if !ok {
			want = row.Stored
		}
		if got := s.WithoutExtensions(); got != want {
			t.Errorf("%s ignore_extensions\n--- got\n%s\n--- want\n%s", row.ID, got, want)
		}
	}
	if want, ok := row.Formats["serialized"]; ok {
		got, err := s.Serialized()
		if err != nil {
			t.Errorf("%s serialized: %v\n%s", row.ID, err, s.Canonical())
		} else if base64.StdEncoding.EncodeToString(got) != want {
			t.Errorf("%s serialized\n--- of\n%s\n--- got\n%s\n--- want\n%s", row.ID, s.Canonical(), showDescriptor(t, got), showBase64(t, want))
		}
	}
}

// settled takes out what normalizing changes once more: the lines in front of
// dropped elements, and a zero with a sign.
func settled(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.ReplaceAll(line, " = -0]", " = 0]"))
		}
	}
	return strings.Join(lines, "")
}

func showBase64(t *testing.T, s string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return showDescriptor(t, raw)
}

func showDescriptor(t *testing.T, raw []byte) string {
	t.Helper()
	var d descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(raw, &d); err != nil {
		return err.Error()
	}
	return prototext.MarshalOptions{Multiline: true, EmitUnknown: true}.Format(&d)
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
func stored(p Parser, text string, deps []schema.Dependency, normalize bool) (*Schema, error) {
	s, err := p.ParseSchema(schema.Resolved{Type: schema.Protobuf, Text: text, Dependencies: deps})
	if err != nil || !normalize {
		return s, err
	}
	if err := s.NormalizeError(); err != nil {
		return nil, err
	}
	return s.Normal(), nil
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
	all := rows[lookupRow](t, sharedFile(t, "corpus/canonical/lookup.jsonl"))
	known := subjects{}
	for _, row := range all {
		known.learn(row.References)
		if row.LookedUpReferences != nil {
			known.learn(*row.LookedUpReferences)
		}
	}
	for _, row := range all {
		if row.SchemaType != "PROTOBUF" || strings.TrimSpace(row.LookedUp) == "" {
			continue
		}
		deps, _ := known.dependencies(row.References)
		reg, err := stored(Parser{}, row.Registered, deps, row.RegisteredNormalize)
		if err != nil {
			t.Errorf("%s: %v", row.ID, err)
			continue
		}
		refs := row.References
		if row.LookedUpReferences != nil {
			refs = *row.LookedUpReferences
		}
		deps, there := known.dependencies(refs)
		look, err := stored(Parser{}, row.LookedUp, deps, row.Normalize)
		if row.ErrorCode == 42201 {
			if err == nil && there {
				t.Errorf("%s: parsed %s", row.ID, row.LookedUp)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %s: %v", row.ID, row.LookedUp, err)
			continue
		}
		found := Equal(reg, look) &&
			slices.Equal(referenceKeys(refs, row.Normalize), referenceKeys(row.References, row.RegisteredNormalize))
		if found != row.Found {
			t.Errorf("%s: found %v, want %v\n  registered %s\n  looked up  %s (normalize %v)", row.ID, found, row.Found, reg.Canonical(), look.Canonical(), row.Normalize)
		}
	}
}
