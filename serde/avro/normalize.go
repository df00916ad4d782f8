package avro

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"milena/serde/schema"
)

// Normalized returns the text that a registration with normalize=true stores:
// attributes, aliases and keys sorted, defaults in the form of their type. It
// is "" if the schema can't be normalized; NormalizeError says why.
func (s *Schema) Normalized() string {
	s.once.Do(s.normalize)
	return s.normalized
}

// NormalizeError returns why the schema can't be normalized (the reference
// refuses some schemas only then), of type *schema.ParseError, or nil.
func (s *Schema) NormalizeError() error {
	s.once.Do(s.normalize)
	if s.normalizeErr == nil {
		return nil
	}
	return s.normalizeErr
}

// normalize writes the schema with full names and reads it again, as the
// reference does: so a type without namespace moves into the namespace around
// it, and what the written text can't express is refused.
func (s *Schema) normalize() {
	n := normalizer{written: make(map[*Type]bool, len(s.known)), bytesMax: s.limits.TextBytesMax}
	for t := range s.known {
		n.written[t] = true
	}
	n.typ(s.root)
	if n.err == nil && len(n.dst) > n.bytesMax {
		n.fail("Schema exceeds the maximum of %d bytes when written with full names", n.bytesMax)
	}
	if n.err != nil {
		s.normalizeErr = n.err
		return
	}
	again, err := s.parser.parse(schema.Resolved{Type: schema.Avro, Text: string(n.dst), Dependencies: s.deps})
	if err != nil {
		s.normalizeErr = &schema.ParseError{Path: "normalized", Message: err.Message}
		return
	}
	s.normalized = again.canonical
}

type normalizer struct {
	dst      []byte
	written  map[*Type]bool
	fields   map[*Type]map[string]*Type // of records that shaped a default
	bytesMax int
	err      *schema.ParseError // the first one
}

func (n *normalizer) fail(format string, args ...any) {
	if n.err == nil {
		n.err = &schema.ParseError{Message: fmt.Sprintf(format, args...)}
	}
}

func (n *normalizer) lit(s string) { n.dst = append(n.dst, s...) }

func (n *normalizer) str(s string) { n.dst = appendString(n.dst, s) }

func (n *normalizer) typ(t *Type) {
	if n.err != nil || len(n.dst) > n.bytesMax {
		return
	}
	switch {
	case t.Kind.IsNamed() && n.written[t]:
		n.str(t.Name.Full())
	case t.Kind.IsNamed():
		n.written[t] = true
		n.named(t)
	case t.Kind == KindUnion:
		n.lit("[")
		for i, b := range t.Branches {
			if i > 0 {
				n.lit(",")
			}
			n.typ(b)
		}
		n.lit("]")
	default:
		n.lit(`{"type":"` + t.Kind.String() + `"`)
		switch t.Kind {
		case KindArray:
			n.lit(`,"items":`)
			n.typ(t.Items)
		case KindMap:
			n.lit(`,"values":`)
			n.typ(t.Items)
		}
		n.props(t.Props, t.leading())
		n.lit("}")
	}
}

func (n *normalizer) named(t *Type) {
	n.lit(`{"type":"` + t.Kind.String() + `","name":`)
	n.str(t.Name.Full())
	if t.Doc != nil && *t.Doc != "" {
		n.lit(`,"doc":`)
		n.str(*t.Doc)
	}
	switch t.Kind {
	case KindRecord:
		n.lit(`,"fields":[`)
		for i := range t.Fields {
			if i > 0 {
				n.lit(",")
			}
			n.field(&t.Fields[i])
		}
		n.lit("]")
	case KindEnum:
		n.lit(`,"symbols":`)
		n.strings(t.Symbols)
		if t.EnumDefault != nil {
			n.lit(`,"default":`)
			n.str(*t.EnumDefault)
		}
	default:
		n.lit(`,"size":` + strconv.Itoa(t.Size))
	}
	n.props(t.Props, t.leading())
	if len(t.Aliases) > 0 {
		texts := make([]string, len(t.Aliases))
		for i, a := range t.Aliases {
			texts[i] = a.Full()
		}
		slices.SortFunc(texts, compareUTF16)
		n.lit(`,"aliases":`)
		n.strings(texts)
	}
	n.lit("}")
}

func (n *normalizer) field(f *Field) {
	n.lit(`{"name":`)
	n.str(f.Name)
	n.lit(`,"type":`)
	n.typ(f.Type)
	if f.Doc != nil {
		n.lit(`,"doc":`)
		n.str(*f.Doc)
	}
	if f.Type.Kind == KindUnion && len(f.Type.Branches) == 0 {
		n.fail("Field %s has a union without branches", clip(f.Name))
		return
	}
	if f.Default != nil {
		if d, ok := n.shape(f.Default, f.Type); ok {
			n.lit(`,"default":`)
			n.dst = d.append(n.dst)
		}
	}
	if f.Order != OrderAscending {
		n.lit(`,"order":"` + f.Order.String() + `"`)
	}
	if len(f.Aliases) > 0 {
		aliases := slices.Clone(f.Aliases)
		slices.SortFunc(aliases, compareUTF16)
		n.lit(`,"aliases":`)
		n.strings(aliases)
	}
	n.props(f.Props, nil)
	n.lit("}")
}

func (n *normalizer) strings(list []string) {
	n.lit("[")
	for i, s := range list {
		if i > 0 {
			n.lit(",")
		}
		n.str(s)
	}
	n.lit("]")
}

// leading returns the attributes that come before the sorted ones: those of a
// valid logical type. A scale of 0 is not among them.
func (t *Type) leading() []string {
	switch {
	case t.Logical == LogicalNone:
		return nil
	case t.Logical == LogicalDecimal && t.Scale != 0:
		return []string{"logicalType", "precision", "scale"}
	case t.Logical == LogicalDecimal:
		return []string{"logicalType", "precision"}
	default:
		return []string{"logicalType"}
	}
}

