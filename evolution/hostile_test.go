package evolution_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"milena/evolution"
	"milena/serde/avro"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// TestLongNames: a long name above thousands of changes, or in each of them, is
// not copied for each.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("a", 400_000)
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i+2)
		}
		return b.String()
	}
	jsonSchema := func(typ string) string {
		return `{"type":"object","properties":{"` + long + `":{"properties":{"q":{}` + many(20_000, `,"p%d":{"type":"`+typ+`"}`) + `}}}}`
	}
	enums := func(symbol string) string {
		return `{"type":"record","name":"A","fields":[{"name":"e","type":{"type":"enum","name":"E","symbols":["` + symbol + `"]}}` +
			many(5_000, `,{"name":"p%d","type":"E"}`) + `]}`
	}
	message := func(typ string) string {
		return `syntax = "proto3"; message ` + long[:30_000] + ` { int32 q = 1;` + many(1_000, typ+" p%[1]d = %[1]d;") + `}`
	}
	checker, err := evolution.New(evolution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		parser   schema.Parser
		old, new string
		contains string // the first message
	}{
		{"JSON Schema", jsonschema.Parser{}, jsonSchema("string"), jsonSchema("array"), "too complex to compare"},
		{"Avro", avro.Parser{}, enums(long), enums(long + "b"), "MISSING_ENUM_SYMBOLS"},
		{"Protobuf", protobuf.Parser{}, message("string"), message("double"), "too complex to compare"},
	} {
		old, err := c.parser.Parse(schema.Resolved{Text: c.old})
		if err != nil {
			t.Fatalf("%s: %.200v", c.name, err)
		}
		next, err := c.parser.Parse(schema.Resolved{Text: c.new})
		if err != nil {
			t.Fatalf("%s: %.200v", c.name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := checker.Check(t.Context(), evolution.Backward, next, []schema.Parsed{old})
		if err != nil || r.Compatible || !strings.Contains(r.Findings[0].Message[:min(200, len(r.Findings[0].Message))], c.contains) {
			t.Errorf("%s: compatible=%t, %v", c.name, r.Compatible, err)
			continue
		}
		r.Messages(1, false)
		if _, err := checker.Changes(t.Context(), evolution.Strict, next, old, "new", "old"); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 300<<20 {
			t.Errorf("%s: %d MB allocated", c.name, got>>20)
		}
	}
}
