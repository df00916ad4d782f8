package evolution_test

import (
	"fmt"
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
}

func explainCases() []explainCase {
	const (
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
		{"default", schema.Avro, evolution.Backward, order, wider, `avro/READER_FIELD_MISSING_DEFAULT_VALUE | currency | 2:37 |  | 3:3 | {"name": "currency", "type": "string"}`, "give currency a default"},
		{"removed", schema.Avro, evolution.Forward, wider, order, `avro/READER_FIELD_MISSING_DEFAULT_VALUE | currency | 3:3 | {"name": "currency", "type": "string"} | 2:37 | `, "keep the field currency"},
		{"by name", schema.Avro, evolution.Backward, order, texts, `avro/TYPE_MISMATCH | id | 3:18 | "int" | 5:4 | "string"`, `give id its old type "int"`},
		{"open", schema.JSON, evolution.Backward, open, more, `json/OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL | b | 1:20 |  | 3:3 | {"type": "string", "maxLength": 5}`, "close the content model"},
		{"bound", schema.JSON, evolution.Backward, more, short, `json/MAX_LENGTH_DECREASED | b | 3:27 | 5 | 3:27 | 3`, "set maxLength back to 5"},
		{"kind", schema.Protobuf, evolution.Backward, m, kinds, `protobuf/FIELD_SCALAR_KIND_CHANGED | a | 4:3 | int32 a = 1 | 4:3 | string a = 1`, "give a its old type back (int32 a = 1)"},
		{"oneof", schema.Protobuf, evolution.Backward, m, fewer, `protobuf/ONEOF_FIELD_REMOVED | y | 5:27 | string y = 3 | 5:3 | `, "put y back into its oneof"},
		{"message", schema.Protobuf, evolution.Backward, m, gone, `protobuf/MESSAGE_REMOVED | N | 7:1 | message N | 0:0 | `, "put the message N back"},
	}
}
