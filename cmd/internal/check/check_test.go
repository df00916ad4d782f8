package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"milena/cmd/internal/findings"
	"milena/serde/schema"
)

// reading is a simple one: formats by extension, names as the tests have them.
func reading() Reading {
	quoted := regexp.MustCompile(`import "([^"]+)"|"\$ref": *"([^"#]+)"|"(ref\.\w+)"`)
	defined := regexp.MustCompile(`"name": *"(\w+)", *"namespace": *"(ref)"`)
	return Reading{
		Tell: func(name, _ string) (schema.Type, error) {
			switch filepath.Ext(name) {
			case ".avsc":
				return schema.Avro, nil
			case ".json":
				return schema.JSON, nil
			case ".proto":
				return schema.Protobuf, nil
			}
			return "", errors.New("no format")
		},
		Names: func(_ schema.Type, text string) (names [][]string) {
			for _, m := range quoted.FindAllStringSubmatch(text, -1) {
				names = append(names, []string{m[1] + m[2] + m[3]})
			}
			return names
		},
		Defines: func(_ schema.Type, text string) (names []string) {
			for _, m := range defined.FindAllStringSubmatch(text, -1) {
				names = append(names, m[2]+"."+m[1])
			}
			return names
		},
	}
}

func tree(label string, files map[string]string) *Tree {
	t := newTree(label)
	for name, text := range files {
		t.Files[name] = text
	}
	return t
}

func project(t testing.TB, p Project) *Project {
	t.Helper()
	if err := p.Prepare(); err != nil {
		t.Fatal(err)
	}
	return &p
}

// lines shows a report as lines.
func lines(r *findings.Report) []string {
	var out []string
	for _, s := range r.Subjects {
		out = append(out, s.Name+" "+s.Outcome)
	}
	for _, f := range r.Findings {
		waived := ""
		if f.Waiver != nil {
			waived = " waived"
		}
		out = append(out, fmt.Sprintf("%s %s %s:%d%s", f.Rule, f.Subject, f.New.File, f.New.Line, waived))
	}
	return append(out, r.Notes...)
}

func avroRecord(fields string) string {
	return `{"type": "record", "name": "R", "fields": [` + fields + `]}`
}

const (
	fieldA = `{"name": "a", "type": "int"}`
	fieldB = `{"name": "b", "type": "int"}`
)

// TestRun: what becomes of files, against trees.
func TestRun(t *testing.T) {
	day := time.Date(2026, 6, 30, 23, 0, 0, 0, time.UTC)
	old := tree("main", map[string]string{
		"a.avsc": avroRecord(fieldA), "moved/b.avsc": avroRecord(fieldA), "bad.avsc": avroRecord(fieldA), "badold.avsc": "{",
		"p.proto": "syntax = \"proto3\";\nimport \"q.proto\";\nmessage P { Q q = 1; }", "x/q.proto": "syntax = \"proto3\";\nmessage Q { int32 a = 1; }",
		"gone.avsc": `"int"`, "type.avsc": `"int"`,
	})
	next := tree("", map[string]string{
		"a.avsc": avroRecord(fieldA + "," + fieldB), "b.avsc": avroRecord(fieldA + "," + fieldB), "bad.avsc": avroRecord(`{"name": "x", "type": "missing"}`),
		"badold.avsc": `"int"`, "p.proto": "syntax = \"proto3\";\nimport \"q.proto\";\nmessage P { Q q = 1; }",
		"x/q.proto": "syntax = \"proto3\";\nmessage Q { string a = 1; }", "new.avsc": `"int"`, "type.avsc": `"string"`,
		"settings.json": `{"no": "schema"}`, "real.json": `{"$schema": "http://json-schema.org/draft-07/schema#"}`, "vendor/skipped.avsc": "{",
	})
	p := project(t, Project{
		Ignore:   []string{"vendor/**"},
		Subjects: []SubjectRule{{Files: "**/b.avsc", Subject: "bs"}, {Files: "{t}ype.avsc", Subject: "{t}-value", Level: "FORWARD"}},
		Waivers: []WaiverRule{
			{Subject: "bs", Rule: "avro/*", Reason: "r", Expires: "2026-06-30"}, {Subject: "a", Rule: "*", Reason: "r", Expires: "2026-06-29"},
			{Subject: "nobody", Rule: "*", Reason: "r", Expires: "2026-06-29"},
		},
	})
	h, err := NewTrees(p, reading(), []*Tree{old})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Options{Project: p, Reading: reading(), New: next, Prefix: "s/", History: h, Today: day})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a incompatible", "bs waived", "bad invalid", "badold invalid", "new new", "p incompatible", "real new", "t-value incompatible", "x/q incompatible",
		"avro/READER_FIELD_MISSING_DEFAULT_VALUE a s/a.avsc:1", "avro/READER_FIELD_MISSING_DEFAULT_VALUE bs s/b.avsc:1 waived",
		"schema/INVALID bad s/bad.avsc:1", "schema/OLD_INVALID badold s/badold.avsc:0",
		"protobuf/FIELD_SCALAR_KIND_CHANGED p s/p.proto:0", "protobuf/FIELD_NAMED_TYPE_CHANGED p s/p.proto:3",
		"avro/TYPE_MISMATCH t-value s/type.avsc:1", "protobuf/FIELD_SCALAR_KIND_CHANGED x/q s/x/q.proto:2",
		"the waiver of * for a ended on 2026-06-29 (r)", "the waiver of * for nobody is not needed",
	}
	got := lines(r)
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(slices.Sorted(slices.Values(want)), "\n"))
	}
	if gone := h.Gone(map[string]bool{"a": true, "bs": true, "bad": true, "badold": true, "p": true, "x/q": true, "t-value": true}); !slices.Equal(gone, []string{"gone"}) {
		t.Errorf("gone: %v", gone)
	}
}

