package protobuf

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// ErrNoDescriptor says that a schema can't be a descriptor, because a type in
// it means nothing or an option has no value of its type.
var ErrNoDescriptor = errors.New("schema has no descriptor")

// Serialized returns the FileDescriptorProto that the reference makes of the
// schema, byte for byte: names as they are written, labels only where they are,
// entries of maps behind the nested types, custom options lost. The error wraps
// ErrNoDescriptor. Descriptor gives one that descriptor libraries can link.
func (s *Schema) Serialized() ([]byte, error) {
	b := &builder{schema: s}
	return b.marshal()
}

// builder makes a descriptor from the tree.
type builder struct {
	schema *Schema
	scopes *scopes
	linked bool // names in full, labels always, entries as protoc makes them
	err    error
}

func (b *builder) marshal() ([]byte, error) {
	d := b.file()
	if b.err != nil {
		return nil, b.err
	}
	raw, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDescriptor, err)
	}
	return raw, nil
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: %s", ErrNoDescriptor, fmt.Sprintf(format, args...))
	}
}

// fileName is the name that descriptors of schemas have.
const fileName = "default"

func (b *builder) file() *descriptorpb.FileDescriptorProto {
	f := b.schema.file
	b.scopes = b.schema.names.in(splitName(f.Package))
	d := &descriptorpb.FileDescriptorProto{Name: proto.String(fileName)}
	if f.Package != "" {
		d.Package = proto.String(f.Package)
	}
	if f.Syntax != "" {
		d.Syntax = proto.String(f.Syntax)
	}
	for _, i := range f.Imports {
		if b.knows(i.Path) {
			d.Dependency = append(d.Dependency, i.Path)
		}
	}
	for _, i := range f.PublicImports {
		if b.knows(i.Path) {
			d.PublicDependency = append(d.PublicDependency, int32(len(d.Dependency)))
			d.Dependency = append(d.Dependency, i.Path)
		}
	}
	for _, m := range f.Messages {
		d.MessageType = append(d.MessageType, b.message(m))
	}
	for _, e := range f.Enums {
		d.EnumType = append(d.EnumType, b.enum(e))
	}
	d.Extension = b.extends(f.Extends)
	for _, s := range f.Services {
		d.Service = append(d.Service, b.service(s))
	}
	d.Options = writeOptions(b, f.Options, &descriptorpb.FileOptions{}, keptFileOptions(), "file_meta")
	if b.scopes.spent() {
		b.fail("its names take too many steps to resolve")
	}
	return d
}

// knows reports whether an import is a reference or a built-in file.
func (b *builder) knows(path string) bool {
	if f := builtIns().files[path]; f != nil && (b.linked || !linkOnly(path)) {
		return true
	}
	return slices.ContainsFunc(b.schema.files, func(d dependency) bool { return d.name == path })
}

func (b *builder) message(m *Message) *descriptorpb.DescriptorProto {
	depth := b.scopes.enter(m.Name)
	defer b.scopes.leave(depth)
	d := &descriptorpb.DescriptorProto{Name: proto.String(m.Name)}
	d.Options = writeOptions(b, m.Options, &descriptorpb.MessageOptions{}, keptMessageOptions(), "message_meta")
	entries := b.members(m, d)
	for _, n := range m.Messages {
		d.NestedType = append(d.NestedType, b.message(n))
	}
	d.NestedType = append(d.NestedType, entries...)
	for _, e := range m.Enums {
		d.EnumType = append(d.EnumType, b.enum(e))
	}
	d.Extension = b.extends(m.Extends)
	for _, x := range m.Extensions {
		for _, r := range x.Ranges {
			d.ExtensionRange = append(d.ExtensionRange, &descriptorpb.DescriptorProto_ExtensionRange{
				Start: proto.Int32(r.From), End: proto.Int32(after(r.To)), Options: &descriptorpb.ExtensionRangeOptions{},
			})
		}
	}
	for _, list := range m.Reserved {
		for _, item := range list.Items {
			if item.Name != nil {
				d.ReservedName = append(d.ReservedName, *item.Name)
				continue
			}
			d.ReservedRange = append(d.ReservedRange, &descriptorpb.DescriptorProto_ReservedRange{
				Start: proto.Int32(item.Range.From), End: proto.Int32(after(item.Range.To)),
			})
		}
	}
	return d
}

// after returns the end of a range that leaves its end out. It may overflow as
// Java's does.
func after(n int32) int32 { return n + 1 }

// members adds fields and oneofs and returns the entries of maps. Oneofs that
// proto3 optional makes come after the written ones.
func (b *builder) members(m *Message, d *descriptorpb.DescriptorProto) []*descriptorpb.DescriptorProto {
	var entries []*descriptorpb.DescriptorProto
	for i, o := range m.Oneofs {
		d.OneofDecl = append(d.OneofDecl, &descriptorpb.OneofDescriptorProto{
			Name: proto.String(o.Name), Options: &descriptorpb.OneofOptions{},
		})
		for _, f := range o.Fields {
			x := b.field(f, &entries)
			x.OneofIndex = proto.Int32(int32(i))
			x.Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
			d.Field = append(d.Field, x)
		}
	}
	inOneof := map[string]bool{}
	for _, f := range d.Field {
		inOneof[f.GetName()] = true
	}
	var synthetic []*descriptorpb.OneofDescriptorProto
	for _, f := range m.Fields {
		if inOneof[f.Name] {
			continue // the reference adds a name once
		}
		x := b.field(f, &entries)
		if f.Label == Optional && b.schema.file.Syntax == "proto3" {
			x.OneofIndex = proto.Int32(int32(len(d.OneofDecl) + len(synthetic)))
			x.Proto3Optional = proto.Bool(true)
			synthetic = append(synthetic, &descriptorpb.OneofDescriptorProto{
				Name: proto.String("_" + f.Name), Options: &descriptorpb.OneofOptions{},
			})
		}
		d.Field = append(d.Field, x)
	}
	d.OneofDecl = append(d.OneofDecl, synthetic...)
	return entries
}

