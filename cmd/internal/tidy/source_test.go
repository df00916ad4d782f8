package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fileLinesMax is the size above which a hand-written file has to say in its
// first lines why it is one idea ("One file because …").
const fileLinesMax = 500

// functionLinesMax is the size that no new function may exceed. Longer ones
// are listed in functionAllowance with the lines they have; that number may
// only go down.
const functionLinesMax = 90

// sources returns the hand-written Go files of the module, relative to its root.
func sources(t *testing.T) (root string, files []string) {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".pb.go") {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files = append(files, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return root, files
}

// banned are patterns that hand-written code must not contain, with what to do
// instead. Each is split so that this file doesn't match itself.
func banned() map[*regexp.Regexp]string {
	return map[*regexp.Regexp]string{
		regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`):   "finish it, or write down the limit as a fact",
		regexp.MustCompile(`(?m)^func in` + `it\(\)`):               "build it in a constructor",
		regexp.MustCompile(`\blog\.(Print|Fatal|Panic)`):            "use the injected slog.Logger",
		regexp.MustCompile(`errors\.New\("(failed|unable|cannot) `): "say the operation, lower case",
	}
}

func TestBannedWords(t *testing.T) {
	root, files := sources(t)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			t.Fatal(err)
		}
		for re, instead := range banned() {
			if loc := re.FindIndex(text); loc != nil {
				t.Errorf("%s:%d: %q: %s", f, 1+bytes.Count(text[:loc[0]], []byte("\n")), text[loc[0]:loc[1]], instead)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	root, files := sources(t)
	fset := token.NewFileSet()
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(fset, filepath.Join(root, f), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		lines := fset.Position(parsed.End()).Line
		if lines > fileLinesMax && !strings.Contains(parsed.Comments[0].Text()+headerOf(parsed), "One file because") {
			t.Errorf("%s: %d lines, more than %d: split it or say why (\"One file because …\")", f, lines, fileLinesMax)
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			name := fmt.Sprintf("%s %s", f, fn.Name.Name)
			allowed := functionLinesMax
			if a, ok := functionAllowance()[name]; ok {
				allowed = a
			}
			if n > allowed {
				t.Errorf("%s: %d lines, more than %d", name, n, allowed)
			}
		}
	}
}

func headerOf(f *ast.File) string {
	if f.Doc == nil {
		return ""
	}
	return f.Doc.Text()
}

// TestPackageComments wants a package comment in every package.
func TestPackageComments(t *testing.T) {
	root, files := sources(t)
	documented := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(f)
		documented[dir] = documented[dir] || parsed.Doc != nil
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s: no package comment", dir)
		}
	}
}
