package evolution_test

import (
	"testing"

	"milena/evolution"
	"milena/serde/schema"
)

// TestExplainWords: the sentences where a kind alone does not say enough: what
// of a union, whose data, and what something counts as.
func TestExplainWords(t *testing.T) {
	const (
		named    = " (The rule's name is as seen by readers with the old schema.)"
		counts   = " Where a schema has no type, its other keywords say what it counts as, and what counts as different kinds is not compared further."
		replaces = ", and by the rule scalars (which enums count as), maps and messages do not replace each other."
	)
	message := func(field string) string {
		return "syntax = \"proto3\";\npackage p;\nmessage M { " + field + " }\nmessage N {}\nenum E { ZERO = 0; }\n"
	}
	field := func(typ string) string {
		return `{"type": "record", "name": "R", "fields": [{"name": "f", "type": ` + typ + `}]}`
	}
	for name, tc := range map[string]struct {
		format   schema.Type
		level    evolution.Level
		old, new string
		why, fix string
		mended   string
	}{
		"branch of a union that a type can't read": {
			schema.Avro, evolution.Backward, field(`["null", "string"]`), field(`"string"`),
			`Data of the old schema may hold "null", which the type "string" of the new schema can't read; the old type is ["null", "string"].`,
			`give f its old type ["null", "string"] back, or a union of its new type with "null"`, field(`["null", "string"]`),
		},
		"union in place of a type, forward": {
			schema.Avro, evolution.Forward, `"string"`, `["null", "string"]`,
			`Data of the new schema may hold "null", which the type "string" of the old schema can't read; the new type is ["null", "string"].`,
			`take "null" out of the type of the schema again`, `["string"]`,
		},
		"branch that was taken out": {
			schema.Avro, evolution.Backward, field(`["null", "int"]`), field(`["null", "string"]`),
			`Data of the old schema may hold "int", which no branch of the new schema's union reads.`,
			`add "int" to the union of f, or a type that reads it as well ("long", "float" or "double")`, field(`["null", "string", "long"]`),
		},
		"record that was taken out": {
			schema.Avro, evolution.Backward, `["int", {"type": "record", "name": "X", "fields": []}]`, `["int"]`,
			`Data of the old schema may hold "X", which no branch of the new schema's union reads.`,
			`add "X" to the union of the schema`, `["int", {"type": "record", "name": "X", "fields": []}]`,
		},
		"nothing is promoted": {
			schema.Avro, evolution.Backward, field(`"boolean"`), field(`"string"`),
			`The type was "boolean" and is "string", and Avro does not read the old schema's as the new schema's.`,
			`give f its old type "boolean", or add a new field with a default`, field(`"boolean"`),
		},
		"symbols": {
			schema.Avro, evolution.Backward, `{"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}`, `{"type": "enum", "name": "E", "symbols": ["A"]}`,
			`Data of the old schema may hold the symbols "B", "C", which the new schema does not know.`,
			`put the symbols "B", "C" back, or give the enum itself a "default" symbol (a default of the field does not help)`,
			`{"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}`,
		},
		"no types": {
			schema.JSON, evolution.Forward, `{"properties": {}}`, `{}`,
			`The type of the schema differs, so data written with the new schema may not fit the old schema: an object (by its "properties") in the old one, anything (no keyword limits it) in the new one.` + counts,
			`keep the schema as it was ({"properties": {}})`, `{"properties": {}}`,
		},
		"no type of a property": {
			schema.JSON, evolution.Backward, `{"properties": {"a": {"minimum": 3}}}`, `{"properties": {"a": {"type": "string"}}}`,
			`The type of a differs, so data written with the old schema may not fit the new schema: a number (by its "minimum") in the old one, "string" in the new one.` + counts,
			`keep a as it was ({"minimum": 3}), or allow that as well (anyOf), or add a new property`,
			`{"properties": {"a": {"anyOf": [{"type": "string"}, {"minimum": 3}]}}}`,
		},
		"bound": {
			schema.JSON, evolution.Backward, `{"type": "string", "minLength": 10}`, `{"type": "string", "minLength": 11}`,
			"The new schema has a tighter minLength than the old schema (10 in the old one, 11 in the new one): data written with the old schema may be outside.",
			"set minLength to 10 or lower", `{"type": "string", "minLength": 9}`,
		},
		"bound, forward": {
			schema.JSON, evolution.Forward, `{"type": "string", "maxLength": 10}`, `{"type": "string", "maxLength": 12}`,
			"The old schema has a tighter maxLength than the new schema (10 in the old one, 12 in the new one): data written with the new schema may be outside." + named,
			"set maxLength to 10 or lower", `{"type": "string", "maxLength": 9}`,
		},
		"required, forward": {
			schema.Protobuf, evolution.Forward, "syntax = \"proto2\";\nmessage M { }", "syntax = \"proto2\";\nmessage M { required string a = 1; }",
			"Field a is new and required, and the old schema does not have it: by the rule both have to know required fields." + named,
			"don't add a as required: make it optional", "syntax = \"proto2\";\nmessage M { optional string a = 1; }",
		},
		"enum and message": {
			schema.Protobuf, evolution.Backward, message("E a = 1;"), message("N a = 1;"),
			"Field a was the enum E and is the message N" + replaces,
			"give a its old type back (E a = 1), or add a field with a new number and reserve this one", message("int32 a = 1;"),
		},
		"map and scalar": {
			schema.Protobuf, evolution.Forward, message("map<string, int32> a = 1;"), message("repeated int32 a = 1;"),
			"Field a was the map map<string, int32> and is the scalar int32" + replaces,
			"give a its old type back (map<string, int32> a = 1), or add a field with a new number and reserve this one", message("map<string, int32> a = 1;"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := evolution.New(evolution.Options{})
			if err != nil {
				t.Fatal(err)
			}
			next, old := parseText(t, tc.format, tc.new), parseText(t, tc.format, tc.old)
			r, err := c.Check(t.Context(), tc.level, next, []schema.Parsed{old})
			if err != nil || len(r.Findings) == 0 {
				t.Fatalf("%v %v", r, err)
			}
			e := c.Explain(r.Findings, evolution.Text{Schema: next, Text: tc.new}, evolution.Text{Schema: old, Text: tc.old})[0]
			if e.Why != tc.why || e.Fix != tc.fix {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", e.Why, e.Fix, tc.why, tc.fix)
			}
			if again, err := c.Check(t.Context(), tc.level, parseText(t, tc.format, tc.mended), []schema.Parsed{old}); err != nil || !again.Compatible {
				t.Errorf("after the fix: %v %v", again.Findings, err)
			}
		})
	}
}
