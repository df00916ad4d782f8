package jsonschema

import (
	"fmt"
	"strconv"
	"strings"

	"milena/serde/schema"
)

// nodesMax bounds the schema objects of one schema with all its references.
const nodesMax = 1 << 19

// document is one text of a schema: its own or one that it refers to.
type document struct {
	name  string // "" of the schema's own
	text  string
	root  *Value
	draft Draft
	base  string // address that references are resolved against

	found *lookup // what identifiers lead to; made when first asked for
}

// scope is where a schema stands.
type scope struct {
	doc  *document
	base string // address by the identifiers around it
	root *Value // in modern drafts the schema object that base names
}

func (d *document) scope() scope { return scope{d, d.base, d.root} }

// loader checks a schema and builds its tree. References are followed from a
// list, not by recursion, so the stack is bounded by the nesting of one text.
type loader struct {
	limits  schema.Limits
	main    *document
	docs    map[string]*document // referenced texts by address
	nodes   map[*Value]*Node
	indexes map[*Value]map[string]int // members of wide objects
	open    map[*Value]bool           // schemas around the current place
	pending []pending
	path    []string
	// addressBytes counts the addresses that were made.
	addressBytes int
	err          *schema.ParseError // the first; from then on results count for nothing
}

// pending is a reference whose target is still to be loaded.
type pending struct {
	from   *Node
	target target
}

// target is what a reference leads to.
type target struct {
	scope scope
	value *Value
	path  string // as a pointer
}

func newLoader(limits schema.Limits) *loader {
	return &loader{
		limits:  limits,
		docs:    map[string]*document{},
		nodes:   map[*Value]*Node{},
		indexes: map[*Value]map[string]int{},
		open:    map[*Value]bool{},
	}
}

// load builds the tree of the main document.
func (l *loader) load() *Node {
	root := l.schema(l.main.scope(), l.main.root)
	for len(l.pending) > 0 && l.err == nil {
		last := len(l.pending) - 1
		p := l.pending[last]
		l.pending = l.pending[:last]
		if l.path = l.path[:0]; p.target.path != "" {
			l.path = append(l.path, p.target.path)
		}
		p.from.Inner = l.schema(p.target.scope, p.target.value)
	}
	return root
}

