package findings

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"regexp"
	"strings"
	"testing"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// failing is a report with one finding that counts, one that is waived, a
// warning, and characters that need care in every form.
func failing() *Report {
	text := "{\n\t\"ä\": 1, \"type\": \"string\"\n}"
	return &Report{
		Command: "check", Against: "git:main",
		Subjects: []Subject{
			{Name: "orders-value", File: "s/or ders,1%.avsc", Level: "FULL", Outcome: "incompatible", Versions: []string{"main:s"}},
			{Name: "fine", File: "fine.avsc", Level: "FULL", Outcome: "compatible"},
			{Name: "other", File: "other.avsc", Level: "BACKWARD", Outcome: "waived"},
		},
		Findings: []Finding{
			{
				Rule: "avro/TYPE_MISMATCH", Severity: Error, Subject: "orders-value", Level: "FULL", Direction: "FORWARD", Version: "main:s",
				Path: "/fields/0/type", Name: "a|b", New: Place{"s/or ders,1%.avsc", 2, 11, `"string"`}, Old: Place{"main:s", 1, 1, `"int"`},
				NewText: text, OldText: `"int"`, Why: "It was\n\"int\" <&>\x01.", Fix: "100% `this`, or: that",
			},
			{Rule: "avro/TYPE_MISMATCH", Severity: Error, Subject: "other", New: Place{File: "other.avsc"}, Why: "No.", Waiver: &Waiver{"soon gone", "2999-01-31"}},
			{Rule: "lint/DOC", Severity: Warning, Subject: "fine", New: Place{File: "fine.avsc"}, Why: "No doc.", Fix: "add one"},
		},
		Notes: []string{"a remark"},
	}
}

