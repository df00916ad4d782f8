package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// frameMax is how many characters of a line a frame shows, and contextLines how
// many lines before the one that is meant.
const (
	frameMax     = 110
	contextLines = 1
)

func writeText(w io.Writer, r *Report) error {
	var b strings.Builder
	for i := range r.Findings {
		r.Findings[i].text(&b)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	b.WriteString(r.summary() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (f *Finding) text(b *strings.Builder) {
	word := string(f.Severity)
	if f.Waiver != nil {
		word = "waived"
	}
	fmt.Fprintf(b, "%s: %s: %s\n", f.New.at(), word, f.headline())
	if f.Level != "" {
		who := "the new schema can't read data of " + f.Version
		if f.Direction == "FORWARD" {
			who = f.Version + " can't read data of the new schema"
		}
		fmt.Fprintf(b, "  %s must be %s compatible: %s\n", f.Subject, f.Level, who)
	}
	frame(b, "new", f.New, f.NewText)
	frame(b, "old", f.Old, f.OldText)
	fmt.Fprintf(b, "  why: %s\n", f.Why)
	if f.Fix != "" {
		fmt.Fprintf(b, "  fix: %s\n", f.Fix)
	}
	if f.Waiver != nil {
		fmt.Fprintf(b, "  waived until %s: %s\n", f.Waiver.Expires, f.Waiver.Reason)
	}
	b.WriteString("\n")
}

func (p Place) at() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// frame shows the line of a place with a mark under it. Where nothing stands
// there, the line is not shown but for the new text, where something is missing.
func frame(b *strings.Builder, word string, p Place, text string) {
	if p.Line == 0 || p.Value == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if p.Line > len(lines) {
		return
	}
	fmt.Fprintf(b, "  %s %s\n", word, p.at())
	for n := max(p.Line-contextLines, 1); n < p.Line; n++ {
		shown, _ := window(lines[n-1], 0)
		fmt.Fprintf(b, "  %5d | %s\n", n, shown)
	}
	shown, mark := window(lines[p.Line-1], p.Column-1)
	fmt.Fprintf(b, "  %5d | %s\n        | %s^\n", p.Line, shown, strings.Repeat(" ", mark))
}

// window cuts a line around a byte offset and returns how many characters stand
// before it.
func window(line string, offset int) (string, int) {
	line = strings.TrimRight(strings.ReplaceAll(line, "\t", " "), "\r")
	offset = min(max(offset, 0), len(line))
	start := 0
	if offset > frameMax/2 && len(line) > frameMax {
		for start = offset - frameMax/2; start > 0 && !utf8.RuneStart(line[start]); start-- {
		}
	}
	end := min(start+frameMax, len(line))
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	before, after := "", ""
	if start > 0 {
		before = "…"
	}
	if end < len(line) {
		after = "…"
	}
	return before + line[start:end] + after, utf8.RuneCountInString(before + line[start:offset])
}

func writeJSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Compatible bool   `json:"ok"`
		Summary    string `json:"summary"`
		*Report
	}{!r.Failed(), r.summary(), r})
}
