package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Output is where a command writes its result.
type Output struct {
	W    io.Writer
	JSON bool // for programs, else for people
}

// ParseFormat reads the value of --output.
func ParseFormat(text string) (isJSON bool, err error) {
	switch text {
	case "text":
		return false, nil
	case "json":
		return true, nil
	}
	return false, fmt.Errorf("--output: %q is neither text nor json", text)
}

// Value writes v as JSON, or the text for people.
func (o *Output) Value(v any, text string) error {
	if o.JSON {
		return o.encode(v)
	}
	return o.Text(text)
}

func (o *Output) encode(v any) error {
	enc := json.NewEncoder(o.W)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// Text writes a text, with a line feed at its end if it has none.
func (o *Output) Text(text string) error {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if _, err := io.WriteString(o.W, text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// tableRowsMax is how many rows are held to find the columns' widths. Those of
// later rows may stick out.
const tableRowsMax = 1_000

// Table writes rows: aligned columns under their names for people, one JSON
// array for programs.
type Table struct {
	out     *Output
	widths  []int
	held    [][]string
	flowing bool
	rows    int
}

// Table begins a table with the columns' names.
func (o *Output) Table(columns ...string) *Table {
	return &Table{out: o, widths: make([]int, len(columns)), held: [][]string{columns}}
}

// Row adds a row: the value for programs, and the cells for people.
func (t *Table) Row(value any, cells ...string) error {
	t.rows++
	if t.out.JSON {
		return t.element(value)
	}
	if t.flowing {
		return t.write(cells)
	}
	if t.held = append(t.held, cells); len(t.held) > tableRowsMax {
		return t.flow()
	}
	return nil
}

// element writes an element of the array, each on lines of its own.
func (t *Table) element(value any) error {
	text, err := json.MarshalIndent(value, "  ", "  ")
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	before := ",\n  "
	if t.rows == 1 {
		before = "[\n  "
	}
	_, err = fmt.Fprintf(t.out.W, "%s%s", before, unescapeHTML(text))
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// unescapeHTML takes back what MarshalIndent does to three characters, which
// schema texts have and people read.
func unescapeHTML(text []byte) string {
	return strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

// flow writes the rows that are held; later ones are written at once.
func (t *Table) flow() error {
	for _, row := range t.held {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.held {
		if err := t.write(row); err != nil {
			return err
		}
	}
	t.held, t.flowing = nil, true
	return nil
}

func (t *Table) write(row []string) error {
	var b strings.Builder
	for i, cell := range row {
		b.WriteString(cell)
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", max(t.widths[i]-utf8.RuneCountInString(cell), 0)+2))
		}
	}
	return t.out.Text(strings.TrimRight(b.String(), " ") + "\n")
}

// Close ends the table. Without rows, people read the text instead.
func (t *Table) Close(none string) error {
	switch {
	case t.out.JSON && t.rows == 0:
		return t.out.Text("[]")
	case t.out.JSON:
		return t.out.Text("\n]\n")
	case t.rows == 0:
		return t.out.Text(none)
	case t.flowing:
		return nil
	}
	return t.flow()
}
