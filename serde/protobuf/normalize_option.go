package protobuf

import (
	"slices"
	"strings"
)

// sortOptions sorts by name; parentheses and what follows the name don't count.
func sortOptions(options []Option) {
	slices.SortStableFunc(options, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
}

// options returns options in their normalized form: known extensions by full
// name, those written in parts put together, everything sorted.
func (n *normalizer) options(list []Option) []Option {
	if len(list) == 0 {
		return nil
	}
	out := make([]Option, 0, len(list))
	at := map[string]int{} // singular extensions that are there already
	for _, o := range list {
		if n.scopes.spent() {
			return nil
		}
		var ext *extension
		if o.Paren {
			ext = n.scopes.extension(o.Name)
		}
		if ext == nil {
			out = append(out, o)
			continue
		}
		m := &merger{names: n.scopes.names}
		i, again := at[ext.name]
		o.Name = ext.name
		o.Value, o.Sub = m.whole(o.Sub, o.Value), nil
		switch {
		case !again || ext.field.Label == Repeated:
			at[ext.name] = len(out)
			out = append(out, o)
		default:
			out[i].Value = m.merge(out[i].Value, o.Value, m.names.message(ext.scope, ext.field.Type))
		}
		n.scopes.steps += m.steps
	}
	for i := range out {
		out[i].Value = n.value(out[i].Value)
	}
	sortOptions(out)
	return out
}

// merger puts the parts of one option together.
type merger struct {
	names *names
	steps int
}

// whole returns the value of an option without parts: (o).a.b = 1 is
// (o) = {a: {b: 1}}. A part in parentheses is the name of an extension.
func (m *merger) whole(parts []string, v Value) Value {
	for _, p := range slices.Backward(parts) {
		if strings.HasPrefix(p, "(") {
			p = "[" + strings.Trim(p, "()") + "]"
		}
		v = Value{Kind: MapValue, Map: []Entry{{Key: p, Value: v}}}
	}
	return v
}

// merge returns a value of a message type that was set in two steps.
func (m *merger) merge(first, then Value, typ *Definition) Value {
	if first.Kind != MapValue || then.Kind != MapValue || m.steps > stepsMax {
		return then
	}
	out := Value{Kind: MapValue, Map: slices.Clone(first.Map)}
	for _, e := range then.Map {
		m.steps += len(out.Map) + 1
		at := out.entry(e.Key)
		field, fieldType := m.field(typ, e.Key)
		switch {
		case at == nil:
			out.Map = append(out.Map, e)
		case field != nil && (field.Label == Repeated || field.Type.IsMap()):
			at.collect(e.Value)
		default:
			*at = m.merge(*at, e.Value, fieldType)
		}
	}
	return out
}

// field returns the field of a message that a key means, and the message that
// its type is; nil where there is none.
func (m *merger) field(typ *Definition, key string) (*Field, *Definition) {
	if typ == nil {
		return nil, nil
	}
	find := func(fields []*Field) *Field {
		m.steps += len(fields)
		for _, f := range fields {
			if f.Name == key {
				return f
			}
		}
		return nil
	}
	f := find(typ.Message.Fields)
	for i := 0; f == nil && i < len(typ.Message.Oneofs); i++ {
		f = find(typ.Message.Oneofs[i].Fields)
	}
	if f == nil {
		return nil, nil
	}
	return f, m.names.message(splitName(typ.Name), f.Type)
}

// value returns a value with the keys of maps sorted, numbers reprinted, empty
// lists in maps dropped and lists of one element in maps replaced by it.
func (n *normalizer) value(v Value) Value {
	switch v.Kind {
	case NumberValue:
		v.Text = reprint(v.Text)
	case ListValue:
		list := make([]Value, len(v.List))
		for i := range v.List {
			list[i] = n.value(v.List[i])
		}
		v.List = list
	case MapValue:
		var entries []Entry
		for _, e := range v.Map {
			e.Value = n.value(e.Value)
			for e.Value.Kind == ListValue && len(e.Value.List) == 1 {
				e.Value = e.Value.List[0]
			}
			if e.Value.Kind == ListValue && len(e.Value.List) == 0 {
				continue
			}
			entries = append(entries, e)
		}
		slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
		v.Map = entries
	}
	return v
}