// entryName returns the name of the entry message of a map field: the
// reference's, which leaves the first letter as it is, or protoc's.
func (b *builder) entryName(field string) string {
	var out strings.Builder
	upper := b.linked || strings.Contains(field, "_")
	for _, c := range field {
		switch {
		case c == '_':
			upper = true
		case upper && c >= 'a' && c <= 'z':
			out.WriteRune(c - 'a' + 'A')
			upper = false
		default:
			out.WriteRune(c)
			upper = false
		}
	}
	return out.String() + "Entry"
}

func (b *builder) field(f *Field, entries *[]*descriptorpb.DescriptorProto) *descriptorpb.FieldDescriptorProto {
	d := &descriptorpb.FieldDescriptorProto{Name: proto.String(f.Name), Number: proto.Int32(f.Number)}
	if f.Type.IsMap() {
		name := b.entryName(f.Name)
		*entries = append(*entries, b.entry(name, f.Type))
		d.TypeName = proto.String(name)
		d.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	} else {
		b.setType(d, f.Type)
	}
	switch f.Label {
	case Optional:
		d.Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
	case Required:
		d.Label = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum()
	case Repeated:
		d.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	case NoLabel:
	}
	d.DefaultValue, d.JsonName = f.Default, f.JSONName
	d.Options = writeOptions(b, f.Options, &descriptorpb.FieldOptions{}, keptFieldOptions(), "field_meta")
	return d
}

func (b *builder) setType(d *descriptorpb.FieldDescriptorProto, t Type) {
	if isScalar(t.Name) {
		word := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(t.Name)]
		d.Type = descriptorpb.FieldDescriptorProto_Type(word).Enum()
		return
	}
	def := b.scopes.definition(t.Name)
	if def == nil {
		b.fail("could not resolve type: %s", clip(t.String()))
		return
	}
	d.TypeName = proto.String(t.Name)
	d.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
	if def.Enum != nil {
		d.Type = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum()
	}
}

func (b *builder) entry(name string, t Type) *descriptorpb.DescriptorProto {
	key := &descriptorpb.FieldDescriptorProto{Name: proto.String("key"), Number: proto.Int32(1)}
	value := &descriptorpb.FieldDescriptorProto{Name: proto.String("value"), Number: proto.Int32(2)}
	b.setType(key, *t.Key)
	b.setType(value, *t.Value)
	return &descriptorpb.DescriptorProto{
		Name: proto.String(name), Field: []*descriptorpb.FieldDescriptorProto{key, value},
		Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
	}
}

func (b *builder) extends(list []*Extend) []*descriptorpb.FieldDescriptorProto {
	var out []*descriptorpb.FieldDescriptorProto
	for _, x := range list {
		for _, f := range x.Fields {
			var entries []*descriptorpb.DescriptorProto
			d := b.field(f, &entries)
			d.Extendee = proto.String(x.Name)
			out = append(out, d)
		}
	}
	return out
}

func (b *builder) enum(e *Enum) *descriptorpb.EnumDescriptorProto {
	d := &descriptorpb.EnumDescriptorProto{Name: proto.String(e.Name)}
	for _, v := range e.Values {
		d.Value = append(d.Value, &descriptorpb.EnumValueDescriptorProto{
			Name: proto.String(v.Name), Number: proto.Int32(v.Number),
			Options: writeOptions(b, v.Options, &descriptorpb.EnumValueOptions{}, keptValueOptions(), "enum_value_meta"),
		})
	}
	d.Options = writeOptions(b, e.Options, &descriptorpb.EnumOptions{}, keptEnumOptions(), "enum_meta")
	for _, list := range e.Reserved {
		for _, item := range list.Items {
			if item.Name != nil {
				d.ReservedName = append(d.ReservedName, *item.Name)
				continue
			}
			d.ReservedRange = append(d.ReservedRange, &descriptorpb.EnumDescriptorProto_EnumReservedRange{
				Start: proto.Int32(item.Range.From), End: proto.Int32(item.Range.To),
			})
		}
	}
	return d
}

func (b *builder) service(s *Service) *descriptorpb.ServiceDescriptorProto {
	d := &descriptorpb.ServiceDescriptorProto{Name: proto.String(s.Name)}
	d.Options = writeOptions(b, s.Options, &descriptorpb.ServiceOptions{}, keptServiceOptions(), "")
	for _, r := range s.RPCs {
		d.Method = append(d.Method, &descriptorpb.MethodDescriptorProto{
			Name: proto.String(r.Name), InputType: proto.String(r.Request), OutputType: proto.String(r.Response),
			ClientStreaming: proto.Bool(r.StreamsRequest), ServerStreaming: proto.Bool(r.StreamsResponse),
			Options: writeOptions(b, r.Options, &descriptorpb.MethodOptions{}, keptMethodOptions(), ""),
		})
	}
	return d
}
