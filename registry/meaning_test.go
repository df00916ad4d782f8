package registry

import (
	"testing"

	"milena/serde/avro"
	"milena/serde/format"
	"milena/serde/schema"
)

// TestMeaningDigests compares the digests of all pairs of texts: those that
// mean the same have one, and nearly all others two.
func TestMeaningDigests(t *testing.T) {
	enum := schema.Dependency{Name: "n.E", Text: `{"type":"enum","name":"E","namespace":"n","symbols":["A","B"]}`}
	record := func(field string) string {
		return `{"type":"record","name":"R","namespace":"n","fields":[{"name":"e","type":` + field + `},{"name":"again","type":"n.E"}]}`
	}
	sources := []schema.Resolved{
		{Text: `"int"`}, {Text: ` {"type": "int"}`}, {Text: `"long"`}, {Text: `["null","int"]`}, {Text: `["int","null"]`},
		{Text: `{"type":"array","items":"int"}`}, {Text: `{"type":"array","items":{"type":"int"}}`}, {Text: `{"type":"map","values":"int"}`},
		{Text: `{"type":"fixed","name":"F","size":1}`}, {Text: `{"type":"fixed","name":"F","size":2}`},
		{Text: record(enum.Text)}, {Text: record(`"n.E"`), Dependencies: []schema.Dependency{enum}},
		{Text: record(`{"type":"enum","name":"E","symbols":["A","B"]}`)}, {Text: record(`{"type":"enum","name":"E","symbols":["B","A"]}`)},
		{Text: `{"type":"record","name":"n.L","fields":[{"name":"next","type":["null","n.L"]}]}`},
		{Text: `{"type":"record","name":"L","namespace":"n","fields":[{"type":["null","L"],"name":"next"}]}`},
		{Text: `{"type":"record","name":"n.L","doc":"d","fields":[{"name":"next","type":["null","n.L"]}]}`},
	}
	m := newMeanings()
	var parsed []*avro.Schema
	for _, s := range sources {
		s.Type = schema.Avro
		p, err := format.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, p.(*avro.Schema))
	}
	equal := 0
	for i, a := range parsed {
		for j, b := range parsed {
			same := avro.Equal(a, b)
			if same && i != j {
				equal++
			}
			if got := m.digest(a) == m.digest(b); got != same {
				t.Errorf("%s and %s: one digest %t, one meaning %t", sources[i].Text, sources[j].Text, got, same)
			}
		}
	}
	if equal == 0 {
		t.Error("no two texts mean the same")
	}
}
