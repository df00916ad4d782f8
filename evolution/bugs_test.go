package evolution_test

import (
	"strings"
	"testing"

	"milena/evolution"
	"milena/serde/schema"
)

// TestKnownFaults: what other registries and checkers were once wrong about,
// each by the pair that showed it.
func TestKnownFaults(t *testing.T) {
	const (
		inner   = `{"type":"record","name":"Outer","fields":[{"name":"item","type":[{"type":"record","name":"Inner","fields":[{"name":"a","type":"string"}]}]}]}`
		innerB  = `{"type":"record","name":"Outer","fields":[{"name":"item","type":[{"type":"record","name":"Inner","fields":[{"name":"a","type":"string"},{"name":"b","type":"int"}]}]}]}`
		u       = `{"type":"record","name":"U","fields":[{"name":"a","type":"int"}]}`
		uNull   = `{"type":"record","name":"U","fields":[{"name":"a","type":"int"},{"name":"b","type":["null","string"],"default":null}]}`
		uNone   = `{"type":"record","name":"U","fields":[{"name":"a","type":"int"},{"name":"b","type":["null","string"]}]}`
		uPlain  = `{"type":"record","name":"U","fields":[{"name":"a","type":"int"},{"name":"b","type":"null","default":null}]}`
		covered = `{"type":"object","properties":{"foo":{"type":"string"}},"additionalProperties":{"type":"string"}}`
		coverB  = `{"type":"object","properties":{"foo":{"type":"string"},"bar":{"type":"string"}},"additionalProperties":{"type":"string"}}`
		id1     = `{"type":"object","properties":{"a":{"type":"string"}},"$id":"urn:a:1"}`
		id2     = `{"type":"object","properties":{"a":{"type":"string"}},"$id":"urn:a:2","title":"A"}`
		pack1   = "syntax = \"proto3\";\npackage x.v1;\nmessage M { int32 a = 1; }"
		pack2   = "syntax = \"proto3\";\npackage x.v2;\nmessage M { int32 a = 1; }"
		colors  = `{"type":"record","name":"R","fields":[{"name":"c","type":{"type":"enum","name":"C","symbols":["R","G","B"]}}]}`
		fewer   = `{"type":"record","name":"R","fields":[{"name":"c","type":{"type":"enum","name":"C","symbols":["R","G"]},"default":"R"}]}`
		b0      = `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":0}]}`
		bNone   = `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}`
		onlyA   = `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`
		used    = "syntax = \"proto3\";\npackage shop;\nmessage M { int32 a = 1; string b = 2; }"
		reserve = "syntax = \"proto3\";\npackage shop;\nmessage M { int32 a = 1; reserved 2; }"
		again   = "syntax = \"proto3\";\npackage shop;\nmessage M { int32 a = 1; int32 z = 2; }"
	)
	type list = []string
	for _, tc := range []struct {
		name   string
		format schema.Type
		level  evolution.Level
		old    list
		new    string
		want   string // kind of the first finding, "" if compatible
		at     int    // index of the version that fails
	}{
		{"field added inside a union of one branch (schema-registry 391)", schema.Avro, evolution.Backward, list{inner}, innerB, "MISSING_UNION_BRANCH", 0},
		{"null is a default (redpanda 24032)", schema.Avro, evolution.Backward, list{u}, uNull, "", 0},
		{"null is a default of a null", schema.Avro, evolution.Backward, list{u}, uPlain, "", 0},
		{"no default is none", schema.Avro, evolution.Backward, list{u}, uNone, "READER_FIELD_MISSING_DEFAULT_VALUE", 0},
		{"covered by additionalProperties (apicurio 4965)", schema.JSON, evolution.Full, list{covered}, coverB, "", 0},
		{"only annotations (schema-registry 1531)", schema.JSON, evolution.Full, list{id1}, id2, "", 0},
		{"package (schema-registry abbab267)", schema.Protobuf, evolution.Backward, list{pack1}, pack2, "PACKAGE_CHANGED", 0},
		{"default of the field, not of the enum (avro4s 413)", schema.Avro, evolution.Backward, list{colors}, fewer, "MISSING_ENUM_SYMBOLS", 0},
		{"chain of compatible steps (schema-registry 209)", schema.Avro, evolution.Backward, list{onlyA, b0}, bNone, "", 0},
		{"chain, transitive", schema.Avro, evolution.BackwardTransitive, list{onlyA, b0}, bNone, "READER_FIELD_MISSING_DEFAULT_VALUE", 0},
		{"number used again (schema-registry 4589)", schema.Protobuf, evolution.Backward, list{used, reserve}, again, "", 0},
		{"number used again, transitive", schema.Protobuf, evolution.BackwardTransitive, list{used, reserve}, again, "FIELD_SCALAR_KIND_CHANGED", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := evolution.New(evolution.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var old []schema.Parsed
			for _, text := range tc.old {
				old = append(old, parseText(t, tc.format, text))
			}
			next := parseText(t, tc.format, tc.new)
			r, err := c.Check(t.Context(), tc.level, next, old)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(r.Findings) > 0 {
				got = string(r.Findings[0].Kind)
				e := c.Explain(r.Findings, evolution.Text{Schema: next, Text: tc.new}, evolution.Text{Schema: old[r.Old], Text: tc.old[r.Old]})[0]
				if tc.want == "MISSING_ENUM_SYMBOLS" && !strings.Contains(e.Fix, "the enum itself") {
					t.Errorf("the fix is no hint: %s", e.Fix)
				}
			}
			if got != tc.want || r.Compatible != (tc.want == "") || r.Old != tc.at {
				t.Errorf("got %q at %d, want %q at %d", got, r.Old, tc.want, tc.at)
			}
		})
	}
}

// TestOtherFormatIsRefused: another format never follows, at any level that
// compares (schema-registry 1808).
func TestOtherFormatIsRefused(t *testing.T) {
	c, err := evolution.New(evolution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	old, next := parseText(t, schema.Avro, `"int"`), parseText(t, schema.JSON, `{"type":"integer"}`)
	for level, want := range map[evolution.Level]bool{evolution.None: true, evolution.Backward: false, evolution.FullTransitive: false} {
		r, err := c.Check(t.Context(), level, next, []schema.Parsed{old})
		if err != nil || r.Compatible != want {
			t.Errorf("%s: %v %v", level, r.Compatible, err)
		}
		if e := c.Explain(r.Findings, evolution.Text{Schema: next}, evolution.Text{Schema: old}); !want && (len(e) != 1 || e[0].Fix == "" || e[0].Why == "") {
			t.Errorf("%v", e)
		}
	}
}
