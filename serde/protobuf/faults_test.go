package protobuf

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

// TestKnownFaults: schemas that other registries stumbled over, by what went
// wrong: each is taken, links, and the descriptor of its stored text is that of
// the text as it came.
func TestKnownFaults(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		want       []string // in the stored text
	}{
		{"special characters in defaults", `syntax = "proto2"; package own; message M { optional string s = 1 [default = "a\"b\\c\n\x00\u00e9"]; } enum E { A = 0 [deprecated = true]; }`,
			[]string{"deprecated = true"}},
		{"messages that hold themselves and each other", `syntax = "proto3"; package shop; message Node { Node next = 1; map<string, Node> kids = 2; Leaf leaf = 3; } message Leaf { Node up = 1; }`,
			[]string{"map<string, Node> kids = 2;"}},
		{"well-known imports", `syntax = "proto3"; package shop; import "google/type/money.proto"; import "google/type/date.proto"; import "google/type/timeofday.proto"; import "google/type/latlng.proto";
			import "confluent/meta.proto"; import "confluent/type/decimal.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/any.proto";
			message M { google.type.Money price = 1; google.protobuf.Timestamp at = 2; confluent.type.Decimal d = 3 [(confluent.field_meta) = {doc: "x"}]; google.type.LatLng p = 4; }`,
			[]string{`import "google/type/latlng.proto";`}},
		{"keywords in names, a leading dot, a late import", `syntax = "proto3"; package com.own.public.message.v1; message A { .com.own.public.message.v1.B b = 1; .google.protobuf.Timestamp t = 2; }
			message B { string syntax = 1; string import = 2; int32 max = 3; string oneof = 4; } import "google/protobuf/timestamp.proto";`,
			[]string{"string import = 2;", "int32 max = 3;", "string oneof = 4;"}},
		{"options and labels that get lost", `syntax = "proto3"; package p; // head
			message M { optional int32 a = 1 [deprecated = true, json_name = "AA"]; repeated int32 b = 2 [packed = false]; oneof o { string c = 3; bytes d = 4; } /* tail */ }
			service S { rpc Do (stream M) returns (M) { option deprecated = true; option idempotency_level = NO_SIDE_EFFECTS; } }`,
			[]string{`json_name = "AA"`, "packed = false", "optional int32 a = 1", "NO_SIDE_EFFECTS", "rpc Do (stream M)"}},
		{"custom options everywhere", `syntax = "proto3"; package shop; import "google/protobuf/descriptor.proto"; extend google.protobuf.OneofOptions { bool sole = 50400; } extend google.protobuf.EnumValueOptions { string label = 50401; }
			message M { oneof o { option (sole) = true; int32 a = 1; } } enum E { Z = 0 [(label) = "none"]; }`,
			[]string{"option (sole) = true;", `(label) = "none"`}},
	} {
		s := parse(t, c.text)
		for _, want := range c.want {
			if !strings.Contains(s.Canonical(), want) {
				t.Errorf("%s: the stored text lacks %s:\n%s", c.kind, want, s.Canonical())
			}
		}
		again := parse(t, s.Canonical())
		if again.Canonical() != s.Canonical() {
			t.Errorf("%s: stored again it is\n%s", c.kind, again.Canonical())
		}
		if !same(t, descriptorOf(t, c.kind, s), descriptorOf(t, c.kind, again)) {
			t.Errorf("%s: the stored text is another schema:\n%s", c.kind, s.Canonical())
		}
		if normal := s.Normalized(); normal != "" && !same(t, sorted(descriptorOf(t, c.kind, parse(t, normal))), sorted(descriptorOf(t, c.kind, s))) {
			t.Errorf("%s: the normalized text is another schema:\n%s", c.kind, normal)
		}
	}
}

// same compares bytes: custom options are messages of another type in each
// descriptor, which proto.Equal tells apart.
func same(t *testing.T, a, b *descriptorpb.FileDescriptorProto) bool {
	t.Helper()
	x, errX := proto.MarshalOptions{Deterministic: true}.Marshal(a)
	y, errY := proto.MarshalOptions{Deterministic: true}.Marshal(b)
	if errX != nil || errY != nil {
		t.Fatal(errX, errY)
	}
	return bytes.Equal(x, y)
}

// sorted returns a descriptor without the order that normalizing changes.
func sorted(d *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	d = proto.Clone(d).(*descriptorpb.FileDescriptorProto)
	d.Dependency = nil
	return d
}

func descriptorOf(t *testing.T, kind string, s *Schema) *descriptorpb.FileDescriptorProto {
	t.Helper()
	f, err := s.Link()
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return protodesc.ToFileDescriptorProto(f)
}

// TestKnownFaultsOfDescriptors: what is shown as a descriptor is one that every
// runtime reads, with its name and what it needs.
func TestKnownFaultsOfDescriptors(t *testing.T) {
	r := schema.Resolved{Type: schema.Protobuf,
		Text:         `syntax = "proto3"; package app.v1; import "lib/disc.proto"; import "google/protobuf/any.proto"; message P { map<string, lib.v1.Rebate> d = 1; google.protobuf.Any a = 2; }`,
		Dependencies: []schema.Dependency{{Name: "lib/disc.proto", Text: `syntax = "proto3"; package lib.v1; message Rebate { oneof kind { int64 cents = 2; double share = 3; } }`}}}
	var p Parser
	s, err := p.ParseSchema(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, show := range map[string]func() ([]byte, error){"serialized": s.Serialized, "linked": s.Linked} {
		raw, err := show()
		if err != nil {
			t.Fatal(err)
		}
		d := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(raw, d); err != nil || d.GetName() == "" || len(d.Dependency) != 2 || d.GetPackage() != "app.v1" {
			t.Errorf("%s: %v, %v", name, d, err)
		}
		// A client sends it as the schema, and finds what was registered as text.
		back, err := p.ParseSchema(schema.Resolved{Type: schema.Protobuf, Text: base64.StdEncoding.EncodeToString(raw), Dependencies: r.Dependencies})
		if err != nil {
			t.Errorf("%s: as a schema: %v", name, err)
			continue
		}
		if back.Normalized() != s.Normalized() {
			t.Errorf("%s: as a schema, normalized:\n%s\nwant\n%s", name, back.Normalized(), s.Normalized())
		}
	}
}
