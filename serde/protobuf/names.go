package protobuf

import (
	"slices"
	"strings"
)

// Definition is a named type that schemas can refer to.
type Definition struct {
	// Name is the full name without a leading dot.
	Name string
	// Message or Enum is the type; the other one is nil.
	Message *Message
	Enum    *Enum
	// File is the file that defines it.
	File *File
}

// LocalName returns the name without the package.
func (d *Definition) LocalName() string {
	if d.File.Package == "" {
		return d.Name
	}
	return strings.TrimPrefix(d.Name, d.File.Package+".")
}

// extension is a field that some extend declares.
type extension struct {
	name  string   // full name
	scope []string // that its type is resolved in
	field *Field
}

// node is one name in the tree of names: a package, a type or an extension.
type node struct {
	kids map[string]*node
	def  *Definition
	ext  *extension
}

func (n *node) kid(name string) *node {
	if n == nil {
		return nil
	}
	return n.kids[name]
}

// walk returns what a path leads to, or nil.
func (n *node) walk(path []string) *node {
	for _, s := range path {
		if n = n.kid(s); n == nil {
			return nil
		}
	}
	return n
}

func (n *node) grow(path []string) *node {
	for _, s := range path {
		next := n.kids[s]
		if next == nil {
			next = &node{}
			if n.kids == nil {
				n.kids = map[string]*node{}
			}
			n.kids[s] = next
		}
		n = next
	}
	return n
}

// splitName returns the parts of a name. A name without any has none.
func splitName(name string) []string {
	if name == "" {
		return nil
	}
	return strings.Split(name, ".")
}

// add enters the types and extensions of a file. What is entered first stays.
func (n *node) add(f *File) {
	pkg := splitName(f.Package)
	top := n.grow(pkg)
	top.addTypes(f, pkg, f.Messages, f.Enums)
	top.addExtends(pkg, f.Extends)
}

func (n *node) addTypes(f *File, scope []string, messages []*Message, enums []*Enum) {
	for _, m := range messages {
		path := splitName(m.Name)
		inner := slices.Concat(scope, path)
		to := n.grow(path)
		if to.def == nil {
			to.def = &Definition{Name: strings.Join(inner, "."), Message: m, File: f}
		}
		to.addTypes(f, inner, m.Messages, m.Enums)
		to.addExtends(inner, m.Extends)
	}
	for _, e := range enums {
		path := splitName(e.Name)
		if to := n.grow(path); to.def == nil {
			to.def = &Definition{Name: strings.Join(slices.Concat(scope, path), "."), Enum: e, File: f}
		}
	}
}

func (n *node) addExtends(scope []string, extends []*Extend) {
	for _, x := range extends {
		for _, f := range x.Fields {
			path := splitName(f.Name)
			if to := n.grow(path); to.ext == nil {
				to.ext = &extension{name: strings.Join(slices.Concat(scope, path), "."), scope: scope, field: f}
			}
		}
	}
}

// stepsMax bounds the look-ups of one walk over a schema.
const stepsMax = 20_000_000

// names finds types and extensions for one schema: in its own file, in the
// files that it refers to, and in the built-in ones, imported or not.
type names struct {
	own     *node
	builtin *node
	hidden  map[*File]bool // built-in files that a reference replaces
}

func newNames(own *File, deps []dependency) *names {
	n := &names{own: &node{}, builtin: builtIns().names}
	n.own.add(own)
	for _, d := range deps {
		n.own.add(d.file)
		if f := builtIns().files[d.name]; f != nil {
			if n.hidden == nil {
				n.hidden = map[*File]bool{}
			}
			n.hidden[f] = true
		}
	}
	return n
}

// level is one scope in both trees; either may be nil.
type level struct{ own, builtin *node }

// scopes is where a look-up starts: the root, then every scope down to the
// innermost.
type scopes struct {
	names  *names
	levels []level
	steps  int
	used   map[*File]bool // where definitions were found
}

func (n *names) in(path []string) *scopes {
	s := &scopes{names: n, levels: []level{{n.own, n.builtin}}}
	for _, p := range path {
		s.enter(p)
	}
	return s
}

// enter goes down into a scope of one name; leave comes back.
func (s *scopes) enter(name string) int {
	depth := len(s.levels)
	top := s.levels[depth-1]
	for _, p := range splitName(name) {
		top = level{top.own.kid(p), top.builtin.kid(p)}
		s.levels = append(s.levels, top)
	}
	return depth
}

func (s *scopes) leave(depth int) { s.levels = s.levels[:depth] }

// spent reports whether look-ups have cost too much.
func (s *scopes) spent() bool { return s.steps > stepsMax }

// find goes from the innermost scope outward until a name, taken whole, leads
// to something that is wanted. A leading dot starts at the root.
func (s *scopes) find(name string, wanted func(*node) bool) *node {
	from := len(s.levels) - 1
	if strings.HasPrefix(name, ".") {
		name, from = name[1:], 0
	}
	path := splitName(name)
	for i := from; i >= 0 && !s.spent(); i-- {
		s.steps += len(path) + 1
		if n := s.levels[i].own.walk(path); n != nil && wanted(n) {
			return n
		}
		if n := s.levels[i].builtin.walk(path); n != nil && wanted(n) && !s.isHidden(n) {
			return n
		}
	}
	return nil
}

func (s *scopes) isHidden(n *node) bool {
	return n.def != nil && s.names.hidden[n.def.File]
}

func (s *scopes) definition(name string) *Definition {
	n := s.find(name, func(n *node) bool { return n.def != nil })
	if n == nil {
		return nil
	}
	if s.used != nil {
		s.used[n.def.File] = true
	}
	return n.def
}

func (s *scopes) extension(name string) *extension {
	if n := s.find(name, func(n *node) bool { return n.ext != nil }); n != nil {
		return n.ext
	}
	return nil
}

// message returns the definition of the message that a field's type means in a
// scope, or nil.
func (n *names) message(scope []string, t Type) *Definition {
	if t.IsMap() || isScalar(t.Name) {
		return nil
	}
	if d := n.in(scope).definition(t.Name); d != nil && d.Message != nil {
		return d
	}
	return nil
}
