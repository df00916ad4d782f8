package protobuf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

// reader turns a FileDescriptorProto into the tree that the reference makes of
// it: types as the descriptor names them, maps as entry messages, ranges one a
// statement, known options in a fixed order, custom ones lost but for those of
// confluent/meta.proto.
type reader struct {
	limits schema.Limits
	proto3 bool
	depth  int
	names  int
	err    *schema.ParseError
}

// fromDescriptor returns the tree of a descriptor.
func fromDescriptor(d *descriptorpb.FileDescriptorProto, limits schema.Limits) (*File, *schema.ParseError) {
	r := &reader{limits: limits, proto3: d.GetSyntax() == "proto3"}
	f := &File{Package: d.GetPackage(), Options: readOptions(d.Options, keptFileOptions(), "file_meta")}
	if r.proto3 {
		f.Syntax = "proto3"
	}
	r.imports(d, f)
	for _, m := range d.MessageType {
		f.Messages = append(f.Messages, r.message(m))
	}
	for _, e := range d.EnumType {
		f.Enums = append(f.Enums, r.enum(e))
	}
	f.Extends = r.extends(d.Extension)
	for _, s := range d.Service {
		f.Services = append(f.Services, r.service(s))
	}
	if r.err != nil {
		return nil, r.err
	}
	return f, nil
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &schema.ParseError{Message: syntaxPrefix + "descriptor: " + fmt.Sprintf(format, args...)}
	}
}

// name checks what the tree can't be printed without. Names of descriptors are
// otherwise as free as those of texts.
func (r *reader) name(s string) string {
	if s == "" || !utf8.ValidString(s) {
		r.fail("a name is missing or broken")
	}
	for i := range len(s) {
		if !isWordByte(s[i]) {
			r.fail("bad name %q", clip(s))
			break
		}
	}
	return s
}

func (r *reader) imports(d *descriptorpb.FileDescriptorProto, f *File) {
	public := map[int32]bool{}
	for _, i := range d.PublicDependency {
		public[i] = true
	}
	for i, path := range d.Dependency {
		if public[int32(i)] {
			f.PublicImports = append(f.PublicImports, Import{Path: path})
		} else {
			f.Imports = append(f.Imports, Import{Path: path})
		}
	}
}

func (r *reader) named() {
	if r.names++; r.names > r.limits.NamesMax {
		r.fail("more than %d named types", r.limits.NamesMax)
	}
}

func (r *reader) message(d *descriptorpb.DescriptorProto) *Message {
	m := &Message{Name: r.name(d.GetName()), Options: readOptions(d.Options, keptMessageOptions(), "message_meta")}
	r.named()
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > r.limits.DepthMax {
		r.fail("nested deeper than the maximum allowed (%d)", r.limits.DepthMax)
	}
	if r.err != nil {
		return m
	}
	for _, x := range d.ReservedRange {
		m.Reserved = append(m.Reserved, Reserved{Items: []ReservedItem{{Range: single(Range{From: x.GetStart(), To: x.GetEnd() - 1})}}})
	}
	m.Reserved = append(m.Reserved, reservedNames(d.ReservedName)...)
	r.members(d, m)
	for _, x := range d.ExtensionRange {
		m.Extensions = append(m.Extensions, Extensions{Ranges: []Range{single(Range{From: x.GetStart(), To: x.GetEnd() - 1})}})
	}
	m.Extends = r.extends(d.Extension)
	for _, n := range d.NestedType {
		m.Messages = append(m.Messages, r.message(n))
	}
	for _, e := range d.EnumType {
		m.Enums = append(m.Enums, r.enum(e))
	}
	return m
}

func reservedNames(names []string) []Reserved {
	var out []Reserved
	for _, n := range names {
		out = append(out, Reserved{Items: []ReservedItem{{Name: &n}}})
	}
	return out
}

// members reads the fields into the message and its oneofs. The oneof of a
// proto3 optional field is none.
func (r *reader) members(d *descriptorpb.DescriptorProto, m *Message) {
	oneofs := make([]*Oneof, len(d.OneofDecl))
	synthetic := map[int32]bool{}
	for _, f := range d.Field {
		if f.GetProto3Optional() && f.OneofIndex != nil {
			synthetic[f.GetOneofIndex()] = true
		}
	}
	for i, o := range d.OneofDecl {
		oneofs[i] = &Oneof{Name: r.name(o.GetName())}
		if !synthetic[int32(i)] {
			m.Oneofs = append(m.Oneofs, oneofs[i])
		}
	}
	for _, f := range d.Field {
		i := f.OneofIndex
		switch {
		case i == nil || f.GetProto3Optional():
			m.Fields = append(m.Fields, r.field(f, false))
		case int(*i) >= 0 && int(*i) < len(oneofs):
			oneofs[*i].Fields = append(oneofs[*i].Fields, r.field(f, true))
		default:
			r.fail("field %s is of a oneof that is not there", clip(f.GetName()))
		}
	}
}

func (r *reader) field(d *descriptorpb.FieldDescriptorProto, inOneof bool) *Field {
	f := &Field{Name: r.name(d.GetName()), Number: d.GetNumber(), Options: readOptions(d.Options, keptFieldOptions(), "field_meta")}
	if c := f.Name; c != "" && c[0] >= '0' && c[0] <= '9' {
		r.fail("field and constant names cannot start with a digit")
	}
	f.Type = Type{Name: r.typeName(d)}
	switch {
	case d.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED:
		f.Label = Repeated
	case inOneof:
	case d.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED:
		f.Label = Required
	case !r.proto3 || d.GetProto3Optional():
		f.Label = Optional
	}
	if f.Label == Required && r.proto3 {
		r.fail("'required' label forbidden in proto3 field declarations")
	}
	if d.DefaultValue != nil {
		f.Default = proto.String(strings.ToValidUTF8(d.GetDefaultValue(), "\uFFFD"))
	}
	if d.JsonName != nil {
		f.JSONName = proto.String(strings.ToValidUTF8(d.GetJsonName(), "\uFFFD"))
	}
	return f
}

