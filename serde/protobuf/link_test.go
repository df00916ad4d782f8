package protobuf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

// TestBuiltInFilesLink: every built-in file is one that protoc would take, and
// can be imported by its path.
func TestBuiltInFilesLink(t *testing.T) {
	if err := builtIns().err; err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("syntax = \"proto3\";\n")
	for path := range builtIns().files {
		fmt.Fprintf(&text, "import %q;\n", path)
	}
	text.WriteString(`import "confluent/types/decimal.proto";
message M {
  google.type.Money price = 1;
  confluent.type.Decimal amount = 2 [(confluent.field_meta).doc = "x"];
  string mail = 3 [(buf.validate.field).string.email = true];
}`)
	if _, err := parse(t, strings.Replace(text.String(), "import \"confluent/types/decimal.proto\";\n", "", 1)).Link(); err != nil {
		t.Error(err)
	}
	if _, err := parse(t, "syntax = \"proto3\"; import \"confluent/types/decimal.proto\"; message M { confluent.type.Decimal d = 1; }").Link(); err != nil {
		t.Error(err)
	}
}

func TestLinkErrors(t *testing.T) {
	s := parse(t, "syntax = \"proto3\"; message M { string a = 1; string b = 1; } enum E { X = 1; }")
	for range 2 { // the result is kept
		_, err := s.Link()
		var link *LinkError
		if !errors.As(err, &link) || len(link.Problems) < 2 || link.Problems[0].Line != 5 || link.Problems[0].Column == 0 || link.Problems[0].Path != "" {
			t.Fatalf("%+v", err)
		}
	}
	for _, c := range []struct {
		text, want string
		deps       []schema.Dependency
	}{
		{"syntax = \"proto3\"; import \"nowhere.proto\"; message M {}", "nowhere.proto", nil},
		{"syntax = \"proto3\"; import \"a.proto\"; message M {}", "a.proto",
			[]schema.Dependency{{Name: "a.proto", Text: "syntax = \"proto3\"; import \"b.proto\"; message A {}"}, {Name: "b.proto", Text: "syntax = \"proto3\"; import \"a.proto\"; message B {}"}}},
		{"syntax = \"proto3\"; import \"default\"; message M {}", "default", nil},
		{"syntax = \"proto3\"; message M { map<string, Nope> m = 1; }", "Nope", nil},
	} {
		s := parse(t, c.text, c.deps...)
		if _, err := s.Link(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
		if raw, err := s.Linked(); err == nil {
			if loose, err := s.Serialized(); err != nil || string(loose) != string(raw) {
				t.Errorf("%s: linked is not serialized: %v", c.text, err)
			}
		} else if !errors.Is(err, ErrNoDescriptor) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestLinkMakesUp: what protoc refuses but decoding doesn't need.
func TestLinkMakesUp(t *testing.T) {
	dep := schema.Dependency{Name: "t.proto", Text: "syntax = \"proto3\"; package t; message T { string s = 1 [(nowhere) = 1]; }"}
	s := parse(t, `syntax = "proto3"; message M { google.protobuf.Timestamp at = 1; t.T t = 2 [(confluent.field_meta) = {tags: ["x"]}]; map<string, google.type.Date> d = 3; } `, dep)
	f, err := s.Link()
	if err != nil {
		t.Fatal(err)
	}
	if m := f.Messages().ByName("M"); m.Fields().ByName("at").Message().FullName() != "google.protobuf.Timestamp" || f.Imports().Len() != 3 {
		t.Errorf("%v, %d imports", m, f.Imports().Len())
	}
}

// TestDescriptorIsComplete: the descriptor is built by the descriptor library
// from the reference's file and its own, as clients do.
func TestDescriptorIsComplete(t *testing.T) {
	dep := schema.Dependency{Name: "lib/rebate.proto", Text: "syntax = \"proto3\"; package lib.v1; message Rebate { oneof kind { int64 cents = 2; double share = 3; } }"}
	s := parse(t, `syntax = "proto3"; package app.v1; import "lib/rebate.proto"; import "google/protobuf/timestamp.proto";
message P { map<string, lib.v1.Rebate> foo_bar = 1; message N { N up = 1; } oneof x { lib.v1.Rebate a = 2; } N n = 3; google.protobuf.Timestamp t = 4;
 optional int32 o = 5; string named = 6 [json_name = "Other"]; }`, dep)
	d, err := s.Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	m := d.MessageType[0]
	entry := m.NestedType[len(m.NestedType)-2].GetName() + m.NestedType[len(m.NestedType)-1].GetName()
	if !strings.Contains(entry, "FooBarEntry") || m.Field[0].GetType() != descriptorpb.FieldDescriptorProto_TYPE_MESSAGE || m.Field[0].GetTypeName() != ".app.v1.P.FooBarEntry" {
		t.Errorf("map field: %v (%s)", m.Field[0], entry)
	}
	for _, f := range m.Field {
		if (f.JsonName != nil) != (f.GetName() == "named") {
			t.Errorf("JSON name of %v", f)
		}
	}
	lib, err := parse(t, dep.Text).Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	lib.Name = proto.String(dep.Name)
	files := &protoregistry.Files{}
	for _, p := range []*descriptorpb.FileDescriptorProto{lib, d} {
		f, err := protodesc.NewFile(p, chain{files})
		if err != nil {
			t.Fatal(err)
		}
		if err := files.RegisterFile(f); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := files.FindDescriptorByName("app.v1.P.N.up"); err != nil {
		t.Errorf("%v %v", found, err)
	}
	// The text and the descriptor are one schema once normalized.
	raw, err := s.Linked()
	if err != nil {
		t.Fatal(err)
	}
	back, wrong := fromDescriptor(unmarshal(t, raw), schema.Limits{}.WithDefaults())
	if wrong != nil {
		t.Fatal(wrong)
	}
	text, _ := printFile(back)
	if got := parse(t, text, dep).Normalized(); got != s.Normalized() {
		t.Errorf("--- from the descriptor\n%s\n--- from the text\n%s", got, s.Normalized())
	}
}

// chain finds files among those built here, then among the library's.
type chain struct{ files *protoregistry.Files }

func (c chain) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if f, err := c.files.FindFileByPath(path); err == nil {
		return f, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

func (c chain) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if d, err := c.files.FindDescriptorByName(name); err == nil {
		return d, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}

func unmarshal(t *testing.T, raw []byte) *descriptorpb.FileDescriptorProto {
	t.Helper()
	d := &descriptorpb.FileDescriptorProto{}
	if err := proto.Unmarshal(raw, d); err != nil {
		t.Fatal(err)
	}
	return d
}
