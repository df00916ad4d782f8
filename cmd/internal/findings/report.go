package findings

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Severity says what a finding means for the exit code.
type Severity string

// The severities. Only errors make a check fail.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Place is a place in a file.
type Place struct {
	File   string `json:"file,omitempty"` // or what else the text is called, such as "version 3"
	Line   int    `json:"line,omitempty"` // 1-based; 0 if there is no place
	Column int    `json:"column,omitempty"`
	Value  string `json:"value,omitempty"` // what stands there, cut
}

// Waiver says why a finding does not count.
type Waiver struct {
	Reason  string `json:"reason"`
	Expires string `json:"expires"` // the last day, YYYY-MM-DD
}

// Finding is one thing that is wrong, and what would not be.
type Finding struct {
	Rule      string   `json:"rule"` // stable id
	Severity  Severity `json:"severity"`
	Subject   string   `json:"subject"`
	Level     string   `json:"level,omitempty"`
	Direction string   `json:"direction,omitempty"` // BACKWARD: the new schema can't read data of the old one; FORWARD: the other way round
	Version   string   `json:"version,omitempty"`   // compared with
	Path      string   `json:"path,omitempty"`
	Name      string   `json:"name,omitempty"`
	New       Place    `json:"new"`
	Old       Place    `json:"old"`
	Why       string   `json:"why"`
	Fix       string   `json:"fix,omitempty"`
	Message   string   `json:"message,omitempty"` // the reference's
	Waiver    *Waiver  `json:"waiver,omitempty"`
	// NewText and OldText are the texts that the places are in, for frames.
	NewText string `json:"-"`
	OldText string `json:"-"`
}

// Counts reports whether the finding makes a check fail.
func (f *Finding) Counts() bool { return f.Severity == Error && f.Waiver == nil }

// Subject is what became of one schema.
type Subject struct {
	Name     string   `json:"subject"`
	File     string   `json:"file"`
	Level    string   `json:"level,omitempty"`
	Outcome  string   `json:"outcome"` // compatible, incompatible, waived, new, invalid, ok
	Versions []string `json:"comparedWith,omitempty"`
}

// Report is the result of a check.
type Report struct {
	Command  string    `json:"command"` // check or lint
	Against  string    `json:"against,omitempty"`
	Subjects []Subject `json:"subjects"`
	Findings []Finding `json:"findings"`
	Notes    []string  `json:"notes,omitempty"` // remarks that are no findings
}

// Failed reports whether a finding counts.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Counts() })
}

// summary is one line about the whole.
func (r *Report) summary() string {
	failed, waived, warned := 0, 0, 0
	for i := range r.Findings {
		switch f := &r.Findings[i]; {
		case f.Counts():
			failed++
		case f.Waiver != nil:
			waived++
		default:
			warned++
		}
	}
	fresh := 0
	for i := range r.Subjects {
		if r.Subjects[i].Outcome == "new" {
			fresh++
		}
	}
	checked := count(len(r.Subjects), "schema", "schemas") + " checked"
	if fresh > 0 {
		checked += fmt.Sprintf(" (%d new)", fresh)
	}
	parts := []string{checked, count(failed, "finding", "findings")}
	if warned > 0 {
		parts = append(parts, count(warned, "warning", "warnings"))
	}
	if waived > 0 {
		parts = append(parts, fmt.Sprintf("%d waived", waived))
	}
	return strings.Join(parts, ", ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// forms is the table of forms.
func forms() []struct {
	name  string
	write func(io.Writer, *Report) error
} {
	return []struct {
		name  string
		write func(io.Writer, *Report) error
	}{
		{"text", writeText}, {"json", writeJSON}, {"junit", writeJUnit},
		{"sarif", writeSARIF}, {"github", writeGitHub}, {"markdown", writeMarkdown},
	}
}

// Forms returns the names of the forms.
func Forms() []string {
	var names []string
	for _, f := range forms() {
		names = append(names, f.name)
	}
	return names
}

// Known returns an error if there is no such form.
func Known(form string) error {
	if !slices.Contains(Forms(), form) {
		return fmt.Errorf("--format: %q is none of %s", form, strings.Join(Forms(), ", "))
	}
	return nil
}

// Write writes a report in a form, one of Forms.
func Write(w io.Writer, form string, r *Report) error {
	for _, f := range forms() {
		if f.name == form {
			if err := f.write(w, r); err != nil {
				return fmt.Errorf("write %s report: %w", form, err)
			}
			return nil
		}
	}
	return Known(form)
}

// headline is a finding in a few words.
func (f *Finding) headline() string {
	where := f.Path
	if where == "#/" || where == "/" {
		where = "" // the whole schema
	}
	if f.Name != "" {
		where = f.Name
	}
	return strings.TrimSpace(f.Rule + " " + where)
}
