package evolution_test

import (
	"fmt"
	"strings"
	"testing"

	"milena/evolution"
	"milena/serde/format"
	"milena/serde/schema"
)

func parseText(t *testing.T, f schema.Type, text string) schema.Parsed {
	t.Helper()
	p, err := format.Parse(schema.Resolved{Type: f, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func at(line, column int) string { return fmt.Sprintf("%d:%d", line, column) }

type explainCase struct {
	name     string
	format   schema.Type
	level    evolution.Level
	old, new string
	want     string // rule, name, place and value in the old and in the new text
	fix      string
	mended   string // the new text with the fix, which is compatible
}

const leaveItEmpty = `leave b without a type ("b": {})`

func explainCases() []explainCase {
	const (
		colors      = "{\"type\": \"enum\", \"name\": \"E\",\n \"symbols\": [\"R\", \"G\"]}"
		fewerColors = "{\"type\": \"enum\", \"name\": \"E\",\n \"symbols\": [\"R\"]}"
		renamed     = "{\"type\": \"enum\", \"name\": \"F\",\n \"symbols\": [\"R\", \"G\"]}"
		closed      = `{"type": "object", "additionalProperties": false, "properties": {"a": {}, "b": {"type": "string"}}}`
		closedFewer = `{"type": "object", "additionalProperties": false, "properties": {"a": {}}}`
		demanding   = "{\"type\": \"object\", \"properties\": {\n  \"a\": {\"type\": \"string\"}}, \"required\": [\"a\"]}"
		loose       = "syntax = \"proto3\";\nmessage M { string a = 1; string b = 2; }"
		bound       = "syntax = \"proto3\";\nmessage M { oneof o { string a = 1; string b = 2; } }"

		order = "{\n \"type\": \"record\", \"name\": \"Order\", \"fields\": [\n  {\"name\": \"id\", \"type\": \"int\"}\n ]\n}"
		wider = "{\n \"type\": \"record\", \"name\": \"Order\", \"fields\": [\n  {\"name\": \"currency\", \"type\": \"string\"},\n  {\"name\": \"id\", \"type\": \"int\"}\n ]\n}"
		texts = "{\n \"type\": \"record\", \"name\": \"Order\", \"fields\": [\n  {\"name\": \"x\", \"type\": \"int\", \"default\": 0},\n  {\"name\": \"id\",\n   \"type\": \"string\"}\n ]\n}"
		open  = "{\"type\": \"object\", \"properties\": {\n  \"a\": {\"type\": \"string\"}}}"
		more  = "{\"type\": \"object\", \"properties\": {\n  \"a\": {\"type\": \"string\"},\n  \"b\": {\"type\": \"string\", \"maxLength\": 5}}}"
		short = "{\"type\": \"object\", \"properties\": {\n  \"a\": {\"type\": \"string\"},\n  \"b\": {\"type\": \"string\", \"maxLength\": 3}}}"
		m     = "syntax = \"proto3\";\npackage p;\nmessage M {\n  int32 a = 1;\n  oneof c { string x = 2; string y = 3; }\n}\nmessage N {}\n"
		kinds = "syntax = \"proto3\";\npackage p;\nmessage M {\n  string a = 1;\n  oneof c { string x = 2; string y = 3; }\n}\nmessage N {}\n"
		fewer = "syntax = \"proto3\";\npackage p;\nmessage M {\n  int32 a = 1;\n  oneof c { string x = 2; }\n}\nmessage N {}\n"
		gone  = "syntax = \"proto3\";\npackage p;\nmessage M {\n  int32 a = 1;\n  oneof c { string x = 2; string y = 3; }\n}\n"
	)
	return []explainCase{
		{"enum", schema.Avro, evolution.Backward, colors, fewerColors, `avro/MISSING_ENUM_SYMBOLS |  | 2:2 | ["R", "G"] | 2:2 | ["R"]`, `give the enum itself a "default"`, strings.Replace(fewerColors, `["R"]`, `["R"], "default": "R"`, 1)},
		{"renamed", schema.Avro, evolution.Backward, colors, renamed, `avro/NAME_MISMATCH | F | 1:18 | "E" | 1:18 | "F"`, `name it "E" again, or keep "F" and add`, strings.Replace(renamed, `"F"`, `"F", "aliases": ["E"]`, 1)},
		{"closed", schema.JSON, evolution.Backward, closed, closedFewer, `json/PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL | b | 1:75 | {"type": "string"} | 1:51 | `, "open the content model", strings.Replace(closedFewer, `"additionalProperties": false, `, "", 1)},
		{"closed forward", schema.JSON, evolution.Forward, open, "{\"type\": \"object\"}", `json/OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL | a | 2:3 | {"type": "string"} | 1:1 | `, "close the content model", "{\"type\": \"object\", \"additionalProperties\": false}"},
		{"type", schema.JSON, evolution.Backward, `{"type": "integer"}`, `{"type": "object"}`, `json/TYPE_CHANGED |  | 1:1 | {"type": "integer"} | 1:1 | {"type": "object"}`, "allow the old type of the schema as well", `{"oneOf": [{"type": "object"}, {"type": "integer"}]}`},
		{"required", schema.JSON, evolution.Backward, open, demanding, `json/REQUIRED_ATTRIBUTE_ADDED | a | 1:1 |  | 2:42 | "a"`, "give the property a default", strings.Replace(demanding, `"string"`, `"string", "default": ""`, 1)},
		{"into a oneof", schema.Protobuf, evolution.Backward, loose, bound, `protobuf/MULTIPLE_FIELDS_MOVED_TO_ONEOF | o | 2:1 |  | 2:13 | oneof o`, "move at most one existing field", strings.Replace(bound, "string b = 2;", "string b = 3;", 1)},
		{"default", schema.Avro, evolution.Backward, order, wider, `avro/READER_FIELD_MISSING_DEFAULT_VALUE | currency | 2:37 |  | 3:3 | {"name": "currency", "type": "string"}`, "give currency a default", strings.Replace(wider, `"string"`, `["null", "string"], "default": null`, 1)},
		{"removed", schema.Avro, evolution.Forward, wider, order, `avro/READER_FIELD_MISSING_DEFAULT_VALUE | currency | 3:3 | {"name": "currency", "type": "string"} | 2:37 | `, "keep the field currency", wider},
		{"by name", schema.Avro, evolution.Backward, order, texts, `avro/TYPE_MISMATCH | id | 3:18 | "int" | 5:4 | "string"`, `give id its old type "int"`, strings.Replace(texts, `"string"`, `"int"`, 1)},
		{"open", schema.JSON, evolution.Backward, open, more, `json/OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL | b | 1:20 |  | 3:3 | {"type": "string", "maxLength": 5}`, leaveItEmpty, strings.Replace(more, `"b": {"type": "string", "maxLength": 5}`, `"b": {}`, 1)},
		{"bound", schema.JSON, evolution.Backward, more, short, `json/MAX_LENGTH_DECREASED | b | 3:27 | 5 | 3:27 | 3`, "set maxLength to 5 or higher", more},
		{"kind", schema.Protobuf, evolution.Backward, m, kinds, `protobuf/FIELD_SCALAR_KIND_CHANGED | a | 4:3 | int32 a = 1 | 4:3 | string a = 1`, "give a its old type back (int32 a = 1)", m},
		{"oneof", schema.Protobuf, evolution.Backward, m, fewer, `protobuf/ONEOF_FIELD_REMOVED | y | 5:27 | string y = 3 | 5:3 | `, "put y back into its oneof", m},
		{"message", schema.Protobuf, evolution.Backward, m, gone, `protobuf/MESSAGE_REMOVED | N | 7:1 | message N | 0:0 | `, "put the message N back", m},
	}
}
