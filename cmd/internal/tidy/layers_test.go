package tidy

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

type listed struct {
	ImportPath string
	Imports    []string
}

// list asks the go command for the packages of this module and their imports.
func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "milena/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// violations returns one line for each package or import that is not as the
// table wants it.
func violations(table [][]string, packages []listed) []string {
	row := map[string]int{}
	for i, names := range table {
		for _, n := range names {
			row["milena/"+n] = i
		}
	}
	var bad []string
	for _, p := range packages {
		r, ok := row[p.ImportPath]
		if !ok {
			bad = append(bad, p.ImportPath+" is in no row of the layer table")
			continue
		}
		for _, imported := range p.Imports {
			ri, known := row[imported]
			if !strings.HasPrefix(imported, "milena/") || !known {
				continue
			}
			within := strings.HasPrefix(p.ImportPath, "milena/cmd/") && strings.HasPrefix(imported, "milena/cmd/")
			if ri >= r && !within {
				bad = append(bad, p.ImportPath+" imports "+imported+", which is not in a lower row")
			}
		}
	}
	return bad
}

func TestLayers(t *testing.T) {
	packages := list(t)
	if len(packages) < 10 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	for _, v := range violations(Layers(), packages) {
		t.Error(v)
	}
	// A row that names no package is a row nobody keeps up to date.
	for _, names := range Layers() {
		for _, n := range names {
			if !slices.ContainsFunc(packages, func(p listed) bool { return p.ImportPath == "milena/"+n }) {
				t.Errorf("the layer table names %s, which does not exist", n)
			}
		}
	}
}

// TestViolations shows that the check can fail, for each thing it looks for.
func TestViolations(t *testing.T) {
	table := [][]string{{"a", "b"}, {"c"}, {"cmd/x", "cmd/y"}}
	for _, tc := range []struct {
		name string
		in   listed
		want int
	}{
		{"lower row", listed{"milena/c", []string{"milena/a", "fmt"}}, 0},
		{"same row", listed{"milena/a", []string{"milena/b"}}, 1},
		{"higher row", listed{"milena/a", []string{"milena/c"}}, 1},
		{"unlisted", listed{"milena/d", nil}, 1},
		{"within cmd", listed{"milena/cmd/x", []string{"milena/cmd/y", "milena/c"}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := violations(table, []listed{tc.in}); len(got) != tc.want {
				t.Errorf("got %d violations %q, want %d", len(got), got, tc.want)
			}
		})
	}
}
