package protobuf

import (
	"cmp"
	"slices"
	"strings"

	"milena/serde/schema"
)

// normalizer makes the tree that the normalized text is printed from: names in
// full, everything sorted whose order has no meaning, numbers and options in one
// form. Messages, enums, services and methods keep their order. It refuses what
// doesn't resolve, and so is also the check of new schemas.
type normalizer struct {
	scopes *scopes
	bytes  int // of full names put in
	err    *schema.ParseError
}

// errNormalTooLong says that the names alone are longer than a text may be.
var errNormalTooLong = &schema.ParseError{Message: "normalized text is too long"}

// full returns the full name of a type as it is printed.
func (n *normalizer) full(d *Definition) string {
	if n.bytes += len(d.Name); n.bytes > printedMax {
		if n.err == nil {
			n.err = errNormalTooLong
		}
		return ""
	}
	return "." + d.Name
}

// normalize returns the tree and the files that its types are of.
func normalize(f *File, names *names) (*File, map[*File]bool, *schema.ParseError) {
	n := &normalizer{scopes: names.in(splitName(f.Package))}
	n.scopes.used = map[*File]bool{}
	out := &File{Syntax: f.Syntax, Package: f.Package}
	if f.Syntax == "proto2" {
		out.Syntax = ""
	}
	out.Imports = sortedImports(f.Imports)
	out.PublicImports = sortedImports(f.PublicImports)
	out.Options = n.options(f.Options)
	for _, m := range f.Messages {
		if !m.IsMapEntry() {
			out.Messages = append(out.Messages, n.message(m))
		}
	}
	for _, e := range f.Enums {
		out.Enums = append(out.Enums, n.enum(e))
	}
	out.Extends = n.extends(f.Extends)
	for _, s := range f.Services {
		out.Services = append(out.Services, n.service(s))
	}
	if n.scopes.spent() {
		n.fail(Pos{}, "Schema is too complex: its names take too many steps to resolve")
	}
	return out, n.scopes.used, n.err
}

func (n *normalizer) fail(pos Pos, message string) {
	if n.err == nil {
		n.err = &schema.ParseError{Line: pos.Line, Column: pos.Column, Message: message}
	}
}

