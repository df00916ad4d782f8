package jsonschema

import (
	"errors"
	"testing"

	"milena/serde/schema"
)

// TestKnownFaults: schemas that other registries stumbled over, by what went
// wrong: each is taken as a new one, its stored text is the same schema, and it
// tells valid documents from others.
func TestKnownFaults(t *testing.T) {
	for _, c := range []struct {
		kind, schema   string
		valid, invalid []string
	}{
		{"properties named like keywords", `{"$schema":"https://json-schema.org/draft/2020-12/schema#","type":"object","properties":{"id":{"type":"string"},"$schema":{"type":"string"},"item":{"$ref":"#/$defs/Item"}},"$defs":{"Item":{"type":"object","properties":{"id":{"title":"Id","type":"integer"}}}}}`,
			[]string{`{"id":"x","$schema":"y","item":{"id":1}}`}, []string{`{"id":1}`, `{"$schema":1}`, `{"item":{"id":"x"}}`}},
		{"true at the root", `true`, []string{`1`, `{}`}, nil},
		{"a string at the root", `{"type":"string"}`, []string{`"a"`}, []string{`1`}},
		{"an integer at the root", `{"type":"integer"}`, []string{`1`, `1.0`}, []string{`1.5`}},
		{"null at the root", `{"type":"null"}`, []string{`null`}, []string{`0`}},
		{"values at the root", `{"enum":["a",1,null]}`, []string{`null`}, []string{`[]`}},
		{"one value at the root", `{"$schema":"http://json-schema.org/draft-07/schema","const":5}`, []string{`5`}, []string{`6`}},
		{"a reference beside keywords that say nothing", `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"r":{"readOnly":true,"description":"d","default":{},"$ref":"#/$defs/R"}},"$defs":{"R":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`,
			[]string{`{"r":{"n":1}}`}, []string{`{"r":{}}`}},
	} {
		s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.JSON, Text: c.schema})
		if err != nil {
			t.Errorf("%s: %v", c.kind, err)
			continue
		}
		again, err := Parser{}.ParseSchema(s.Resolved())
		if err != nil || again.Canonical() != s.Canonical() {
			t.Errorf("%s: stored %s: %v", c.kind, s.Canonical(), err)
		}
		v := newValidator(t, s.Canonical())
		for _, doc := range c.valid {
			if err := v.Validate([]byte(doc)); err != nil {
				t.Errorf("%s: %s: %v", c.kind, doc, err)
			}
		}
		for _, doc := range c.invalid {
			var invalid *InvalidError
			if err := v.Validate([]byte(doc)); !errors.As(err, &invalid) {
				t.Errorf("%s: %s: %v", c.kind, doc, err)
			}
		}
	}
}

// TestKnownFaultsOfDialects: every spelling of a dialect is that draft; one
// that nobody knows is draft-07, and nobody is asked about it.
func TestKnownFaultsOfDialects(t *testing.T) {
	for address, invalidFrom2019 := range map[string]bool{
		"http://json-schema.org/draft-07/schema":        false,
		"http://json-schema.org/draft-07/schema#":       false,
		"https://json-schema.org/draft-07/schema#":      false,
		"https://corp.test/my-dialect":                  false,
		"http://json-schema.org/draft-06/schema#":       false,
		"https://json-schema.org/draft/2019-09/schema":  true,
		"https://json-schema.org/draft/2020-12/schema#": true,
		"http://json-schema.org/draft/2020-12/schema":   true,
	} {
		text := `{"$schema":"` + address + `","properties":{"r":{"maxProperties":0,"$ref":"#/definitions/R"}},"definitions":{"R":true}}`
		if _, err := (Parser{}).ParseSchema(schema.Resolved{Type: schema.JSON, Text: text}); err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		err := newValidator(t, text).Validate([]byte(`{"r":{"a":1}}`))
		if (err != nil) != invalidFrom2019 {
			t.Errorf("%s: %v", address, err)
		}
	}
}
