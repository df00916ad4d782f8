package evolution_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"milena/evolution"
	"milena/serde/format"
	"milena/serde/schema"
)

// TestChanges: both directions, harmless changes where a format's table knows
// them, and pairs that can't be compared.
func TestChanges(t *testing.T) {
	parse := func(f schema.Type, text string) schema.Parsed {
		t.Helper()
		p, err := format.Parse(schema.Resolved{Type: f, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ints := parse(schema.Avro, `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`)
	longs := parse(schema.Avro, `{"type":"record","name":"R","fields":[{"name":"a","type":"long"}]}`)
	closed := parse(schema.JSON, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`)
	wider := parse(schema.JSON, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false}`)
	proto := parse(schema.Protobuf, `syntax = "proto3"; message M { string a = 1; }`)
	grown := parse(schema.Protobuf, `syntax = "proto3"; message M { string a = 1; int32 b = 2; }`)
	c, err := evolution.New(evolution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name           string
		reader, writer schema.Parsed
		want           string
	}{
		{"same", ints, ints, "[]"},
		{"wider reader", longs, ints, "[]"},
		{"wider writer", ints, longs, "[TYPE_MISMATCH /fields/0/type true The type (path '/fields/0/type') of a field in the new schema does not match with the old schema]"},
		{"harmless", wider, closed, "[OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/b false"},
		{"harmful", closed, wider, "[PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/b true"},
		{"field added", grown, proto, "[FIELD_ADDED #/M/2 false"},
		{"formats", grown, ints, "[SCHEMA_TYPE_CHANGED  true The new schema is PROTOBUF and the old one AVRO]"},
	} {
		changes, err := c.Changes(t.Context(), evolution.Strict, tc.reader, tc.writer, "new", "old")
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{}
		for _, ch := range changes {
			lines = append(lines, fmt.Sprint(ch.Kind, " ", ch.Path, " ", ch.Breaks, " ", ch.Description))
		}
		if got := fmt.Sprint(lines); len(got) < len(tc.want) || got[:len(tc.want)] != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Changes(ended, evolution.Strict, wider, closed, "new", "old"); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}
