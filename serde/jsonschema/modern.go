package jsonschema

// modern builds the node of a schema object of 2019-09 and 2020-12.
func (l *loader) modern(s scope, n *Node) {
	v := n.value
	l.modernID(&s, v)
	l.common(s, n)
	l.flag(s, v, "readOnly")
	l.flag(s, v, "writeOnly")
	l.flag(s, v, "deprecated")
	l.definitions(s, v)
	b := builder{l: l, s: s, v: v, f: l.families(s, v)}
	b.reference("$ref", partReference)
	b.reference("$dynamicRef", partDynamic)
	b.enum()
	b.combined()
	b.not()
	b.constant()
	b.types()
	b.rest()
	b.conditional(v.has("if"), false)
	b.finish(n)
}

// modernID checks the schema's names. One with an address starts a resource of
// its own.
func (l *loader) modernID(s *scope, v *Value) {
	if id, ok := v.str("$id"); ok {
		u, valid := parseURI(id)
		if !valid || id != "" && u.fragment != nil && len(id) == len(*u.fragment)+1 {
			l.fail(*s, v.get("$id"), "$id %q is not the address of a schema", clip(id))
			return
		}
		if v != s.doc.root && v != s.root {
			address, _ := cutFragment(id)
			s.base, s.root = l.resolve(*s, address), v
		}
	}
	anchor, _ := v.str("$anchor")
	if a := l.text(*s, v, "$dynamicAnchor"); a != nil && !legal(*a, "[]") || !legal(anchor, "[]") {
		l.fail(*s, v, "the schema has an anchor that no URI can have")
	}
}

// definitions checks all entries of $defs, used or not, and at the root those
// of definitions.
func (l *loader) definitions(s scope, v *Value) {
	if m := v.get("$defs"); m != nil {
		l.table(s, m, "$defs")
	}
	if m := v.get("definitions"); m != nil && m.kind == valueObject && v == s.doc.root {
		l.table(s, m, "definitions")
	}
}

// reference adds the part of a reference, beside which other keywords count.
func (b *builder) reference(key string, p part) {
	m := b.v.get(key)
	if m == nil {
		return
	}
	b.add(p, Node{Kind: KindReference})
	b.l.refer(b.s, b.parts[len(b.parts)-1], m, b.l.modernTarget)
}
