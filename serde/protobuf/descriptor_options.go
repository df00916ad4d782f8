package protobuf

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
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

func fileOptions(o *descriptorpb.FileOptions) []Option {
	if o == nil {
		return nil
	}
	return append(known(o, keptFileOptions()), meta(o, "file_meta")...)
}

func messageOptions(o *descriptorpb.MessageOptions) []Option {
	if o == nil {
		return nil
	}
	names := []protoreflect.Name{"no_standard_descriptor_accessor", "deprecated", "map_entry", "features"}
	return append(known(o, names), meta(o, "message_meta")...)
}

func fieldOptions(o *descriptorpb.FieldOptions) []Option {
	if o == nil {
		return nil
	}
	names := []protoreflect.Name{
		"ctype", "packed", "jstype", "deprecated", "debug_redact", "retention", "targets", "edition_defaults", "features",
	}
	return append(known(o, names), meta(o, "field_meta")...)
}

func enumOptions(o *descriptorpb.EnumOptions) []Option {
	if o == nil {
		return nil
	}
	return append(known(o, []protoreflect.Name{"allow_alias", "deprecated", "features"}), meta(o, "enum_meta")...)
}

func enumValueOptions(o *descriptorpb.EnumValueOptions) []Option {
	if o == nil {
		return nil
	}
	return append(known(o, []protoreflect.Name{"deprecated", "debug_redact", "features"}), meta(o, "enum_value_meta")...)
}

func serviceOptions(o *descriptorpb.ServiceOptions) []Option {
	if o == nil {
		return nil
	}
	return known(o, []protoreflect.Name{"deprecated", "features"})
}

func methodOptions(o *descriptorpb.MethodOptions) []Option {
	if o == nil {
		return nil
	}
	return known(o, []protoreflect.Name{"deprecated", "idempotency_level", "features"})
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
