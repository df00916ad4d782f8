package registry_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
)

func protobufRequest(text string, refs ...api.Reference) api.RegisterRequest {
	return api.RegisterRequest{Schema: &text, SchemaType: ptr("PROTOBUF"), References: refs}
}

// unordered has options and fields in an order that normalizing changes, and one
// that printing changes again.
const unordered = "syntax = \"proto3\";\npackage p;\n\nmessage M {\n  N b = 2 [\n    packed = false,\n    json_name = \"B\"\n  ];\n  string a = 1;\n}\nmessage N {}\n"

func TestProtobufIsStoredAsTheReferenceDoes(t *testing.T) {
	r := open(t, registry.Options{})
	plain := registerRequest(t, r, "plain", protobufRequest("syntax='proto3'; package p; message N{} message M{N b=2[json_name='B',packed=false]; string a=1;}"))
	const want = "syntax = \"proto3\";\npackage p;\n\nmessage N {}\nmessage M {\n  N b = 2 [\n    packed = false,\n    json_name = \"B\"\n  ];\n  string a = 1;\n}\n"
	if plain.Schema != want {
		t.Errorf("stored %s", plain.Schema)
	}
	normal, err := r.Register(t.Context(), "normal", protobufRequest(unordered), registry.RegisterOptions{Normalize: true})
	if err != nil || !strings.Contains(normal.Schema, "    json_name = \"B\",\n    packed = false\n") || !strings.Contains(normal.Schema, ".p.N b = 2") {
		t.Fatalf("%v\n%s", err, normal.Schema)
	}
	// Look-ups compare what is stored with what would be.
	for _, c := range []struct {
		subject   string
		normalize bool
		found     bool
	}{{"normal", true, true}, {"normal", false, false}, {"plain", false, false}} {
		_, err := r.Lookup(t.Context(), c.subject, protobufRequest(unordered), registry.LookupOptions{Normalize: c.normalize})
		if (err == nil) != c.found {
			t.Errorf("%+v: %v", c, err)
		}
	}
	again, err := r.Register(t.Context(), "normal", protobufRequest(unordered), registry.RegisterOptions{Normalize: true})
	if err != nil || again.ID != normal.ID || again.Version != 1 {
		t.Errorf("registered again: %+v %v", again, err)
	}
}

func TestProtobufRefusals(t *testing.T) {
	r := open(t, registry.Options{})
	for text, want := range map[string]string{
		"message M {": "Invalid schema of type PROTOBUF, details: Invalid schema of type PROTOBUF, details: Could not parse Protobuf - Syntax error in :1:12:",
		"syntax = \"proto3\"; message M { Nope a = 1; }": "details: Could not resolve type: Nope",
		"// x": "Empty schema",
	} {
		_, err := r.Register(t.Context(), "s", protobufRequest(text), registry.RegisterOptions{})
		wantRow(t, err, errcode.InvalidSchema, want)
		if _, err := r.Lookup(t.Context(), "s", protobufRequest(text), registry.LookupOptions{}); err == nil {
			t.Errorf("%s was looked up", text)
		}
	}
}

func TestProtobufFormats(t *testing.T) {
	r := open(t, registry.Options{})
	registerRequest(t, r, "lib", protobufRequest("syntax = \"proto3\"; package lib; message T { int32 x = 1; }"))
	a := registerRequest(t, r, "app", protobufRequest(
		"syntax = \"proto3\"; package app; import \"lib.proto\"; option (own) = 1; message M { map<string, lib.T> by_name = 1; }",
		api.Reference{Name: "lib.proto", Subject: "lib", Version: 1}))
	shown := func(format string) string {
		t.Helper()
		s, err := r.SchemaByID(t.Context(), a.ID, registry.ByIDQuery{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		return s.Schema
	}
	if got := shown("IGNORE_extensions"); strings.Contains(got, "own") {
		t.Errorf("%s", got)
	}
	if shown("resolved") != a.Schema || shown("") != a.Schema {
		t.Error("other formats are not the text")
	}
	names := map[string]string{"serialized": "lib.T", registry.FormatLinked: ".lib.T"}
	for format, want := range names {
		raw, err := base64.StdEncoding.DecodeString(shown(format))
		if err != nil {
			t.Fatal(err)
		}
		var d descriptorpb.FileDescriptorProto
		if err := proto.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		if got := d.MessageType[0].NestedType[0].Field[1].GetTypeName(); got != want || !slices.Equal(d.Dependency, []string{"lib.proto"}) {
			t.Errorf("%s: %s %q", format, got, d.Dependency)
		}
	}
}

func TestProtobufCompatibilityAndTags(t *testing.T) {
	r := open(t, registry.Options{})
	registerRequest(t, r, "s", protobufRequest("syntax = \"proto3\"; package p; message M { string a = 1; message N { int32 b = 1; } }"))
	_, err := r.Register(t.Context(), "s", protobufRequest("syntax = \"proto3\"; package p; message M { int32 a = 1; message N { int32 b = 1; } }"), registry.RegisterOptions{})
	wantRow(t, err, errcode.Incompatible, `{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path '#/M/1' in the new schema does not match its kind in the old schema"}`)

	tag := func(path, kind string, tags ...string) []api.SchemaTags {
		return []api.SchemaTags{{SchemaEntity: &api.SchemaEntity{EntityPath: path, EntityType: kind}, Tags: tags}}
	}
	next, err := r.ModifyTags(t.Context(), "s", "latest", api.TagsRequest{TagsToAdd: append(tag(".p.M.N.b", "sr_field", "PII"), tag("M", "sr_record", "X")...)})
	if err != nil || next.Version != 2 {
		t.Fatalf("%+v %v", next, err)
	}
	if !strings.Contains(next.Schema, "(confluent.field_meta) = {\n      tags: [\n        \"PII\"") || !strings.Contains(next.Schema, "option (confluent.message_meta) = {") {
		t.Errorf("%s", next.Schema)
	}
	found, err := r.SchemaByID(t.Context(), next.ID, registry.ByIDQuery{FindTags: []string{"PII"}})
	if err != nil || len(found.SchemaTags) != 1 || found.SchemaTags[0].SchemaEntity.EntityPath != "M.N.b" {
		t.Errorf("%+v %v", found.SchemaTags, err)
	}
	last, err := r.ModifyTags(t.Context(), "s", "latest", api.TagsRequest{TagsToRemove: append(tag("M.N.b", "sr_field", "PII"), tag("M", "sr_record", "X")...)})
	if err != nil || strings.Contains(last.Schema, "confluent") {
		t.Errorf("%v\n%s", err, last.Schema)
	}
	_, err = r.ModifyTags(t.Context(), "s", "latest", api.TagsRequest{TagsToAdd: tag("M.nope", "sr_field", "X")})
	wantRow(t, err, errcode.InvalidSchema, "No matching path 'M.nope'")
}