func sortedImports(imports []Import) []Import {
	out := slices.Clone(imports)
	slices.SortStableFunc(out, func(a, b Import) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(out, func(a, b Import) bool { return a.Path == b.Path })
}

func (n *normalizer) message(m *Message) *Message {
	depth := n.scopes.enter(m.Name)
	defer n.scopes.leave(depth)
	out := &Message{Name: m.Name, Pos: m.Pos}
	out.Reserved = sortedReserved(m.Reserved)
	out.Options = n.options(m.Options)
	out.Fields = n.fields(m.Fields)
	out.Oneofs = n.oneofs(m.Oneofs)
	out.Groups = n.groups(m.Groups)
	out.Extensions = n.extensions(m.Extensions)
	out.Extends = n.extends(m.Extends)
	for _, inner := range m.Messages {
		if !inner.IsMapEntry() {
			out.Messages = append(out.Messages, n.message(inner))
		}
	}
	for _, e := range m.Enums {
		out.Enums = append(out.Enums, n.enum(e))
	}
	return out
}

// single returns a range as it is printed on its own.
func single(r Range) Range {
	r.Single = r.From == r.To
	return r
}

// sortedReserved makes one statement of each item: ranges by their start, then
// names.
func sortedReserved(list []Reserved) []Reserved {
	var out []Reserved
	for _, r := range list {
		for _, item := range r.Items {
			if item.Name == nil {
				item.Range = single(item.Range)
			}
			out = append(out, Reserved{Items: []ReservedItem{item}})
		}
	}
	slices.SortStableFunc(out, func(a, b Reserved) int {
		x, y := a.Items[0], b.Items[0]
		switch {
		case x.Name == nil && y.Name == nil:
			return cmp.Compare(x.Range.From, y.Range.From)
		case x.Name == nil:
			return -1
		case y.Name == nil:
			return 1
		}
		return strings.Compare(*x.Name, *y.Name)
	})
	return out
}

func (n *normalizer) extensions(list []Extensions) []Extensions {
	var out []Extensions
	for _, x := range list {
		options := n.options(x.Options)
		for _, r := range x.Ranges {
			out = append(out, Extensions{Ranges: []Range{single(r)}, Options: options})
		}
	}
	slices.SortStableFunc(out, func(a, b Extensions) int { return cmp.Compare(a.Ranges[0].From, b.Ranges[0].From) })
	return out
}

func byNumber(a, b *Field) int { return cmp.Compare(a.Number, b.Number) }

func (n *normalizer) fields(fields []*Field) []*Field {
	var out []*Field
	for _, f := range fields {
		out = append(out, n.field(f))
	}
	slices.SortStableFunc(out, byNumber)
	return out
}

func (n *normalizer) field(f *Field) *Field {
	out := &Field{Label: f.Label, Name: f.Name, Number: f.Number, Pos: f.Pos}
	out.Type = n.fieldType(f)
	if out.Type.IsMap() {
		out.Label = NoLabel
	}
	out.Options = n.options(f.Options)
	if f.Default != nil {
		v := Value{Kind: WordValue, Text: *f.Default}
		switch {
		case f.Type.Name == "string":
			v.Kind = StringValue
		case isNumeric(f.Type.Name):
			v.Text = reprint(v.Text)
		}
		out.Options = append(out.Options, Option{Name: "default", Value: v})
	}
	if f.JSONName != nil {
		out.Options = append(out.Options, Option{Name: "json_name", Value: Value{Kind: StringValue, Text: *f.JSONName}})
	}
	sortOptions(out.Options)
	return out
}

// fieldType returns the type with its full names. The entry message of a map is
// replaced by the map.
func (n *normalizer) fieldType(f *Field) Type {
	if f.Type.IsMap() {
		return n.mapType(f)
	}
	if isScalar(f.Type.Name) {
		return f.Type
	}
	d := n.scopes.definition(f.Type.Name)
	if d == nil {
		n.fail(f.Pos, "Could not resolve type: "+clip(f.Type.Name))
		return f.Type
	}
	if d.Message != nil && d.Message.IsMapEntry() {
		if key, value := entryTypes(d.Message); key != nil && value != nil {
			inner := n.scopes.names.in(splitName(d.Name))
			n.scopes.steps += len(inner.levels)
			v := n.mapValue(*value, inner)
			return Type{Key: key, Value: &v}
		}
	}
	return Type{Name: n.full(d)}
}

// entryTypes returns the types of key and value of a map's entry.
func entryTypes(m *Message) (key, value *Type) {
	for _, f := range m.Fields {
		switch f.Number {
		case 1:
			key = &f.Type
		case 2:
			value = &f.Type
		}
	}
	return key, value
}

func (n *normalizer) mapType(f *Field) Type {
	key, value := *f.Type.Key, n.mapValue(*f.Type.Value, n.scopes)
	if !isMapKey(key.Name) {
		n.fail(f.Pos, "map key must be non-byte, non-floating point scalar: "+clip(key.String()))
	}
	return Type{Key: &key, Value: &value}
}

// mapValue returns the type of a map's values. The reference doesn't check it:
// what doesn't resolve stays.
func (n *normalizer) mapValue(t Type, in *scopes) Type {
	if t.IsMap() {
		value := n.mapValue(*t.Value, in)
		return Type{Key: t.Key, Value: &value}
	}
	if isScalar(t.Name) {
		return t
	}
	if d := in.definition(t.Name); d != nil {
		return Type{Name: n.full(d)}
	}
	return t
}

// named returns the full name of a message that must resolve.
func (n *normalizer) named(name string, pos Pos) string {
	d := n.scopes.definition(name)
	if d == nil {
		n.fail(pos, "Could not resolve type: "+clip(name))
		return name
	}
	return n.full(d)
}

// oneofs sorts by the smallest numbers. One without fields is dropped, but the
// empty line in front of it stays: a oneof without a name stands for it.
func (n *normalizer) oneofs(list []*Oneof) []*Oneof {
	var out []*Oneof
	for _, o := range list {
		if len(o.Fields) == 0 {
			continue
		}
		out = append(out, &Oneof{
			Name: o.Name, Pos: o.Pos, Options: n.options(o.Options), Fields: n.fields(o.Fields), Groups: n.groups(o.Groups),
		})
	}
	slices.SortStableFunc(out, func(a, b *Oneof) int { return byNumber(a.Fields[0], b.Fields[0]) })
	if len(out) == 0 && len(list) > 0 {
		out = []*Oneof{{}}
	}
	return out
}

func (n *normalizer) groups(list []*Group) []*Group {
	var out []*Group
	for _, g := range list {
		out = append(out, &Group{Label: g.Label, Name: g.Name, Number: g.Number, Pos: g.Pos, Fields: n.fields(g.Fields)})
	}
	slices.SortStableFunc(out, func(a, b *Group) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

func (n *normalizer) enum(e *Enum) *Enum {
	out := &Enum{Name: e.Name, Pos: e.Pos, Reserved: sortedReserved(e.Reserved), Options: n.options(e.Options)}
	for _, v := range e.Values {
		v.Options = n.options(v.Options)
		out.Values = append(out.Values, v)
	}
	slices.SortStableFunc(out.Values, func(a, b EnumValue) int {
		if c := cmp.Compare(a.Number, b.Number); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// extends merges those of one message and drops empty ones. Where all were
// empty, one without a name keeps the empty line in front of them.
func (n *normalizer) extends(list []*Extend) []*Extend {
	var out []*Extend
	at := map[string]*Extend{}
	for _, x := range list {
		name := n.named(x.Name, x.Pos)
		if len(x.Fields) == 0 {
			continue
		}
		to := at[name]
		if to == nil {
			to = &Extend{Name: name, Pos: x.Pos}
			at[name] = to
			out = append(out, to)
		}
		for _, f := range x.Fields {
			to.Fields = append(to.Fields, n.field(f))
		}
	}
	for _, x := range out {
		slices.SortStableFunc(x.Fields, byNumber)
	}
	if len(out) == 0 && len(list) > 0 {
		out = []*Extend{{}}
	}
	return out
}

func (n *normalizer) service(s *Service) *Service {
	out := &Service{Name: s.Name, Pos: s.Pos, Options: n.options(s.Options)}
	for _, r := range s.RPCs {
		c := *r
		c.Request = n.named(r.Request, r.Pos)
		c.Response = n.named(r.Response, r.Pos)
		c.Options = n.options(r.Options)
		out.RPCs = append(out.RPCs, &c)
	}
	return out
}
