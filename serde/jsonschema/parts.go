package jsonschema

// common reads what every schema may have whatever its kind.
func (l *loader) common(s scope, n *Node) {
	v := n.value
	n.Title = l.text(s, v, "title")
	n.Description = l.text(s, v, "description")
	if d := v.get("default"); d != nil && !(s.doc.draft.modern() && d.IsNull()) {
		n.Default = d
	}
	if id, ok := v.str(s.doc.draft.idKey()); ok && !s.doc.draft.modern() {
		n.ID = &id
	}
	connect, _ := v.str("connect.type")
	n.ConnectBytes = connect == "bytes"
}

// builder collects the parts of one schema object.
type builder struct {
	l     *loader
	s     scope
	v     *Value
	f     families
	used  [partRest]bool // families that a type took
	parts []*Node
}

func (b *builder) add(p part, n Node) {
	n.value, n.part = b.v, p
	b.parts = append(b.parts, &n)
}

// finish makes n of the parts: none is the empty schema, one is itself, more
// must all hold.
func (b *builder) finish(n *Node) {
	switch len(b.parts) {
	case 0:
		n.Kind = KindEmpty
	case 1:
		p := b.parts[0]
		n.Kind, n.Criterion, n.Parts, n.Values, n.Inner = p.Kind, p.Criterion, p.Parts, p.Values, p.Inner
		n.String, n.Number, n.Object, n.Array = p.String, p.Number, p.Object, p.Array
		if n.Kind == KindReference {
			// Its target is still to come, and is given to one node only.
			b.l.redirect(p, n)
		}
	default:
		n.Kind, n.Criterion, n.Parts = KindCombined, AllOf, b.parts
	}
}

// redirect gives the target that one node waits for to another.
func (l *loader) redirect(from, to *Node) {
	for i := len(l.pending) - 1; i >= 0; i-- {
		if l.pending[i].from == from {
			l.pending[i].from = to
			return
		}
	}
}

// enum adds the part of the keyword enum.
func (b *builder) enum() {
	m := b.v.get("enum")
	if m == nil {
		return
	}
	if m.kind != valueArray {
		b.l.fail(b.s, m, "enum must be an array")
		return
	}
	values := make([]*Value, len(m.elems))
	for i := range m.elems {
		values[i] = &m.elems[i]
	}
	b.add(partEnum, Node{Kind: KindEnum, Values: values})
}

// combined adds a part for each of allOf, anyOf and oneOf.
func (b *builder) combined() {
	for i, c := range []Criterion{AllOf, AnyOf, OneOf} {
		if m := b.v.get(c.String()); m != nil {
			b.add(partAllOf+part(i), Node{Kind: KindCombined, Criterion: c, Parts: b.l.list(b.s, m, c.String())})
		}
	}
}

func (b *builder) not() {
	if inner := b.l.one(b.s, b.v, "not"); inner != nil {
		b.add(partNot, Node{Kind: KindNot, Inner: inner})
	}
}

func (b *builder) constant() {
	if m := b.v.get("const"); m != nil {
		b.add(partConst, Node{Kind: KindConst, Values: []*Value{m}})
	}
}

// types adds the part of the keyword type: one for a word, any of several for
// a list.
func (b *builder) types() {
	m := b.v.get("type")
	switch {
	case m == nil:
	case m.kind == valueString:
		b.typed(m)
	case m.kind == valueArray:
		before := b.parts
		b.parts = nil
		for i := range m.elems {
			b.typed(&m.elems[i])
		}
		of := b.parts
		b.parts = before
		b.add(partType, Node{Kind: KindCombined, Criterion: AnyOf, Parts: of})
	default:
		b.l.fail(b.s, m, "type must be a string or an array of strings")
	}
}

// typed adds the part of one type, with the keywords that are about it.
func (b *builder) typed(word *Value) {
	name := word.text
	if word.kind != valueString {
		name = ""
	}
	switch name {
	case "string":
		b.used[partString] = true
		b.add(partString, Node{Kind: KindString, String: orZero(b.f.strings)})
	case "number", "integer":
		b.used[partNumber] = true
		p, rules := partNumber, *orZero(b.f.number)
		if name == "integer" {
			p, rules.Integer = partInteger, true
		}
		b.add(p, Node{Kind: KindNumber, Number: &rules})
	case "boolean":
		b.add(partBoolean, Node{Kind: KindBoolean})
	case "null":
		b.add(partNull, Node{Kind: KindNull})
	case "array":
		b.used[partArray] = true
		b.add(partArray, Node{Kind: KindArray, Array: orZero(b.f.array)})
	case "object":
		b.used[partObject] = true
		b.add(partObject, Node{Kind: KindObject, Object: orZero(b.f.object)})
	default:
		b.l.fail(b.s, word, "unknown type %s", clip(word.JSON()))
	}
}

func orZero[T any](rules *T) *T {
	if rules == nil {
		return new(T)
	}
	return rules
}

// rest adds a part for each family that no type took.
func (b *builder) rest() {
	if b.f.array != nil && !b.used[partArray] {
		b.add(partArray, Node{Kind: KindArray, Array: b.f.array})
	}
	if b.f.object != nil && !b.used[partObject] {
		b.add(partObject, Node{Kind: KindObject, Object: b.f.object})
	}
	if b.f.number != nil && !b.used[partNumber] {
		b.add(partNumber, Node{Kind: KindNumber, Number: b.f.number})
	}
	if b.f.strings != nil && !b.used[partString] {
		b.add(partString, Node{Kind: KindString, String: b.f.strings})
	}
}