// props writes attributes, those in first in that order, the others sorted.
func (n *normalizer) props(props []Prop, first []string) {
	keys := make([]string, len(props))
	for i := range props {
		keys[i] = props[i].Key
	}
	order := make([]int, 0, len(props))
	for _, k := range first {
		order = append(order, slices.Index(keys, k))
	}
	for _, i := range sortedIndex(keys) {
		if !slices.Contains(first, keys[i]) {
			order = append(order, i)
		}
	}
	for _, i := range order {
		pr := &props[i]
		if strings.ContainsAny(pr.Key, `"\`) {
			n.fail("Attribute name needs escapes: %s", clip(pr.Key))
			return
		}
		if pr.Value.hasBigInteger() {
			n.fail("Attribute %s holds an integer beyond 64 bits", clip(pr.Key))
			return
		}
		n.lit(",")
		n.str(pr.Key)
		n.lit(":")
		v := pr.Value.sorted()
		n.dst = v.append(n.dst)
	}
}

// shape gives a default the form of its type; of a union the first branch
// counts. A value of another JSON kind has no form there and is left out,
// while null and objects keep theirs. t is nil where the type is not known.
func (n *normalizer) shape(v *Value, t *Type) (Value, bool) {
	if t != nil && t.Kind == KindUnion {
		if len(t.Branches) == 0 {
			n.fail("Default for a union without branches")
			return Value{}, false
		}
		t = t.Branches[0]
	}
	switch v.kind {
	case valueArray:
		return n.shapeArray(v, t)
	case valueObject:
		return n.shapeObject(v, t)
	case valueString:
		return shapeString(v, t)
	case valueInteger, valueDouble:
		return shapeNumber(v, t)
	default:
		return *v, true
	}
}

func shapeString(v *Value, t *Type) (Value, bool) {
	switch {
	case t == nil || t.Kind == KindString || t.Kind == KindEnum:
		return *v, true
	case t.Kind == KindBytes || t.Kind == KindFixed:
		out := *v
		out.text = strings.Map(func(c rune) rune {
			if c > 0xFF {
				return '?'
			}
			return c
		}, v.text)
		return out, true
	default:
		return Value{}, false
	}
}

func shapeNumber(v *Value, t *Type) (Value, bool) {
	if v.kind == valueInteger {
		if _, ok := v.int64(); !ok {
			return Value{}, false
		}
		if t == nil || t.Kind == KindLong {
			return *v, true
		}
		if t.Kind == KindInt {
			return *v, true
		}
	} else if t == nil {
		return *v, true
	}
	f := v.num
	if v.kind == valueInteger {
		i, _ := v.int64()
		f = float64(i)
	}
	switch t.Kind {
	case KindDouble:
	case KindFloat:
		// Narrow to 32 bits and keep the digits that a float prints.
		if narrow := float64(float32(f)); !math.IsInf(narrow, 0) && !math.IsNaN(narrow) {
			f, _ = strconv.ParseFloat(string(appendDouble(nil, narrow, 32)), 64)
		} else {
			f = narrow
		}
	default:
		return Value{}, false
	}
	return Value{kind: valueDouble, off: v.off, num: f}, true
}

func (n *normalizer) shapeArray(v *Value, t *Type) (Value, bool) {
	var items *Type
	switch {
	case len(v.elems) == 0:
		return *v, true
	case t != nil && t.Kind != KindArray:
		n.fail("Default is an array, the type that shapes it is %s", t.FullName())
		return Value{}, false
	case t != nil:
		items = t.Items
	}
	out := Value{kind: valueArray, off: v.off, elems: make([]Value, len(v.elems))}
	for i := range v.elems {
		e, ok := n.shape(&v.elems[i], items)
		if !ok {
			n.fail("Element of an array default does not fit the first branch: %s", clip(v.elems[i].JSON()))
			return Value{}, false
		}
		out.elems[i] = e
	}
	return out, true
}

// fieldsOf returns the types of a record's fields by name.
func (n *normalizer) fieldsOf(t *Type) map[string]*Type {
	if f := n.fields[t]; f != nil {
		return f
	}
	f := make(map[string]*Type, len(t.Fields))
	for i := range t.Fields {
		f[t.Fields[i].Name] = t.Fields[i].Type
	}
	if n.fields == nil {
		n.fields = make(map[*Type]map[string]*Type)
	}
	n.fields[t] = f
	return f
}

func (n *normalizer) shapeObject(v *Value, t *Type) (Value, bool) {
	if len(v.keys) == 0 {
		return *v, true
	}
	var fields map[string]*Type
	if t != nil && t.Kind == KindRecord {
		fields = n.fieldsOf(t)
	}
	out := Value{kind: valueObject, off: v.off, keys: make([]string, 0, len(v.keys)), elems: make([]Value, 0, len(v.keys))}
	for _, i := range sortedIndex(v.keys) {
		var at *Type
		switch {
		case fields != nil:
			if at = fields[v.keys[i]]; at == nil {
				n.fail("Default has an unknown field: %s", clip(v.keys[i]))
				return Value{}, false
			}
		case t != nil && t.Kind == KindMap:
			at = t.Items
		}
		e, ok := n.shape(&v.elems[i], at)
		if !ok {
			n.fail("Value %s of a default does not fit the first branch: %s", clip(v.keys[i]), clip(v.elems[i].JSON()))
			return Value{}, false
		}
		out.keys, out.elems = append(out.keys, v.keys[i]), append(out.elems, e)
	}
	return out, true
}
