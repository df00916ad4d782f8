package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"milena/serde/schema"
)

// suiteCase is a group of the JSON Schema test suite: a schema and documents.
type suiteCase struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// remotes returns the texts that the suite expects under localhost:1234.
func remotes(t *testing.T, dir string) []schema.Dependency {
	t.Helper()
	var deps []schema.Dependency
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if strings.HasPrefix(name, "v1") || strings.HasPrefix(name, "draft3") {
			return nil
		}
		text, err := os.ReadFile(path)
		deps = append(deps, schema.Dependency{Name: "http://localhost:1234/" + name, Text: string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return deps
}

// TestSuite runs the JSON Schema test suite. Every required case holds, those
// with remote texts too, which are given as references. What holds of the
// optional ones is only logged, and bounded from below.
func TestSuite(t *testing.T) {
	dir := shared(t, "corpus", "json-schema-test-suite")
	for _, d := range []struct {
		name     string
		draft    Draft
		optional int // cases that may fail
	}{
		{"draft4", Draft4, 28}, {"draft6", Draft6, 42}, {"draft7", Draft7, 135}, {"draft2019-09", Draft2019, 133}, {"draft2020-12", Draft2020, 133},
	} {
		t.Run(d.name, func(t *testing.T) {
			deps := remotes(t, filepath.Join(dir, "remotes"))
			passed, failed := 0, 0
			optional := map[string][2]int{}
			err := filepath.WalkDir(filepath.Join(dir, d.name), func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				name, _ := filepath.Rel(filepath.Join(dir, d.name), path)
				good, bad := runSuiteFile(t, path, deps, d.draft, strings.HasPrefix(name, "optional"))
				if strings.HasPrefix(name, "optional") {
					optional[filepath.ToSlash(name)] = [2]int{good, bad}
					failed += bad
				}
				passed += good
				return nil
			})
			if err != nil || passed == 0 {
				t.Fatalf("%d cases, %v", passed, err)
			}
			if failed > d.optional {
				t.Errorf("%d optional cases fail, at most %d are known to", failed, d.optional)
			}
			for name, n := range optional {
				if n[1] > 0 {
					t.Logf("%s: %d of %d fail", name, n[1], n[0]+n[1])
				}
			}
			t.Logf("%d cases hold", passed)
		})
	}
}

// runSuiteFile counts the cases of one file that hold and that don't. Those
// that must hold are errors if they don't.
func runSuiteFile(t *testing.T, path string, deps []schema.Dependency, draft Draft, optional bool) (good, bad int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteCase
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		r := schema.Resolved{Text: string(g.Schema)}
		if strings.Contains(r.Text, "localhost:1234") {
			r.Dependencies = deps
		}
		v, err := NewValidator(r, ValidatorOptions{
			Draft: draft, AssertFormat: strings.Contains(path, "optional"),
		})
		for _, c := range g.Tests {
			problem := ""
			if err != nil {
				problem = err.Error()
			} else {
				got := v.Validate(c.Data)
				var invalid *InvalidError
				if got != nil && !errors.As(got, &invalid) || (got == nil) != c.Valid {
					problem = fmt.Sprintf("%v, want valid %v", got, c.Valid)
				}
			}
			if problem == "" {
				good++
				continue
			}
			bad++
			if !optional {
				t.Errorf("%s: %s: %s: %s\n  %.300s", filepath.Base(path), g.Description, c.Description, problem, g.Schema)
			}
		}
	}
	return good, bad
}