func (r *reader) typeName(d *descriptorpb.FieldDescriptorProto) string {
	if d.TypeName != nil {
		return r.name(d.GetTypeName())
	}
	if d.Type == nil {
		r.fail("field %s has no type", clip(d.GetName()))
		return ""
	}
	word := strings.ToLower(strings.TrimPrefix(d.GetType().String(), "TYPE_"))
	if !isScalar(word) {
		r.fail("field %s has no type name", clip(d.GetName()))
	}
	return word
}

// extends makes one extend of each run of extensions of one message.
func (r *reader) extends(list []*descriptorpb.FieldDescriptorProto) []*Extend {
	var out []*Extend
	at := map[string]*Extend{}
	for _, d := range list {
		name := r.name(d.GetExtendee())
		to := at[name]
		if to == nil {
			to = &Extend{Name: name}
			at[name] = to
			out = append(out, to)
		}
		to.Fields = append(to.Fields, r.field(d, false))
	}
	return out
}

func (r *reader) enum(d *descriptorpb.EnumDescriptorProto) *Enum {
	e := &Enum{Name: r.name(d.GetName()), Options: readOptions(d.Options, keptEnumOptions(), "enum_meta")}
	r.named()
	for _, x := range d.ReservedRange {
		e.Reserved = append(e.Reserved, Reserved{Items: []ReservedItem{{Range: single(Range{From: x.GetStart(), To: x.GetEnd()})}}})
	}
	e.Reserved = append(e.Reserved, reservedNames(d.ReservedName)...)
	for _, v := range d.Value {
		e.Values = append(e.Values, EnumValue{Name: r.name(v.GetName()), Number: v.GetNumber(), Options: readOptions(v.Options, keptValueOptions(), "enum_value_meta")})
	}
	return e
}

func (r *reader) service(d *descriptorpb.ServiceDescriptorProto) *Service {
	s := &Service{Name: r.name(d.GetName()), Options: readOptions(d.Options, keptServiceOptions(), "")}
	for _, m := range d.Method {
		s.RPCs = append(s.RPCs, &RPC{
			Name: r.name(m.GetName()), Request: r.name(m.GetInputType()), Response: r.name(m.GetOutputType()),
			StreamsRequest: m.GetClientStreaming(), StreamsResponse: m.GetServerStreaming(), Options: readOptions(m.Options, keptMethodOptions(), ""),
		})
	}
	return s
}

// metaNumber is the number of the extensions of confluent/meta.proto.
const metaNumber = 1088

// meta returns the value of the Meta extension among the fields that the
// generated code doesn't know, as an option of the given name.
func meta(m proto.Message, name string) []Option {
	raw := unknown(m, metaNumber)
	if raw == nil {
		return nil
	}
	v := Value{Kind: MapValue}
	var params, tags []Value
	for len(raw) > 0 {
		number, typ, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return nil
		}
		raw = raw[n:]
		if typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, typ, raw); n < 0 {
				return nil
			}
			raw = raw[n:]
			continue
		}
		b, n := protowire.ConsumeBytes(raw)
		if n < 0 {
			return nil
		}
		raw = raw[n:]
		switch number {
		case 1:
			setEntry(&v, "doc", Value{Kind: StringValue, Text: text(b)})
		case 2:
			params = append(params, param(b))
		case 3:
			tags = append(tags, Value{Kind: StringValue, Text: text(b)})
		}
	}
	if len(params) > 0 {
		setEntry(&v, "params", Value{Kind: ListValue, List: params})
	}
	if len(tags) > 0 {
		setEntry(&v, "tags", Value{Kind: ListValue, List: tags})
	}
	return []Option{{Name: "confluent." + name, Paren: true, Value: v}}
}

func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

func setEntry(v *Value, key string, value Value) {
	if at := v.entry(key); at != nil {
		*at = value
		return
	}
	v.Map = append(v.Map, Entry{Key: key, Value: value})
}

func param(b []byte) Value {
	v := Value{Kind: MapValue}
	for _, part := range []struct {
		number protowire.Number
		name   string
	}{{1, "key"}, {2, "value"}} {
		setEntry(&v, part.name, Value{Kind: StringValue, Text: text(field(b, part.number))})
	}
	return v
}

// unknown returns all unknown length-delimited fields of a number joined, which
// is how messages are merged; nil if there is none.
func unknown(m proto.Message, wanted protowire.Number) []byte {
	return field(m.ProtoReflect().GetUnknown(), wanted)
}

func field(raw []byte, wanted protowire.Number) []byte {
	var out []byte
	for len(raw) > 0 {
		number, typ, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return out
		}
		raw = raw[n:]
		if number == wanted && typ == protowire.BytesType {
			b, n := protowire.ConsumeBytes(raw)
			if n < 0 {
				return out
			}
			if out == nil {
				out = []byte{}
			}
			out = append(out, b...)
			raw = raw[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, typ, raw); n < 0 {
			return out
		}
		raw = raw[n:]
	}
	return out
}

func boolText(b bool) string { return strconv.FormatBool(b) }
