package registry_test

import (
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
)

func jsonRequest(text string, refs ...api.Reference) api.RegisterRequest {
	return api.RegisterRequest{Schema: &text, SchemaType: ptr("JSON"), References: refs}
}

// TestJSONSchemas: the third words of refusals are the reference's, with place
// and reason behind them.
func TestJSONSchemas(t *testing.T) {
	r := open(t, registry.Options{})
	a := registerRequest(t, r, "s", jsonRequest(`{ "type": "object", "properties": {"a": {"minimum": 1.50}} }`))
	if text := `{"type":"object","properties":{"a":{"minimum":1.50}}}`; text != a.Schema {
		t.Errorf("stored %s", a.Schema)
	}
	if again := registerRequest(t, r, "t", jsonRequest(`{"type":"object","properties":{"a":{"minimum":1.50}}}`)); again.ID != a.ID {
		t.Errorf("ids %v and %v", a.ID, again.ID)
	}
	for text, want := range map[string]string{
		`{`:                                  "Invalid schema of type JSON, details: Invalid schema of type JSON, details: Invalid JSON schema",
		`[]`:                                 "details: Invalid JSON schema: expected an object or boolean at the root, found ARRAY (line 1, column 1)",
		`{"properties":{"a":1}}`:             "Invalid schema of type JSON, details: Invalid schema {subject=s,",
		`{"required":"x"}`:                   "details: Invalid JSON: required must be an array of strings (line 1, column 13)",
		`{"not":{"$ref":"#/definitions/x"}}`: "leads to nothing in its text (line 1, column 16: /not)",
		"  ":                                 "Empty schema",
	} {
		_, err := r.Register(t.Context(), "s", jsonRequest(text), registry.RegisterOptions{})
		if text == "  " { // is what the latest version is
			if err != nil {
				t.Error(err)
			}
			_, err = r.Register(t.Context(), "blank", jsonRequest(text), registry.RegisterOptions{})
		}
		wantRow(t, err, errcode.InvalidSchema, want)
	}
	_, err := r.Lookup(t.Context(), "s", jsonRequest(" "), registry.LookupOptions{})
	wantRow(t, err, errcode.SchemaNotFound, "")
	_, err = r.Lookup(t.Context(), "s", jsonRequest("{"), registry.LookupOptions{})
	wantRow(t, err, errcode.InvalidSchema, "Invalid JSON schema")
}

func TestJSONReferences(t *testing.T) {
	r := open(t, registry.Options{})
	registerRequest(t, r, "address", jsonRequest(`{"definitions":{"zip":{"type":"string"}}}`))
	ref := api.Reference{Name: "address.json", Subject: "address", Version: -1}
	text := `{"properties":{"z":{"$ref":"address.json#/definitions/zip"}}}`
	a := registerRequest(t, r, "person", jsonRequest(text, ref))
	if refs := a.References; len(refs) != 1 || refs[0].Version != 1 {
		t.Errorf("references %v", refs)
	}
	_, err := r.Register(t.Context(), "person", jsonRequest(text), registry.RegisterOptions{})
	wantRow(t, err, errcode.InvalidSchema, "nothing is fetched")
	_, err = r.Register(t.Context(), "person", jsonRequest(text, api.Reference{Name: "address.json", Subject: "none", Version: 1}), registry.RegisterOptions{})
	wantRow(t, err, errcode.InvalidSchema, `No schema reference found for subject "none" and version 1`)
	// What a reference leads to counts.
	changed := `{"properties":{"z":{"$ref":"address.json#/definitions/zip","title":"x"}}}`
	registerRequest(t, r, "address", jsonRequest(`{"definitions":{"zip":{"type":"integer"}}}`))
	_, err = r.Register(t.Context(), "person", jsonRequest(changed, ref), registry.RegisterOptions{})
	wantRow(t, err, errcode.Incompatible, `{errorType:"TYPE_CHANGED"`)
}

func TestJSONCompatibility(t *testing.T) {
	r := open(t, registry.Options{})
	registerRequest(t, r, "s", jsonRequest(`{"properties":{"a":{"type":"string"}}}`))
	wider := jsonRequest(`{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`)
	_, err := r.Register(t.Context(), "s", wider, registry.RegisterOptions{})
	wantRow(t, err, errcode.Incompatible, "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL")
	setConfig(t, r, "s", api.ConfigRequest{CompatibilityPolicy: api.Given("LENIENT")})
	registerRequest(t, r, "s", wider)

	setConfig(t, r, "f", api.ConfigRequest{ValidateFields: api.Given(true)})
	reserving := jsonRequest(`{"properties":{"a":{}}}`)
	reserving.Metadata = &api.Metadata{Properties: map[string]string{"confluent:reserved": "a"}}
	_, err = r.Register(t.Context(), "f", reserving, registry.RegisterOptions{})
	wantRow(t, err, errcode.Incompatible, "conflicts with the reserved field a.")
	_, err = r.Register(t.Context(), "f", jsonRequest(`{"properties":{"$$a":{}}}`), registry.RegisterOptions{})
	wantRow(t, err, errcode.Incompatible, "$$a")
	registerRequest(t, r, "g", jsonRequest(`{"properties":{"$$a":{}}}`))

	// Another format is never compatible.
	_, err = r.Register(t.Context(), "s", request(record("R", "a:int")), registry.RegisterOptions{})
	wantRow(t, err, errcode.Incompatible, "Incompatible because of different schema type")
	deep := strings.Repeat(`{"not":`, 100_000) + "{}" + strings.Repeat("}", 100_000)
	_, err = r.Register(t.Context(), "deep", jsonRequest(deep), registry.RegisterOptions{})
	wantRow(t, err, errcode.InvalidSchema, "nest deeper")
}
