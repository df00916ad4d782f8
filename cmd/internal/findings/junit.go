package findings

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of a JUnit report, as the common consumers (Jenkins, GitLab)
// read them.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name     string         `xml:"name,attr"`
	Class    string         `xml:"classname,attr"`
	File     string         `xml:"file,attr,omitempty"`
	Failures []junitFailure `xml:"failure"`
	Out      string         `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit makes a test case of each schema. What does not count stands in
// its output.
func writeJUnit(w io.Writer, r *Report) error {
	suite := junitSuite{Name: "milena " + r.Command, Tests: len(r.Subjects)}
	for _, s := range r.Subjects {
		c := junitCase{Name: s.Name, Class: "milena." + r.Command, File: s.File}
		var out strings.Builder
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Subject != s.Name || f.New.File != s.File {
				continue
			}
			var text strings.Builder
			f.text(&text)
			if f.Counts() {
				c.Failures = append(c.Failures, junitFailure{Message: clean(f.headline() + ": " + f.Why), Type: f.Rule, Text: clean(text.String())})
			} else {
				out.WriteString(text.String())
			}
		}
		c.Out = clean(out.String())
		if len(c.Failures) > 0 {
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	suites := junitSuites{Name: suite.Name, Tests: suite.Tests, Failures: suite.Failures, Suites: []junitSuite{suite}}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suites); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// clean takes out what XML has no character for.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
