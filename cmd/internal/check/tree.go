package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of a tree of files.
const (
	filesMax     = 100_000
	fileBytesMax = 4 << 20
	treeBytesMax = 512 << 20
)

// ErrTooLarge says that a tree breaks the limits.
var ErrTooLarge = errors.New("too many or too large schema files")

// Tree holds the texts of schema files by path, with slashes, relative to a
// root.
type Tree struct {
	Label string // how messages call it, "" for the files being checked
	Files map[string]string
	bytes int
}

func newTree(label string) *Tree { return &Tree{Label: label, Files: map[string]string{}} }

// add takes a file in, within the limits.
func (t *Tree) add(name string, text []byte) error {
	t.bytes += len(text)
	if len(t.Files) >= filesMax || t.bytes > treeBytesMax || len(text) > fileBytesMax {
		return fmt.Errorf("%s: %w (limits: %d files, %d bytes each, %d bytes in all)", name, ErrTooLarge, filesMax, fileBytesMax, treeBytesMax)
	}
	t.Files[name] = string(text)
	return nil
}

// Names returns the paths in order.
func (t *Tree) Names() []string {
	names := make([]string, 0, len(t.Files))
	for name := range t.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// mayBeSchema reports whether a file's name is one of schemas. Plain .json may
// be anything; whether it counts is told by its text.
func mayBeSchema(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".avsc", ".proto", ".json", ".jsonschema":
		return true
	}
	return false
}

// Folder reads the schema files below a folder. Hidden folders and symbolic
// links are not followed.
func Folder(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it is only read
	t := newTree("")
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular() || !mayBeSchema(name):
			return nil
		}
		text, err := readFile(root, name)
		if err != nil {
			return err
		}
		return t.add(name, text)
	})
	if err != nil {
		return nil, fmt.Errorf("read folder %s: %w", dir, err)
	}
	return t, nil
}

func readFile(root *os.Root, name string) (text []byte, err error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	return io.ReadAll(io.LimitReader(f, fileBytesMax+1))
}
