package avro

import "slices"

// Equal reports whether two schemas mean the same, as a registry's look-up
// takes it: the order of attributes and aliases, the order of keys in values
// and the word error for record don't matter; docs, aliases, defaults, order,
// attributes and numbers as they are written do. Types that come from a
// reference count as if they stood in the text.
func Equal(a, b *Schema) bool {
	c := comparer{docs: true, seen: map[[2]*Type]bool{}}
	return c.types(a.root, b.root)
}

// sameDefinition reports whether a name may be defined as b after it was as a:
// docs, aliases and an enum's default may differ.
func sameDefinition(a, b *Type) bool {
	c := comparer{seen: map[[2]*Type]bool{}}
	return c.types(a, b)
}

// comparer compares two graphs. A pair of named types that is being compared,
// or was, counts as equal: one that isn't ends the whole comparison.
type comparer struct {
	docs bool // docs, aliases and enum defaults too
	seen map[[2]*Type]bool
}

func (c *comparer) types(a, b *Type) bool {
	if a == b {
		return true
	}
	if a.Kind == 0 || a.Kind != b.Kind || a.Name != b.Name || a.Size != b.Size || !sameProps(a.Props, b.Props) {
		return false
	}
	if a.Kind.IsNamed() {
		pair := [2]*Type{a, b}
		if c.seen[pair] {
			return true
		}
		c.seen[pair] = true
		if c.docs && (!sameText(a.Doc, b.Doc) || !sameText(a.EnumDefault, b.EnumDefault) || !sameSet(a.Aliases, b.Aliases)) {
			return false
		}
	}
	switch a.Kind {
	case KindRecord:
		return c.fields(a.Fields, b.Fields)
	case KindEnum:
		return slices.Equal(a.Symbols, b.Symbols)
	case KindArray, KindMap:
		return c.types(a.Items, b.Items)
	case KindUnion:
		return slices.EqualFunc(a.Branches, b.Branches, c.types)
	default:
		return true
	}
}

func (c *comparer) fields(a, b []Field) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		f, g := &a[i], &b[i]
		if f.Name != g.Name || f.Order != g.Order || !sameProps(f.Props, g.Props) {
			return false
		}
		if (f.Default == nil) != (g.Default == nil) || f.Default != nil && !f.Default.equal(g.Default) {
			return false
		}
		if c.docs && (!sameText(f.Doc, g.Doc) || !sameSet(f.Aliases, g.Aliases)) {
			return false
		}
		if !c.types(f.Type, g.Type) {
			return false
		}
	}
	return true
}

func sameText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sameSet compares lists without repetitions as sets.
func sameSet[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	in := make(map[T]bool, len(a))
	for _, x := range a {
		in[x] = true
	}
	for _, x := range b {
		if !in[x] {
			return false
		}
	}
	return true
}

func sameProps(a, b []Prop) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 {
		return true
	}
	at := make(map[string]*Value, len(a))
	for i := range a {
		at[a[i].Key] = &a[i].Value
	}
	for i := range b {
		if v := at[b[i].Key]; v == nil || !v.equal(&b[i].Value) {
			return false
		}
	}
	return true
}
