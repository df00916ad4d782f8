package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestExit(t *testing.T) {
	inner := errors.New("first\nsecond")
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{nil, OK, ""},
		{inner, Usage, "p: first; second\n"},
		{fmt.Errorf("while: %w", inner), Usage, "p: while: first; second\n"},
		{Refused(inner, "do this"), No, "p: first\n  second\n  do this\n"},
		{Unusable(inner, ""), Usage, "p: first\n  second\n"},
		{fmt.Errorf("more: %w", Refused(inner, "do this")), No, "p: more: first\n  second\n  do this\n"},
		{Said(), No, ""},
	} {
		var b strings.Builder
		Print(&b, "p", c.err)
		if ExitCode(c.err) != c.code || b.String() != c.text {
			t.Errorf("%v: %d %q, want %d %q", c.err, ExitCode(c.err), b.String(), c.code, c.text)
		}
	}
	if !errors.Is(Refused(inner, ""), inner) {
		t.Error("the error inside is lost")
	}
}

func TestTable(t *testing.T) {
	type row struct {
		Name string `json:"name"`
		N    int    `json:"n"`
	}
	rows := []row{{"grün <&>", 1}, {"b", 200}}
	for _, c := range []struct {
		json bool
		rows []row
		want string
	}{
		{false, rows, "NAME      N\ngrün <&>  1\nb         200\n"},
		{true, rows, "[\n  {\n    \"name\": \"grün <&>\",\n    \"n\": 1\n  },\n  {\n    \"name\": \"b\",\n    \"n\": 200\n  }\n]\n"},
		{false, nil, "nothing\n"},
		{true, nil, "[]\n"},
		{true, []row{{`a\u003cb`, 1}}, "[\n  {\n    \"name\": \"a\\\\u003cb\",\n    \"n\": 1\n  }\n]\n"},
	} {
		var b strings.Builder
		out := &Output{W: &b, JSON: c.json}
		table := out.Table("NAME", "N")
		for _, r := range c.rows {
			if err := table.Row(r, r.Name, fmt.Sprint(r.N)); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Close("nothing"); err != nil || b.String() != c.want {
			t.Errorf("got\n%s, %v; want\n%s", b.String(), err, c.want)
		}
	}
}

// TestTableFlows: rows leave before the table ends.
func TestTableFlows(t *testing.T) {
	var b strings.Builder
	table := (&Output{W: &b}).Table("A", "B")
	for i := range 2 * tableRowsMax {
		if err := table.Row(nil, fmt.Sprint(i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(b.String(), "\n"); n != 2*tableRowsMax+1 {
		t.Errorf("%d lines before the end", n)
	}
	if err := table.Close(""); err != nil || !strings.HasPrefix(b.String(), "A    B\n0    x\n") || !strings.HasSuffix(b.String(), "1999  x\n") {
		t.Errorf("%.20q … %q", b.String(), b.String()[b.Len()-20:])
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestOutputFails(t *testing.T) {
	for _, isJSON := range []bool{false, true} {
		out := &Output{W: broken{}, JSON: isJSON}
		if err := out.Value(1, "x"); err == nil {
			t.Error("a value was written")
		}
		table := out.Table("A")
		if err := errors.Join(table.Row(1, "x"), table.Close("")); err == nil {
			t.Error("a table was written")
		}
	}
	if _, err := ParseFormat("yaml"); err == nil {
		t.Error("a format that is none")
	}
}

func TestProgress(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var b strings.Builder
		now := time.Unix(0, 0)
		p := &Progress{W: &b, Terminal: terminal, Clock: func() time.Time { return now }}
		for i := range 21 {
			p.Update(func() string { return fmt.Sprint(i) })
			now = now.Add(time.Second)
		}
		p.Done()
		got := b.String()
		if terminal && (strings.Count(got, "\r") != 21 || strings.Contains(got, "\n") || !strings.HasSuffix(got, "\r\x1b[K")) {
			t.Errorf("terminal: %q", got)
		}
		if !terminal && got != "10\n20\n" {
			t.Errorf("log: %q", got)
		}
	}
	if IsTerminal(&strings.Builder{}) {
		t.Error("a builder is no terminal")
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 30: "3.0 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
