package protobuf

import (
	"encoding/base64"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

func encode(t *testing.T, d *descriptorpb.FileDescriptorProto) string {
	t.Helper()
	raw, err := proto.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// TestRangesDoNotShift: ends are in the text's ranges and out of a message's in
// the descriptor, however often one is made of the other.
func TestRangesDoNotShift(t *testing.T) {
	s := parse(t, `syntax = "proto3"; package shop;
message M { reserved 2 to 5, 9, 15 to max; reserved "old", "older"; int32 a = 1; }
enum E { reserved 3 to 6, 40 to max; Z = 0; }`)
	text := ""
	for round := range 5 {
		raw, err := s.Serialized()
		if err != nil {
			t.Fatal(err)
		}
		s = parse(t, base64.StdEncoding.EncodeToString(raw))
		for _, want := range []string{"reserved 2 to 5;", "reserved 9;", "reserved 15 to max;", "reserved \"older\";", "  reserved 3 to 6;", "reserved 40 to max;"} {
			if !strings.Contains(s.Canonical(), want) {
				t.Errorf("round %d lacks %s:\n%s", round, want, s.Canonical())
			}
		}
		if round > 0 && s.Canonical() != text {
			t.Errorf("round %d changed the text:\n%s", round, s.Canonical())
		}
		text = s.Canonical()
	}
}

// TestTextAndDescriptorAreOneSchema once normalized, without JSON names.
func TestTextAndDescriptorAreOneSchema(t *testing.T) {
	s := parse(t, `syntax = "proto3"; package p;
message A { string a = 1 [deprecated = true]; repeated B bs = 2; map<int32, B> m = 3; oneof o { B b = 4; string s = 5; } optional int64 n = 6; enum K { Z = 0; } K k = 7; }
message B { A up = 1; } service S { rpc R (A) returns (stream B) { option idempotency_level = IDEMPOTENT; } }`)
	raw, err := s.Linked()
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(t, base64.StdEncoding.EncodeToString(raw)).Normalized(); got != s.Normalized() {
		t.Errorf("--- from the descriptor\n%s\n--- from the text\n%s", got, s.Normalized())
	}
}

func TestMetaSurvivesDescriptors(t *testing.T) {
	const text = `syntax = "proto3";

message A {
  option (confluent.message_meta) = {
    doc: "d",
    params: [
      {
        key: "k",
        value: "v"
      }
    ],
    tags: [
      "x",
      "y"
    ]
  };

  int32 a = 1 [(confluent.field_meta) = {
    tags: [
      "z"
    ]
  }];
}
`
	raw, err := parse(t, text).Serialized()
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(t, base64.StdEncoding.EncodeToString(raw)).Canonical(); got != text {
		t.Errorf("%s", got)
	}
}

func TestBadDescriptors(t *testing.T) {
	field := func(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FileDescriptorProto {
		return &descriptorpb.FileDescriptorProto{MessageType: []*descriptorpb.DescriptorProto{{
			Name: proto.String("M"), Field: []*descriptorpb.FieldDescriptorProto{f},
		}}}
	}
	i32 := descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()
	msg := descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
	for name, d := range map[string]*descriptorpb.FileDescriptorProto{
		"no name":      {MessageType: []*descriptorpb.DescriptorProto{{}}},
		"bad name":     {MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M {} message N")}}},
		"digit":        field(&descriptorpb.FieldDescriptorProto{Name: proto.String("1a"), Type: i32}),
		"no type":      field(&descriptorpb.FieldDescriptorProto{Name: proto.String("a")}),
		"no type name": field(&descriptorpb.FieldDescriptorProto{Name: proto.String("a"), Type: msg}),
		"oneof":        field(&descriptorpb.FieldDescriptorProto{Name: proto.String("a"), Type: i32, OneofIndex: proto.Int32(3)}),
		"unresolved":   field(&descriptorpb.FieldDescriptorProto{Name: proto.String("a"), Type: msg, TypeName: proto.String(".N")}),
	} {
		if s, err := (Parser{}).ParseSchema(schema.Resolved{Text: encode(t, d)}); err == nil {
			t.Errorf("%s: %s", name, s.Canonical())
		}
	}
}
