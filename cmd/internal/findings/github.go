package findings

import (
	"fmt"
	"io"
	"strings"
)

// writeGitHub writes the workflow commands of GitHub Actions that annotate
// files, and the summary.
func writeGitHub(w io.Writer, r *Report) error {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for i := range r.Findings {
		f := &r.Findings[i]
		command := string(f.Severity)
		text := f.Why
		if f.Fix != "" {
			text += "\nFix: " + f.Fix
		}
		if f.Waiver != nil {
			command = "notice"
			text += "\nWaived until " + f.Waiver.Expires + ": " + f.Waiver.Reason
		}
		fmt.Fprintf(&b, "::%s file=%s", command, property.Replace(f.New.File))
		if f.New.Line > 0 {
			fmt.Fprintf(&b, ",line=%d,col=%d", f.New.Line, f.New.Column)
		}
		fmt.Fprintf(&b, ",title=%s::%s\n", property.Replace(f.headline()), value.Replace(text))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "::notice::%s\n", value.Replace(n))
	}
	b.WriteString(r.summary() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMarkdown writes a comment for a merge request.
func writeMarkdown(w io.Writer, r *Report) error {
	cell := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", ">", "&gt;")
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + strings.NewReplacer("`", "'", "|", `\|`, "\n", " ").Replace(s) + "`"
	}
	var b strings.Builder
	title := "Schemas are fine"
	if r.Failed() {
		title = "Schemas need a change"
	}
	fmt.Fprintf(&b, "### %s\n\n%s\n", title, r.summary())
	if len(r.Findings) > 0 {
		b.WriteString("\n| | Where | Rule | Was | Is | Why | Fix |\n|---|---|---|---|---|---|---|\n")
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		word, fix := string(f.Severity), f.Fix
		if f.Waiver != nil {
			word, fix = "waived", "waived until "+f.Waiver.Expires+": "+f.Waiver.Reason
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", word, code(f.New.at()), code(f.Rule),
			code(f.Old.Value), code(f.New.Value), cell.Replace(f.Why), cell.Replace(fix))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", cell.Replace(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
