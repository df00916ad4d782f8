package locate

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"milena/serde/avro"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

func parse(t testing.TB, f schema.Type, text string) schema.Parsed {
	t.Helper()
	var p schema.Parser
	switch f {
	case schema.Avro:
		p = avro.Parser{}
	case schema.JSON:
		p = jsonschema.Parser{}
	default:
		p = protobuf.Parser{}
	}
	parsed, err := p.Parse(schema.Resolved{Type: f, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// TestFind: paths of all formats, also through names and references, and the
// deepest place where a path leads out of the text.
func TestFind(t *testing.T) {
	const (
		record = `{"type": "record", "name": "R", "namespace": "n", "fields": [
  {"name": "a", "type": {"type": "record", "name": "S", "fields": [
    {"name": "x", "type": ["null", {"type": "array", "items": "R"}]}]}},
  {"name": "b", "type": "n.S"},
  {"name": "c", "type": {"type": "map", "values": "S"}}]}`
		object = `{"type": "object", "properties": {
  "a/b": {"$ref": "#/definitions/d"},
  "c": {"items": [{"type": "string"}]}},
 "required": ["a/b"],
 "definitions": {"d": {"type": "object", "properties": {"x": {"maxLength": 1}}}}}`
		later = `{"$schema": "https://json-schema.org/draft/2020-12/schema",
 "prefixItems": [{"maximum": 2}, {"minimum": 1}],
 "items": false,
 "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"title": "x"}}}`
		proto = "syntax = \"proto3\";\n// package no;\npackage p.q;\nmessage M {\n  message N { int32 a = 1; }\n  oneof o {\n    string s = 4; }\n  enum E { Z = 0; }\n}\n"
	)
	for _, tc := range []struct {
		format schema.Type
		text   string
		path   string
		want   string
	}{
		{schema.Avro, record, "/", "1:1 true  {\"type\": \"record\", \"name\": \"R\", \"namespace\": \"n\", \"fields\": [ {\"name\": \"a\", \"…"},
		{schema.Avro, record, "/name", `1:20 true R "R"`},
		{schema.Avro, record, "/fields/0/type/fields/0/type/1/items", `3:54 true x "R"`},
		{schema.Avro, record, "/fields/1/type/fields/0/type/0", `3:28 true x "null"`},
		{schema.Avro, record, "/fields/2/type/values/fields/0", `3:5 true x {"name": "x", "type": ["null", {"type": "array", "items": "R"}]}`},
		{schema.Avro, record, "/fields/7/type", "1:51 false  "},
		{schema.Avro, record, "/fields/1/type/fields/9", "2:57 false b "},
		{schema.JSON, object, "#/", "1:1 true  {\"type\": \"object\", \"properties\": { \"a/b\": {\"$ref\": \"#/definitions/d\"}, \"c\": {…"},
		{schema.JSON, object, "#/properties/a~1b/properties/x/maxLength", "5:63 true x 1"},
		{schema.JSON, object, "#/properties/c/items/0", `3:19 true c {"type": "string"}`},
		{schema.JSON, object, "#/required/a~1b", `4:15 true a/b "a/b"`},
		{schema.JSON, object, "#/properties/c/pattern", "3:3 false c "},
		{schema.JSON, later, "#/items/1", `2:34 true 1 {"minimum": 1}`},
		{schema.JSON, later, "#/additionalItems", `3:2 true additionalItems false`},
		{schema.JSON, later, "#/dependencies/b", `4:58 true b {"title": "x"}`},
		{schema.Protobuf, proto, "#/", "3:1 true  package p.q"},
		{schema.Protobuf, proto, "#/M/N/1", "5:15 true a int32 a = 1"},
		{schema.Protobuf, proto, "#/M/o/4", "7:5 true s string s = 4"},
		{schema.Protobuf, proto, "#/M/gone/4", "7:5 true s string s = 4"},
		{schema.Protobuf, proto, "#/M/E/0", "8:12 true Z Z = 0"},
		{schema.Protobuf, proto, "#/M/9", "4:1 false M "},
		{schema.Protobuf, proto, "#/X/1", "0:0 false  "},
	} {
		t.Run(string(tc.format)+tc.path, func(t *testing.T) {
			d := New(tc.text, parse(t, tc.format, tc.text))
			trail := d.Trail(tc.path)
			p := d.Find(trail)
			if got := fmt.Sprintf("%d:%d %v %s %s", p.Line, p.Column, p.Exact, d.Name(trail), p.Value); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestFindByName: a trail finds the same field where it has another position.
func TestFindByName(t *testing.T) {
	one := `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}`
	two := `{"type":"record","name":"R","fields":[{"name":"b","type":"long"}]}`
	a, b := New(one, parse(t, schema.Avro, one)), New(two, parse(t, schema.Avro, two))
	if p := b.Find(a.Trail("/fields/1/type")); !p.Exact || p.Value != `"long"` {
		t.Errorf("%+v", p)
	}
	if p := b.Find(a.Trail("/fields/0/type")); p.Exact || p.Line != 1 {
		t.Errorf("%+v", p)
	}
}

func TestBrief(t *testing.T) {
	if got := Brief(" a\n\t b "); got != "a b" {
		t.Errorf("%q", got)
	}
	if got := Brief(strings.Repeat("ä", 100)); len(got) > valueMax || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}

// TestReferenceCircle: references that lead nowhere end.
func TestReferenceCircle(t *testing.T) {
	text := `{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}`
	d := &Doc{text: text, lines: []int{0}, format: schema.JSON, root: readJSON(text)}
	if p := d.Find([]Step{{Key: "properties"}, {Key: "a"}, {Key: "type"}}); p.Exact || p.Line != 1 {
		t.Errorf("%+v", p)
	}
	if readJSON(strings.Repeat("[", depthMax+2)+strings.Repeat("]", depthMax+2)) != nil {
		t.Error("nested too deep and read")
	}
}

// FuzzFind: whatever the text and the path, places are inside of the text.
func FuzzFind(f *testing.F) {
	f.Add(`{"type":"record","name":"R","fields":[{"name":"a","type":["null","R"]}]}`, "/fields/0/type/1/fields/0")
	f.Add(`{"a": {"$ref": "#/a"}, "é": [1, "x\u0000"]}`, "#/a/b/~01")
	f.Add(`{"a":`, "/a")
	f.Fuzz(func(t *testing.T, text, path string) {
		for _, format := range []schema.Type{schema.Avro, schema.JSON} {
			d := &Doc{text: text, lines: []int{0}, format: format, root: readJSON(text)}
			for i := range len(text) {
				if text[i] == '\n' {
					d.lines = append(d.lines, i+1)
				}
			}
			if d.root != nil && format == schema.Avro {
				d.types = map[string]*node{}
				d.collect(d.root, "")
			}
			p := d.Find(d.Trail(path))
			if d.root == nil {
				if p.Line != 0 {
					t.Fatalf("%+v of a text that can't be read", p)
				}
				continue
			}
			if p.Line < 1 || p.Line > len(d.lines) || p.Column < 1 || d.lines[p.Line-1]+p.Column-1 > len(text) || len(p.Value) > valueMax {
				t.Fatalf("%+v of %d bytes", p, len(text))
			}
		}
	})
}
