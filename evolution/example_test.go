package evolution_test

import (
	"context"
	"fmt"

	"milena/evolution"
	"milena/serde/format"
	"milena/serde/schema"
)

// A schema is checked against the versions before it, and what is wrong is
// explained.
func Example() {
	old := `{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}`
	next := `{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "int"},
  {"name": "currency", "type": "string"}]}`
	var parsed [2]schema.Parsed
	for i, text := range []string{old, next} {
		p, err := format.Parse(schema.Resolved{Type: schema.Avro, Text: text})
		if err != nil {
			fmt.Println(err)
			return
		}
		parsed[i] = p
	}
	checker, err := evolution.New(evolution.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := checker.Check(context.Background(), evolution.Backward, parsed[1], parsed[:1])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("compatible:", result.Compatible)
	for _, e := range checker.Explain(result.Findings, evolution.Text{Schema: parsed[1], Text: next}, evolution.Text{Schema: parsed[0], Text: old}) {
		fmt.Printf("%d:%d %s\n%s\n%s\n", e.New.Line, e.New.Column, e.Rule, e.Why, e.Fix)
	}
	// Output:
	// compatible: false
	// 3:3 avro/READER_FIELD_MISSING_DEFAULT_VALUE
	// Data of the old schema has no field currency, and the new schema has no default to put there.
	// give currency a default, such as "type": ["null", …], "default": null
}

// ExampleChecker_Explain: positions need the texts as they were written; without
// them, those of the canonical text are given.
func ExampleChecker_Explain() {
	parse := func(text string) schema.Parsed {
		p, err := format.Parse(schema.Resolved{Type: schema.Protobuf, Text: text})
		if err != nil {
			panic(err)
		}
		return p
	}
	old := parse("syntax = \"proto3\"; message M { int32 a = 1; }")
	next := parse("syntax = \"proto3\"; message M { string a = 1; }")
	checker, err := evolution.New(evolution.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := checker.Check(context.Background(), evolution.Full, next, []schema.Parsed{old})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range checker.Explain(result.Findings, evolution.Text{Schema: next}, evolution.Text{Schema: old}) {
		fmt.Println(e.Forward, e.Path, "was", e.Old.Value, "is", e.New.Value)
	}
	// Output:
	// true #/M/1 was int32 a = 1 is string a = 1
	// false #/M/1 was int32 a = 1 is string a = 1
}
