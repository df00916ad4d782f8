package protobuf

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The options of descriptors that are kept, in the order in which the reference
// prints them.

func keptFileOptions() []protoreflect.Name {
	return []protoreflect.Name{
		"java_package", "java_outer_classname", "java_multiple_files", "java_generate_equals_and_hash",
		"java_string_check_utf8", "optimize_for", "go_package", "cc_generic_services", "java_generic_services",
		"py_generic_services", "deprecated", "cc_enable_arenas", "objc_class_prefix", "csharp_namespace",
		"swift_prefix", "php_class_prefix", "php_namespace", "php_metadata_namespace", "ruby_package", "features",
	}
}

func keptMessageOptions() []protoreflect.Name {
	return []protoreflect.Name{"no_standard_descriptor_accessor", "deprecated", "map_entry", "features"}
}

func keptFieldOptions() []protoreflect.Name {
	return []protoreflect.Name{
		"ctype", "packed", "jstype", "deprecated", "debug_redact", "retention", "targets", "edition_defaults", "features",
	}
}

func keptEnumOptions() []protoreflect.Name {
	return []protoreflect.Name{"allow_alias", "deprecated", "features"}
}

func keptValueOptions() []protoreflect.Name {
	return []protoreflect.Name{"deprecated", "debug_redact", "features"}
}

func keptServiceOptions() []protoreflect.Name { return []protoreflect.Name{"deprecated", "features"} }

func keptMethodOptions() []protoreflect.Name {
	return []protoreflect.Name{"deprecated", "idempotency_level", "features"}
}

// readOptions returns the options of a descriptor's element. Name is that of
// the Meta extension, "" if there is none.
func readOptions(m proto.Message, kept []protoreflect.Name, name string) []Option {
	if !m.ProtoReflect().IsValid() {
		return nil
	}
	out := known(m, kept)
	if name != "" {
		out = append(out, meta(m, name)...)
	}
	return out
}

// writeOptions sets what is kept of options into an empty message and returns
// it, or nil if nothing is.
func writeOptions[M proto.Message](b *builder, options []Option, m M, kept []protoreflect.Name, name string) M {
	var none M
	r := m.ProtoReflect()
	set := false
	for i := range options {
		o := &options[i]
		if o.Paren || !slices.Contains(kept, protoreflect.Name(o.Name)) || len(o.Sub) > 0 {
			continue
		}
		f := r.Descriptor().Fields().ByName(protoreflect.Name(o.Name))
		if f == nil {
			continue
		}
		if b.setOption(r, f, &o.Value) {
			set = true
		}
	}
	if name != "" {
		if raw := writeMeta(options, "confluent."+name); raw != nil {
			r.SetUnknown(append(r.GetUnknown(), raw...))
			set = true
		}
	}
	if !set {
		return none
	}
	return m
}

// setOption sets one option and reports whether its value is of the type. Words
// of an enum that it doesn't have make the reference fail.
func (b *builder) setOption(r protoreflect.Message, f protoreflect.FieldDescriptor, v *Value) bool {
	var value protoreflect.Value
	switch f.Kind() {
	case protoreflect.BoolKind:
		value = protoreflect.ValueOfBool(strings.EqualFold(v.javaString(), "true"))
	case protoreflect.StringKind:
		value = protoreflect.ValueOfString(v.javaString())
	case protoreflect.EnumKind:
		d := f.Enum().Values().ByName(protoreflect.Name(v.Text))
		if d == nil {
			b.fail("option %s has no value %s", f.Name(), clip(v.Text))
			return false
		}
		value = protoreflect.ValueOfEnum(d.Number())
	case protoreflect.MessageKind:
		if f.IsList() {
			return false
		}
		inner := r.NewField(f).Message()
		for i := range v.Map {
			g := inner.Descriptor().Fields().ByName(protoreflect.Name(v.Map[i].Key))
			if g != nil && !g.IsList() {
				b.setOption(inner, g, &v.Map[i].Value)
			}
		}
		value = protoreflect.ValueOfMessage(inner)
	default:
		return false
	}
	if f.IsList() {
		r.Mutable(f).List().Append(value)
		return true
	}
	r.Set(f, value)
	return true
}

// writeMeta returns the wire bytes of a Meta extension, or nil if no option
// sets it.
func writeMeta(options []Option, name string) []byte {
	v := metaIn(options, name)
	if v == nil {
		return nil
	}
	var raw []byte
	if doc := v.entry("doc"); doc != nil {
		raw = appendText(raw, 1, doc.javaString())
	}
	for _, p := range v.entry("params").list() {
		var pair []byte
		if key := p.entry("key"); key != nil {
			pair = appendText(pair, 1, key.javaString())
		}
		if value := p.entry("value"); value != nil {
			pair = appendText(pair, 2, value.javaString())
		}
		raw = appendText(raw, 2, string(pair))
	}
	for _, t := range v.entry("tags").list() {
		raw = appendText(raw, 3, t.javaString())
	}
	return appendText(nil, metaNumber, string(raw))
}

func appendText(b []byte, n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

// list returns the elements of a list, or the value itself.
func (v *Value) list() []Value {
	switch {
	case v == nil:
		return nil
	case v.Kind == ListValue:
		return v.List
	}
	return []Value{*v}
}

// known returns the options that are set, in the order of names. Each element
// of a repeated one is an option of its own.
func known(o proto.Message, names []protoreflect.Name) []Option {
	m := o.ProtoReflect()
	var out []Option
	for _, name := range names {
		f := m.Descriptor().Fields().ByName(name)
		if f == nil || !m.Has(f) {
			continue
		}
		if f.IsList() {
			list := m.Get(f).List()
			for i := range list.Len() {
				out = append(out, Option{Name: string(name), Value: optionValue(f, list.Get(i))})
			}
			continue
		}
		out = append(out, Option{Name: string(name), Value: optionValue(f, m.Get(f))})
	}
	return out
}

func optionValue(f protoreflect.FieldDescriptor, v protoreflect.Value) Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return Value{Kind: WordValue, Text: boolText(v.Bool())}
	case protoreflect.StringKind:
		return Value{Kind: StringValue, Text: text([]byte(v.String()))}
	case protoreflect.EnumKind:
		if d := f.Enum().Values().ByNumber(v.Enum()); d != nil {
			return Value{Kind: WordValue, Text: string(d.Name())}
		}
		return Value{Kind: NumberValue, Text: number(int32(v.Enum()))}
	case protoreflect.MessageKind:
		out := Value{Kind: MapValue}
		inner := v.Message()
		fields := inner.Descriptor().Fields()
		for i := range fields.Len() {
			if g := fields.Get(i); inner.Has(g) && !g.IsList() {
				out.Map = append(out.Map, Entry{Key: string(g.Name()), Value: optionValue(g, inner.Get(g))})
			}
		}
		return out
	}
	return Value{Kind: NumberValue, Text: v.String()}
}
