package protobuf

import (
	"strings"
	"testing"

	"milena/serde/schema"
)

// TestBugs: texts that other registries refused, or lost something of.
func TestBugs(t *testing.T) {
	rebate := schema.Dependency{Name: "lib/disc.proto", Text: "syntax = \"proto3\";\npackage lib.v1;\nmessage Rebate { oneof kind { int64 cents = 2; double share = 3; } }"}
	for _, c := range []struct {
		why, text string
		deps      []schema.Dependency
		kept      []string
	}{
		{"special characters in strings", `syntax = "proto2"; package own; message M { optional string s = 1 [default = "a\"b\\c\n\x00é"]; } enum E { A = 0 [deprecated = true]; }`, nil,
			[]string{`default = "a\"b\\c\n` + "\x00" + `é"`, "A = 0 [deprecated = true];"}},
		{"files that clients take for granted", `syntax = "proto3"; package shop;
import "google/type/money.proto"; import "google/type/date.proto"; import "google/type/timeofday.proto"; import "google/type/latlng.proto"; import "confluent/meta.proto"; import "confluent/type/decimal.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/any.proto";
message M { google.type.Money price = 1; google.protobuf.Timestamp at = 2; confluent.type.Decimal d = 3 [(confluent.field_meta) = {doc: "x"}]; google.type.LatLng p = 4; }`, nil,
			[]string{".google.type.LatLng p = 4;", ".confluent.type.Decimal d = 3"}},
		{"keywords as names, late imports, absolute types", `syntax = "proto3"; package com.own.public.message.v1; message A { .com.own.public.message.v1.B b = 1; .google.protobuf.Timestamp t = 2; } message B { string syntax = 1; string import = 2; int32 max = 3; string oneof = 4; } import "google/protobuf/timestamp.proto";`, nil,
			[]string{"int32 max = 3;", "string oneof = 4;", "import \"google/protobuf/timestamp.proto\";"}},
		{"imported types in maps and oneofs", `syntax = "proto3"; package app.v1; import "lib/disc.proto"; message P { map<string, lib.v1.Rebate> d = 1; oneof x { lib.v1.Rebate a = 2; } }`, []schema.Dependency{rebate},
			[]string{"map<string, .lib.v1.Rebate> d = 1;", "    .lib.v1.Rebate a = 2;"}},
		{"every kind of option", `syntax = "proto3"; package p; // head
message M { optional int32 a = 1 [deprecated = true, json_name = "AA"]; repeated int32 b = 2 [packed = false]; oneof o { string c = 3; bytes d = 4; } /* tail */ } service S { rpc Do (stream M) returns (M) { option deprecated = true; option idempotency_level = NO_SIDE_EFFECTS; } }`, nil,
			[]string{"json_name = \"AA\"", "packed = false", "option idempotency_level = NO_SIDE_EFFECTS;", "rpc Do (stream .p.M) returns (.p.M) {", "optional int32 a = 1 ["}},
		{"custom options of oneofs and constants", `syntax = "proto3"; package shop; import "google/protobuf/descriptor.proto"; extend google.protobuf.OneofOptions { bool sole = 50400; } extend google.protobuf.EnumValueOptions { string label = 50401; } message M { oneof o { option (sole) = true; int32 a = 1; } } enum E { Z = 0 [(label) = "none"]; }`, nil,
			[]string{"option (shop.sole) = true;", "Z = 0 [(shop.label) = \"none\"];"}},
	} {
		s := parse(t, c.text, c.deps...)
		for _, want := range c.kept {
			if !strings.Contains(s.Normalized(), want) {
				t.Errorf("%s: lacks %s\n%s", c.why, want, s.Normalized())
			}
		}
		if _, err := s.Link(); err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	if _, err := (Parser{}).ParseSchema(schema.Resolved{Text: `syntax = "proto3"; import "lib/disc.proto"; message P { lib.v1.Rebate d = 1; }`}); err == nil || !strings.Contains(err.Error(), "lib.v1.Rebate") {
		t.Errorf("without the reference: %v", err)
	}
}