func written(t *testing.T, form string, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, form, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSARIF validates by the rules of SARIF 2.1.0, and looks at what is said.
func TestSARIF(t *testing.T) {
	f, err := os.Open("testdata/sarif.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rules, err := santhosh.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := santhosh.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif", rules); err != nil {
		t.Fatal(err)
	}
	valid, err := c.Compile("sarif")
	if err != nil {
		t.Fatal(err)
	}
	text := written(t, "sarif", failing())
	for name, text := range map[string]string{"failing": text, "empty": written(t, "sarif", &Report{Command: "check"})} {
		doc, err := santhosh.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := valid.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The schema must be able to say no.
	doc, err := santhosh.UnmarshalJSON(strings.NewReader(strings.Replace(text, `"startLine": 2`, `"startLine": 0`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if valid.Validate(doc) == nil {
		t.Error("line 0 is valid")
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	results, driver := log.Runs[0].Results, log.Runs[0].Tool.Driver
	if len(results) != 3 || len(driver.Rules) != 2 || driver.Rules[results[2].RuleIndex].ID != "lint/DOC" {
		t.Errorf("%d results, rules %v", len(results), driver.Rules)
	}
	// Columns are in characters: "ä" is one.
	if r := results[0].Locations[0].Physical.Region; r.StartLine != 2 || r.StartColumn != 10 {
		t.Errorf("region %v", r)
	}
	if len(results[0].Suppressions) != 0 || len(results[1].Suppressions) != 1 || results[2].Level != "warning" {
		t.Errorf("%v", results)
	}
}

// TestJUnit reads the report as its consumers do, with types of its own.
func TestJUnit(t *testing.T) {
	var got struct {
		XMLName  xml.Name `xml:"testsuites"`
		Failures int      `xml:"failures,attr"`
		Suites   []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Name     string `xml:"name,attr"`
				Class    string `xml:"classname,attr"`
				Failures []struct {
					Message string `xml:"message,attr"`
					Type    string `xml:"type,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Out string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	dec := xml.NewDecoder(strings.NewReader(written(t, "junit", failing())))
	dec.Strict = true
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Failures != 1 || len(got.Suites) != 1 || got.Suites[0].Tests != 3 || got.Suites[0].Failures != 1 || len(got.Suites[0].Cases) != 3 {
		t.Fatalf("%+v", got)
	}
	cases := got.Suites[0].Cases
	if len(cases[0].Failures) != 1 || cases[0].Failures[0].Type != "avro/TYPE_MISMATCH" || !strings.Contains(cases[0].Failures[0].Text, "fix: 100% `this`") {
		t.Errorf("%+v", cases[0])
	}
	if len(cases[1].Failures)+len(cases[2].Failures) != 0 || !strings.Contains(cases[2].Out, "soon gone") || !strings.Contains(cases[1].Out, "No doc.") {
		t.Errorf("%+v", cases[1:])
	}
}

// TestGitHub reads workflow commands as the runner does: properties up to the
// second "::", then the message, with escapes.
func TestGitHub(t *testing.T) {
	command := regexp.MustCompile(`^::(error|warning|notice)( [^:]*)?::(.*)$`)
	unescape := strings.NewReplacer("%0A", "\n", "%0D", "\r", "%3A", ":", "%2C", ",", "%25", "%")
	var got []map[string]string
	for line := range strings.Lines(written(t, "github", failing())) {
		m := command.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		annotation := map[string]string{"": m[1], "text": unescape.Replace(m[3])}
		for p := range strings.SplitSeq(strings.TrimSpace(m[2]), ",") {
			key, value, _ := strings.Cut(p, "=")
			annotation[key] = unescape.Replace(value)
		}
		got = append(got, annotation)
	}
	if len(got) != 4 {
		t.Fatalf("%d annotations: %v", len(got), got)
	}
	a := got[0]
	if a[""] != "error" || a["file"] != "s/or ders,1%.avsc" || a["line"] != "2" || a["col"] != "11" || a["title"] != "avro/TYPE_MISMATCH a|b" ||
		a["text"] != "It was\n\"int\" <&>\x01.\nFix: 100% `this`, or: that" {
		t.Errorf("%q", a)
	}
	if got[1][""] != "notice" || got[2][""] != "warning" || got[3]["text"] != "a remark" {
		t.Errorf("%v", got[1:])
	}
}

func TestTextAndMarkdown(t *testing.T) {
	text := written(t, "text", failing())
	for _, want := range []string{
		"s/or ders,1%.avsc:2:11: error: avro/TYPE_MISMATCH a|b\n",
		"main:s can't read data of the new schema\n",
		"      2 |  \"ä\": 1, \"type\": \"string\"\n        |          ^\n",
		"other.avsc: waived: avro/TYPE_MISMATCH\n",
		"3 schemas checked, 1 finding, 1 warning, 1 waived\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	table := 0
	for line := range strings.Lines(written(t, "markdown", failing())) {
		if strings.HasPrefix(line, "|") {
			table++
			if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 8 {
				t.Errorf("%d bars in %s", n, line)
			}
		}
	}
	if table != 5 {
		t.Errorf("%d lines of the table", table)
	}
}

// TestWindow: long lines are cut around the place, at characters.
func TestWindow(t *testing.T) {
	line := strings.Repeat("ä", 200) + "X" + strings.Repeat("ö", 200)
	shown, mark := window(line, 400)
	if runes := []rune(shown); runes[mark] != 'X' || runes[0] != '…' || runes[len(runes)-1] != '…' {
		t.Errorf("%q at %d", shown, mark)
	}
	if shown, mark := window("abc", 99); shown != "abc" || mark != 3 {
		t.Errorf("%q at %d", shown, mark)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestForms(t *testing.T) {
	for _, form := range Forms() {
		if err := Write(broken{}, form, failing()); err == nil {
			t.Errorf("%s was written", form)
		}
		if Known(form) != nil {
			t.Errorf("%s is not known", form)
		}
	}
	if Write(&bytes.Buffer{}, "yaml", failing()) == nil {
		t.Error("a form that is none")
	}
	if (&Report{}).Failed() || !failing().Failed() {
		t.Error("failed")
	}
	ok := failing()
	ok.Findings = ok.Findings[1:]
	if ok.Failed() {
		t.Error("waived findings and warnings count")
	}
}
