package evolution_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"milena/evolution"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// protoText writes a message with the types of fields by number, "" for none.
func protoText(fields []string) string {
	var b strings.Builder
	b.WriteString("syntax = \"proto3\";\nenum E { Z = 0; O = 1; }\nmessage N { int32 x = 1; }\nmessage M {\n")
	for i, f := range fields {
		if f != "" {
			fmt.Fprintf(&b, "  %s f%d = %d;\n", f, i+1, i+1)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// one returns the value 1 of a kind, or what stands for it.
func one(m protoreflect.Message, f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("1")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("1"))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(1)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(1)
	case protoreflect.MessageKind:
		inner := m.NewField(f).Message()
		inner.Set(inner.Descriptor().Fields().ByNumber(1), protoreflect.ValueOfInt32(1))
		return protoreflect.ValueOfMessage(inner)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(1)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(1)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(1)
	default:
		return protoreflect.ValueOfInt64(1)
	}
}

func message(t *testing.T, parsed schema.Parsed) *dynamicpb.Message {
	t.Helper()
	file, err := parsed.(*protobuf.Schema).Link()
	if err != nil {
		t.Fatal(err)
	}
	return dynamicpb.NewMessage(file.Messages().ByName("M"))
}

// TestProtobufCompatibleMeansReadable: the checker lets a pair pass exactly if
// the Protobuf runtime reads in each field that both have what was written.
func TestProtobufCompatibleMeansReadable(t *testing.T) {
	types := []string{
		"int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64",
		"float", "double", "bool", "string", "bytes", "E", "N",
	}
	c, err := evolution.New(evolution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[bool]int{}
	for seed := range uint64(1200) {
		r := rand.New(rand.NewPCG(seed, 3))
		var old, next [4]string
		for i := range old {
			if r.IntN(4) > 0 {
				old[i] = types[r.IntN(len(types))]
			}
			if next[i] = old[i]; r.IntN(4) == 0 {
				next[i] = types[r.IntN(len(types))]
			}
		}
		oldText, newText := protoText(old[:]), protoText(next[:])
		writer, reader := parseText(t, schema.Protobuf, oldText), parseText(t, schema.Protobuf, newText)
		result, err := c.Check(t.Context(), evolution.Backward, reader, []schema.Parsed{writer})
		if err != nil {
			t.Fatal(err)
		}
		if reads := protoReads(t, message(t, writer), message(t, reader)); reads != result.Compatible {
			t.Errorf("seed %d: compatible %v, read %v\n%s\n%s", seed, result.Compatible, reads, oldText, newText)
		}
		verdicts[result.Compatible]++
	}
	if verdicts[true] < 100 || verdicts[false] < 100 {
		t.Errorf("%v pairs say little", verdicts)
	}
}

// protoReads writes 1 into each field and reports whether the fields that the
// reader has as well hold 1.
func protoReads(t *testing.T, w, r *dynamicpb.Message) bool {
	t.Helper()
	fields := w.Descriptor().Fields()
	for i := range fields.Len() {
		w.Set(fields.Get(i), one(w, fields.Get(i)))
	}
	data, err := proto.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if proto.Unmarshal(data, r) != nil {
		return false
	}
	for i := range fields.Len() {
		f := r.Descriptor().Fields().ByNumber(fields.Get(i).Number())
		// The reference refuses sint as bool, though what isn't zero reads as true.
		zigzag := fields.Get(i).Kind() == protoreflect.Sint32Kind || fields.Get(i).Kind() == protoreflect.Sint64Kind
		if f != nil && zigzag && f.Kind() == protoreflect.BoolKind {
			return false
		}
		if f != nil && (!r.Has(f) || !r.Get(f).Equal(one(r, f))) {
			return false
		}
	}
	return true
}