// TestSubjectTwice: two files of one subject are told, not compared silently.
func TestSubjectTwice(t *testing.T) {
	p := project(t, Project{Subjects: []SubjectRule{{Files: "*.avsc", Subject: "one"}}})
	r, err := Run(t.Context(), Options{Project: p, Reading: reading(), New: tree("", map[string]string{"a.avsc": `"int"`, "b.avsc": `"int"`})})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Rule != RuleSubjectTwice || !strings.Contains(r.Findings[0].Why, "a.avsc") {
		t.Errorf("%v %v", lines(r), err)
	}
}

// TestLevels: transitive levels look at all versions, others at the newest;
// nearer settings win.
func TestLevels(t *testing.T) {
	version := func(text string) Old {
		return Old{Label: text, Schema: schema.Resolved{Type: schema.Avro, Text: text}}
	}
	h := Fixed{version(avroRecord(fieldA)), version(avroRecord(fieldA + `,{"name": "b", "type": "int", "default": 0}`))}
	next := tree("", map[string]string{"a.avsc": avroRecord(fieldA + "," + fieldB)})
	for _, tc := range []struct {
		flag, rule, all string
		ok              bool
	}{
		{"", "", "", true}, {"BACKWARD_TRANSITIVE", "NONE", "NONE", false}, {"", "FULL_TRANSITIVE", "NONE", false}, {"", "", "BACKWARD_TRANSITIVE", false},
		{"FORWARD_TRANSITIVE", "", "", true}, {"NONE", "", "FULL_TRANSITIVE", true}, {"FULL", "", "", true}, {"FORWARD", "", "", true},
	} {
		p := project(t, Project{Level: tc.all, Subjects: []SubjectRule{{Files: "*", Level: tc.rule}}})
		r, err := Run(t.Context(), Options{Project: p, Reading: reading(), New: next, History: h, Level: tc.flag})
		if err != nil || r.Failed() == tc.ok {
			t.Errorf("%+v: %v %v", tc, lines(r), err)
		}
	}
}

type failing struct{ Fixed }

func (failing) Settings(context.Context, string) (string, string, error) {
	return "", "", errors.New("down")
}

func TestHistoryFails(t *testing.T) {
	o := Options{Project: &Project{}, Reading: reading(), New: tree("", map[string]string{"a.avsc": `"int"`}), History: failing{}}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "a: down") {
		t.Error(err)
	}
}

