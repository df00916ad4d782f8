package protobuf

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

func TestFileSet(t *testing.T) {
	deps := []schema.Dependency{
		{Name: "a.proto", Text: "syntax = \"proto3\"; package a; import \"google/protobuf/any.proto\"; message A { google.protobuf.Any any = 1; }"},
		{Name: "b.proto", Text: "syntax = \"proto3\"; package b; import \"a.proto\"; message B { a.A a = 1; }"},
	}
	s := parse(t, "syntax = \"proto3\"; package c; import \"b.proto\"; import \"a.proto\"; message C { b.B b = 1; a.A a = 2; }", deps...)
	set, err := s.FileSet()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range set.File {
		names = append(names, f.GetName())
	}
	if got := strings.Join(names, " "); got != "google/protobuf/any.proto a.proto b.proto default" {
		t.Errorf("files %s", got)
	}
	if _, err := protodesc.NewFiles(set); err != nil {
		t.Error(err)
	}
	raw, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	back, err := FromFileSet(raw, schema.Limits{})
	if err != nil || len(back.Dependencies) != 2 {
		t.Fatalf("%+v %v", back, err)
	}
	if again := parse(t, back.Text, back.Dependencies...); again.Normalized() != s.Normalized() {
		t.Errorf("%s", again.Normalized())
	}
}

func TestBadFileSets(t *testing.T) {
	empty, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{MessageType: []*descriptorpb.DescriptorProto{{}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{"garbage": []byte("garbage"), "empty": nil, "bad file": empty, "long": make([]byte, 8*101)} {
		if r, err := FromFileSet(raw, schema.Limits{TextBytesMax: 100}); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := parse(t, "syntax = \"proto3\"; enum E { X = 1; }").FileSet(); err == nil {
		t.Error("a schema that doesn't link has a set")
	}
}

// TestFileSetThatPrintsLong: deep nesting makes a long text of few bytes, which
// must not add up over the files of a set.
func TestFileSetThatPrintsLong(t *testing.T) {
	m := &descriptorpb.DescriptorProto{Name: proto.String("M")}
	for i := range 100 {
		m.Field = append(m.Field, &descriptorpb.FieldDescriptorProto{
			Name: proto.String("f"), Number: proto.Int32(int32(i + 1)), Type: descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		})
	}
	for range 400 {
		m = &descriptorpb.DescriptorProto{Name: proto.String("M"), NestedType: []*descriptorpb.DescriptorProto{m}}
	}
	set := &descriptorpb.FileDescriptorSet{}
	for i := range 200 {
		set.File = append(set.File, &descriptorpb.FileDescriptorProto{
			Name: proto.String(fmt.Sprintf("f%d.proto", i)), MessageType: []*descriptorpb.DescriptorProto{m},
		})
	}
	raw, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromFileSet(raw, schema.Limits{TextBytesMax: 1 << 20}); err == nil || !strings.Contains(err.Error(), "together") {
		t.Errorf("%d bytes: %.200v", len(raw), err)
	}
}