// fail keeps the first error. The place is v's, or that of the current schema.
func (l *loader) fail(s scope, v *Value, format string, args ...any) {
	if l.err != nil {
		return
	}
	l.err = errorAt(s.doc.text, v.off, notSchema+": "+fmt.Sprintf(format, args...))
	l.err.Path = l.pointer()
	if s.doc.name != "" {
		l.err.Path = "reference " + s.doc.name + "#" + l.err.Path
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointerMax is about how many bytes of a path an error tells.
const pointerMax = 1_000

// pointer returns the current path. Its first step may be a pointer by itself.
func (l *loader) pointer() string {
	var b strings.Builder
	for _, step := range l.path {
		if b.Len() > pointerMax {
			b.WriteString("...")
			break
		}
		if !strings.HasPrefix(step, "/") {
			b.WriteByte('/')
			step = pointerEscapes.Replace(step)
		}
		b.WriteString(clip(step))
	}
	return b.String()
}

// schema returns the node of a schema, which is built the first time.
func (l *loader) schema(s scope, v *Value) *Node {
	if n := l.nodes[v]; n != nil {
		return n
	}
	n := &Node{Kind: KindEmpty, value: v}
	if l.err != nil {
		return n
	}
	if len(l.nodes) >= nodesMax {
		l.fail(s, v, "the schema has more than %d subschemas", nodesMax)
		return n
	}
	l.nodes[v] = n
	l.open[v] = true
	defer delete(l.open, v)
	switch {
	case v.kind == valueFalse:
		n.Kind = KindFalse
	case v.kind == valueTrue:
	case v.kind != valueObject:
		l.fail(s, v, "a schema must be an object or a boolean, not %s", strings.ToLower(v.word()))
	case s.doc.draft.modern():
		l.modern(s, n)
	default:
		l.old(s, n)
	}
	return n
}

// at returns the node of a schema that stands under more steps.
func (l *loader) at(s scope, v *Value, steps ...string) *Node {
	l.path = append(l.path, steps...)
	n := l.schema(s, v)
	l.path = l.path[:len(l.path)-len(steps)]
	return n
}

// list returns the nodes of a keyword that holds an array of schemas.
func (l *loader) list(s scope, v *Value, key string) []*Node {
	if v.kind != valueArray {
		l.fail(s, v, "%s must be an array of schemas", key)
		return nil
	}
	out := make([]*Node, 0, len(v.elems))
	for i := range v.elems {
		out = append(out, l.at(s, &v.elems[i], key, strconv.Itoa(i)))
	}
	return out
}

// table returns the nodes of a keyword that holds an object of schemas.
func (l *loader) table(s scope, v *Value, key string) []Property {
	if v.kind != valueObject {
		l.fail(s, v, "%s must be an object of schemas", key)
		return nil
	}
	out := make([]Property, 0, len(v.elems))
	for i := range v.elems {
		out = append(out, Property{v.keys[i], l.at(s, &v.elems[i], key, v.keys[i])})
	}
	return out
}

// one returns the node of a keyword that holds a schema, or nil if it is
// absent.
func (l *loader) one(s scope, v *Value, key string) *Node {
	if m := v.get(key); m != nil {
		return l.at(s, m, key)
	}
	return nil
}

// extra reads a keyword about what stands beyond the named members.
func (l *loader) extra(s scope, v *Value, key string) Extra {
	m := v.get(key)
	switch {
	case m == nil || m.kind == valueTrue:
		return Extra{}
	case m.kind == valueFalse:
		return Extra{Closed: true}
	}
	return Extra{Schema: l.at(s, m, key)}
}

// strings returns a keyword that holds an array of strings, without
// repetitions.
func (l *loader) strings(s scope, v *Value, key string) []string {
	if v.kind != valueArray {
		l.fail(s, v, "%s must be an array of strings", key)
		return nil
	}
	seen := make(map[string]bool, len(v.elems))
	out := make([]string, 0, len(v.elems))
	for i := range v.elems {
		e := &v.elems[i]
		if e.kind != valueString {
			l.fail(s, e, "%s must be an array of strings", key)
			return nil
		}
		if !seen[e.text] {
			seen[e.text] = true
			out = append(out, e.text)
		}
	}
	return out
}

// text returns a keyword that must be a string, or nil if it is absent.
func (l *loader) text(s scope, v *Value, key string) *string {
	m := v.get(key)
	if m == nil {
		return nil
	}
	if m.kind != valueString {
		l.fail(s, m, "%s must be a string", key)
		return nil
	}
	return &m.text
}

// flag returns a keyword that must be a boolean.
func (l *loader) flag(s scope, v *Value, key string) bool {
	m := v.get(key)
	if m != nil && !m.isBool() {
		l.fail(s, m, "%s must be a boolean", key)
	}
	return m != nil && m.kind == valueTrue
}

// number returns a keyword that must be a number, or nil if it is absent.
func (l *loader) number(s scope, v *Value, key string) *float64 {
	m := v.get(key)
	if m == nil {
		return nil
	}
	if !m.isNumber() {
		l.fail(s, m, "%s must be a number", key)
		return nil
	}
	f := m.float()
	return &f
}

// limit returns a keyword that counts something, or nil if it is absent. The
// old drafts want an integer literal of 32 bits there.
func (l *loader) limit(s scope, v *Value, key string) *float64 {
	m := v.get(key)
	if m == nil || s.doc.draft.modern() {
		return l.number(s, v, key)
	}
	n, ok := m.int32()
	if !ok {
		l.fail(s, m, "%s must be an integer of 32 bits", key)
		return nil
	}
	f := float64(n)
	return &f
}

// regexp checks that a pattern compiles as a regular expression of Java.
func (l *loader) regexp(s scope, v *Value, pattern string) {
	if l.err != nil {
		return
	}
	if err := checkRegexp(pattern); err != nil {
		l.fail(s, v, "pattern %q: %v", clip(pattern), err)
	}
}

// member returns the member of an object by key or of an array by index, or
// nil.
func (l *loader) member(v *Value, step string) *Value {
	switch v.kind {
	case valueArray:
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(v.elems) || strconv.Itoa(i) != step {
			return nil
		}
		return &v.elems[i]
	case valueObject:
		if len(v.keys) >= jsonMembersMap && l.indexes[v] == nil {
			l.indexes[v] = indexOf(v.keys)
		}
		if i := find(v.keys, l.indexes[v], step); i >= 0 {
			return &v.elems[i]
		}
	}
	return nil
}
