package check

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"milena/serde/schema"
)

// Reading is what is known of schema texts without parsing them.
type Reading struct {
	// Tell returns the format of a file by name and text.
	Tell func(name, text string) (schema.Type, error)
	// Names returns the names by which a text refers to others, each a list of
	// alternatives.
	Names func(format schema.Type, text string) [][]string
	// Defines returns the names by which others refer to a text, but for those
	// that are paths.
	Defines func(format schema.Type, text string) []string
}

// dependenciesMax bounds the schemas that one refers to.
const dependenciesMax = 1_000

// errCircle says that schemas refer to each other.
var errCircle = errors.New("refers to itself in a circle")

// library finds files of a tree by the names that others have for them. It is
// immutable once made.
type library struct {
	tree    *Tree
	reading Reading
	roots   []string
	index   map[schema.Type]map[string]string // files by defined name
	suffix  map[string]string                 // the first file in order by each end of its path
}

func newLibrary(tree *Tree, reading Reading, roots []string) *library {
	l := &library{tree: tree, reading: reading, roots: roots, index: map[schema.Type]map[string]string{}, suffix: map[string]string{}}
	for _, file := range tree.Names() {
		text := tree.Files[file]
		for end := file; ; {
			if _, ok := l.suffix[end]; !ok {
				l.suffix[end] = file
			}
			_, after, ok := strings.Cut(end, "/")
			if !ok {
				break
			}
			end = after
		}
		format := l.format(file)
		if format == "" {
			continue
		}
		if l.index[format] == nil {
			l.index[format] = map[string]string{}
		}
		stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
		for _, name := range reading.Defines(format, text) {
			// A type is often repeated inside of those that use it; the file named
			// after it is meant.
			if _, ok := l.index[format][name]; !ok || stem == name || strings.HasSuffix(name, "."+stem) {
				l.index[format][name] = file
			}
		}
	}
	return l
}

// format returns the format of a file, "" if it can't be told.
func (l *library) format(file string) schema.Type {
	format, err := l.reading.Tell(file, l.tree.Files[file])
	if err != nil {
		return ""
	}
	return format
}

// file returns the file behind a name that a file uses, "" if there is none.
func (l *library) file(format schema.Type, from, name string) string {
	if f, ok := l.index[format][name]; ok && f != from {
		return f
	}
	if format == schema.Avro {
		return ""
	}
	places := []string{name}
	for _, root := range l.roots {
		places = append(places, path.Join(root, name))
	}
	if format == schema.JSON {
		places = append([]string{path.Join(path.Dir(from), name)}, places...)
	}
	for _, p := range places {
		if _, ok := l.tree.Files[path.Clean(p)]; ok {
			return path.Clean(p)
		}
	}
	if f, ok := l.suffix[path.Clean(name)]; ok && f != from {
		return f
	}
	return ""
}

// resolve returns the schema of a file with all it refers to in the tree.
func (l *library) resolve(file string, format schema.Type) (schema.Resolved, error) {
	out := schema.Resolved{Type: format, Text: l.tree.Files[file]}
	state := map[string]bool{} // names: false while they are looked at
	var visit func(from string) error
	visit = func(from string) error {
		for _, alternatives := range l.reading.Names(format, l.tree.Files[from]) {
			i := slices.IndexFunc(alternatives, func(name string) bool { return l.file(format, from, name) != "" })
			if i < 0 {
				continue // the parser says what is missing
			}
			name := alternatives[i]
			target := l.file(format, from, name)
			if done, seen := state[name]; seen {
				if !done {
					return fmt.Errorf("%s %w", name, errCircle)
				}
				continue
			}
			if len(state) >= dependenciesMax {
				return fmt.Errorf("it refers to more than %d schemas", dependenciesMax)
			}
			state[name] = false
			if err := visit(target); err != nil {
				return err
			}
			state[name] = true
			out.Dependencies = append(out.Dependencies, schema.Dependency{Name: name, Text: l.tree.Files[target]})
		}
		return nil
	}
	return out, visit(file)
}
