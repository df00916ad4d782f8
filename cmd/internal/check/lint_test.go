package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLint: each rule of the table finds what it is for, and nothing in the
// schema that is as it wants.
func TestLint(t *testing.T) {
	const (
		goodAvro  = "{\"type\": \"record\", \"name\": \"R\", \"namespace\": \"n\", \"doc\": \"d\", \"fields\": [\n{\"name\": \"a_b\", \"type\": [\"null\", \"int\"], \"default\": null, \"doc\": \"d\"}]}"
		goodProto = "syntax = \"proto3\";\npackage p;\n// d\nmessage M {\n  int32 a_b = 1; // d\n  reserved 2;\n  // d\n  enum E { E_UNSPECIFIED = 0; }\n}"
		goodJSON  = `{"description": "d", "type": "object", "properties": {"aB": {"title": "d", "type": "string"}}}`
	)
	seen := map[string]bool{}
	for _, tc := range []struct{ name, file, old, text, want string }{
		{"good avro", "a.avsc", goodAvro, goodAvro, ""},
		{"good proto", "a.proto", goodProto, goodProto, ""},
		{"good json", "a.schema.json", goodJSON, goodJSON, ""},
		{"avro type", "a.avsc", "", strings.Replace(goodAvro, `"R"`, `"my_r"`, 1), "lint/TYPE_NAME my_r 1"},
		{"avro field", "a.avsc", "", strings.Replace(goodAvro, `"a_b"`, `"A_b"`, 1), "lint/FIELD_NAME A_b 2"},
		{"avro namespace", "a.avsc", "", strings.Replace(goodAvro, `"namespace": "n", `, "", 1), "lint/NAMESPACE R 1"},
		{"avro doc", "a.avsc", "", strings.Replace(goodAvro, `, "doc": "d"}`, `}`, 1), "lint/DOC a_b 2"},
		{"avro default", "a.avsc", "", strings.Replace(goodAvro, `, "default": null`, "", 1), "lint/NULLABLE_DEFAULT a_b 2"},
		{"avro enum", "a.avsc", "", `{"type": "enum", "name": "E", "namespace": "n", "doc": "d", "symbols": ["A"]}`, "lint/ENUM_DEFAULT E 1"},
		{"avro key", "a-key.avsc", "", strings.Replace(goodAvro, `["null", "int"], "default": null`, `"double"`, 1), "lint/KEY_TYPE a_b 2"},
		{"avro key list", "a-key.avsc", "", `{"type": "map", "values": "int"}`, "lint/KEY_TYPE the key 1"},
		{"frozen", "a-key.avsc", `"int"`, `"long"`, "lint/KEY_FROZEN a-key 1"},
		{"proto package", "a.proto", "", strings.Replace(goodProto, "package p;", "", 1), "lint/NAMESPACE of the file 1"},
		{"proto names", "a.proto", "", strings.NewReplacer("a_b", "aB", "enum E ", "enum e ").Replace(goodProto), "lint/FIELD_NAME aB 5, lint/TYPE_NAME e 8"},
		{"proto doc", "a.proto", "", strings.Replace(goodProto, "// d\nmessage", "\nmessage", 1), "lint/DOC M 4"},
		{"proto enum", "a.proto", "", strings.Replace(goodProto, "E_UNSPECIFIED", "RED", 1), "lint/ENUM_DEFAULT E 8"},
		{"proto key", "a-key.proto", "", strings.Replace(goodProto, "int32", "double", 1), "lint/KEY_TYPE a_b 5"},
		{"reserve", "a.proto", goodProto, strings.Replace(goodProto, "int32 a_b = 1; // d", "", 1), "lint/RESERVE 1 4"},
		{"reserved", "a.proto", goodProto, strings.Replace(goodProto, "int32 a_b = 1; // d", "reserved 1;", 1), ""},
		{"no longer reserved", "a.proto", goodProto, strings.Replace(goodProto, "reserved 2;", "", 1), "lint/RESERVE 2 4"},
		{"used again", "a.proto", goodProto, strings.Replace(goodProto, "reserved 2;", "int32 z = 2; // d", 1), "lint/UNRESERVED z 6"},
		{"json doc", "a.schema.json", "", strings.Replace(goodJSON, `"title": "d", `, "", 1), "lint/DOC aB 1"},
		{"json field", "a.schema.json", "", strings.Replace(goodJSON, `"aB"`, `"Ab"`, 1), "lint/FIELD_NAME Ab 1"},
		{"json key", "a-key.schema.json", "", strings.Replace(goodJSON, `"string"`, `"number"`, 1), "lint/KEY_TYPE aB 1"},
		{"invalid", "a.avsc", "", "{", "schema/INVALID  1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Options{Project: project(t, Project{Lint: map[string]string{"doc": "error"}}), Reading: reading(), New: tree("", map[string]string{tc.file: tc.text})}
			if tc.old != "" {
				h, err := NewTrees(o.Project, o.Reading, []*Tree{tree("main", map[string]string{tc.file: tc.old})})
				if err != nil {
					t.Fatal(err)
				}
				o.History = h
			}
			r, err := Lint(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				seen[f.Rule] = true
				got = append(got, fmt.Sprintf("%s %s %d", f.Rule, f.Name, f.New.Line))
				if strings.Contains(f.Fix, "{name}") {
					t.Errorf("not filled in: %s", f.Fix)
				}
			}
			if strings.Join(got, ", ") != tc.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), tc.want)
			}
		})
	}
	for _, r := range LintRules() {
		if !seen[r.ID] || r.Doc == "" || r.Fix == "" || !slices.Contains([]string{"off", "warning", "error"}, r.Severity) {
			t.Errorf("%s has no case or no text", r.ID)
		}
	}
}
