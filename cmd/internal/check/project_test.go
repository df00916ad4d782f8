package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSubject(t *testing.T) {
	for _, tc := range []struct{ files, subject, file, want string }{
		{"{topic}/value.avsc", "{topic}-value", "orders/value.avsc", "orders-value"},
		{"{topic}/value.avsc", "{topic}-value", "a/orders/value.avsc", "a/orders/value"},
		{"**/{topic}-{kind}.avsc", "{topic}-{kind}", "x/y/orders-key.avsc", "orders-key"},
		{"**/{topic}-{kind}.avsc", "{topic}-{kind}", "orders-key.avsc", "orders-key"},
		{"proto/**", "", "proto/a/b.proto", "proto/a/b"},
		{"*.json", "j", "a.json", "j"},
		{"a+b.json", "j", "aab.json", "aab"},
		{"", "", "x.schema.json", "x"},
	} {
		p := &Project{}
		if tc.files != "" {
			p.Subjects = []SubjectRule{{Files: tc.files, Subject: tc.subject}}
		}
		if err := p.Prepare(); err != nil {
			t.Fatal(err)
		}
		if got, _ := p.Subject(tc.file); got != tc.want {
			t.Errorf("%s by %s: %s, want %s", tc.file, tc.files, got, tc.want)
		}
	}
	for _, bad := range []string{"", "a", "=x", "a="} {
		if _, err := ParseSubjectRule(bad); err == nil {
			t.Errorf("%q is a rule", bad)
		}
	}
}

// TestProjectFaults: each fault is an error that names it.
func TestProjectFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), ProjectFile)
	for text, want := range map[string]string{
		"levle: FULL": "levle", "level: SIDEWAYS": "SIDEWAYS", "policy: SOFT": "SOFT",
		"subjects: [{subject: a}]": "files is missing", "subjects: [{files: '{'}]": "want {name}", "subjects: [{files: a, format: XML}]": "XML",
		"subjects: [{files: a, level: X}]":                                     "subjects[0]",
		"waivers: [{subject: a, rule: b}]":                                     "reason and expires",
		"waivers: [{subject: a, rule: b, reason: ' ', expires: 2026-01-01}]":   "reason and expires",
		"waivers: [{subject: a, rule: b, reason: c, expires: tomorrow}]":       "no date",
		"waivers: [{subject: '[', rule: b, reason: c, expires: '2026-01-01'}]": "waivers[0]",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadProject(file, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadProject(file, true); err != nil {
		t.Errorf("empty: %v", err)
	}
	if _, err := LoadProject(file+"x", false); err != nil {
		t.Error(err)
	}
	if _, err := LoadProject(file+"x", true); err == nil {
		t.Error("a file that must exist and doesn't")
	}
	for lint, want := range map[string]string{"NOPE": "no rule", "doc": "none of off"} {
		if err := (&Project{Lint: map[string]string{lint: "loud"}}).SetLint(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", lint, err)
		}
	}
}
