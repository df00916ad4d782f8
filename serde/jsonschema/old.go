package jsonschema

// old builds the node of a schema object of the drafts 4, 6 and 7.
func (l *loader) old(s scope, n *Node) {
	v := n.value
	l.oldID(&s, v)
	l.common(s, n)
	if ref := v.get("$ref"); ref != nil {
		// All other keywords are hidden by a reference.
		n.Kind = KindReference
		l.refer(s, n, ref, l.oldTarget)
		return
	}
	l.oldFlags(s, v)
	b := builder{l: l, s: s, v: v, f: l.families(s, v)}
	b.enum()
	b.combined()
	b.not()
	if s.doc.draft != Draft4 {
		b.constant()
	}
	b.types()
	b.rest()
	if s.doc.draft == Draft7 {
		b.conditional(v.has("if", "then", "else"), true)
	}
	b.finish(n)
}

// oldID checks the schema's identifier and resolves what stands below against
// it.
func (l *loader) oldID(s *scope, v *Value) {
	key := s.doc.draft.idKey()
	id := l.text(*s, v, key)
	if id == nil {
		return
	}
	if _, ok := parseURI(*id); !ok {
		l.fail(*s, v.get(key), "%s %q is not a URI", key, clip(*id))
		return
	}
	s.base = l.resolve(*s, *id)
}

func (l *loader) oldFlags(s scope, v *Value) {
	if s.doc.draft == Draft7 {
		l.flag(s, v, "readOnly")
		l.flag(s, v, "writeOnly")
	}
}

// conditional adds the part of if, then and else. Alone says that then and else
// are read without an if.
func (b *builder) conditional(present, alone bool) {
	if !present || !alone && !b.v.has("if") {
		return
	}
	for _, key := range []string{"if", "then", "else"} {
		b.l.one(b.s, b.v, key)
	}
	b.add(partConditional, Node{Kind: KindConditional})
}

// refer reads a reference and puts its target on the list of what is to be
// loaded.
func (l *loader) refer(s scope, n *Node, ref *Value, find func(scope, string) (target, string)) {
	if l.err != nil {
		return
	}
	if ref.kind != valueString {
		l.fail(s, ref, "a reference must be a string")
		return
	}
	if _, ok := parseURI(ref.text); !ok || ref.text == "" {
		l.fail(s, ref, "reference %q is not a URI", clip(ref.text))
		return
	}
	t, problem := find(s, ref.text)
	if problem != "" {
		l.fail(s, ref, "reference %q %s", clip(ref.text), problem)
		return
	}
	if n.part == partDynamic && l.open[t.value] {
		// The reference's loader never ends on these.
		l.fail(s, ref, "$dynamicRef %q leads to a schema around it", clip(ref.text))
		return
	}
	l.pending = append(l.pending, pending{n, t})
}