// TestResolve: references in the same folder, below roots, by full name, and in
// circles.
func TestResolve(t *testing.T) {
	files := tree("", map[string]string{
		"a.avsc": `"ref.B"`, "deep/b.avsc": `{"type": "fixed", "name": "B", "namespace": "ref", "size": 1}`,
		"s/c.json": `{"$ref": "d.json"}`, "s/d.json": `{}`, "d.json": `{"type": "string"}`,
		"p.proto": `import "x/y.proto";`, "root/x/y.proto": `import "z.proto";`, "root/z.proto": "",
		"circle.proto": `import "circle2.proto";`, "circle2.proto": `import "circle.proto";`,
	})
	l := newLibrary(files, reading(), []string{"root"})
	for _, tc := range []struct {
		file, want string
		format     schema.Type
	}{
		{"a.avsc", "ref.B=deep/b.avsc", schema.Avro}, {"s/c.json", "d.json=s/d.json", schema.JSON},
		{"p.proto", "z.proto=root/z.proto x/y.proto=root/x/y.proto", schema.Protobuf},
	} {
		r, err := l.resolve(tc.file, tc.format)
		var got []string
		for _, d := range r.Dependencies {
			for name, text := range files.Files {
				if text == d.Text {
					got = append(got, d.Name+"="+name)
				}
			}
		}
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v %v, want %s", tc.file, got, err, tc.want)
		}
	}
	if _, err := l.resolve("circle.proto", schema.Protobuf); !errors.Is(err, errCircle) {
		t.Error(err)
	}
}

// repository makes a git repository of files, committed.
func repository(t testing.TB, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the command git is missing")
	}
	dir := t.TempDir()
	for name, text := range files {
		write(t, dir, name, text)
	}
	for _, args := range [][]string{
		{"init", "-q", "."}, {"add", "."},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "first"},
	} {
		if _, err := git(t.Context(), dir, nil, args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestGit reads a folder of a revision, with its own paths.
func TestGit(t *testing.T) {
	dir := repository(t, map[string]string{"s/ä b.avsc": "1\n", "s/deep/x.proto": "", "other.avsc": "2", "s/no.txt": "3"})
	write(t, dir, "s/ä b.avsc", "changed")
	got, err := Git(t.Context(), filepath.Join(dir, "s"), "HEAD")
	if err != nil || len(got.Files) != 2 || got.Files["ä b.avsc"] != "1\n" || got.Files["deep/x.proto"] != "" {
		t.Errorf("%q %v", got.Files, err)
	}
	for _, revision := range []string{"", "--help", "nope"} {
		if _, err := Git(t.Context(), dir, revision); err == nil {
			t.Errorf("%q is a revision", revision)
		}
	}
	if _, err := Git(t.Context(), t.TempDir(), "HEAD"); err == nil {
		t.Error("a folder without git")
	}
	now, err := Folder(filepath.Join(dir, "s"))
	if err != nil || len(now.Files) != 2 || now.Files["ä b.avsc"] != "changed" {
		t.Errorf("%v %v", now, err)
	}
}

// TestThousand: a folder of 1,000 schemas against git takes less than two
// seconds, with room for a busy machine.
func TestThousand(t *testing.T) {
	files := map[string]string{}
	for i := range 1000 {
		fields := []string{`{"name": "common", "type": "ref.Common"}`}
		for f := range 20 {
			fields = append(fields, fmt.Sprintf(`{"name": "f%d", "type": ["null", "string"], "default": null}`, f))
		}
		files[fmt.Sprintf("s/%d/value.avsc", i)] = avroRecord(strings.Join(fields, ",\n"))
	}
	files["s/common.avsc"] = `{"type": "record", "name": "Common", "namespace": "ref", "fields": []}`
	dir := repository(t, files)
	write(t, dir, "s/500/value.avsc", avroRecord(fieldA))
	start := time.Now()
	next, err := Folder(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	old, err := Git(t.Context(), filepath.Join(dir, "s"), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewTrees(&Project{}, reading(), []*Tree{old})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Options{Project: &Project{}, Reading: reading(), New: next, History: h})
	if err != nil || len(r.Subjects) != 1001 || len(r.Findings) != 1 || r.Findings[0].Subject != "500/value" {
		t.Fatalf("%d subjects, %d findings, %v", len(r.Subjects), len(r.Findings), err)
	}
	took := time.Since(start)
	t.Logf("1,001 schemas against git in %v", took)
	if took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
