package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
)

// TestSearch: what each criterion finds in schemas of three formats.
func TestSearch(t *testing.T) {
	r := openMemory(t)
	jsonType, protoType := "JSON", "PROTOBUF"
	avroText := `{"type":"record","name":"Order","namespace":"shop","doc":"An Ötzi","confluent:tags":["CORE"],"fields":[
		{"name":"email","type":"string","confluent:tags":["PII","X"]},
		{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[{"name":"sku","type":["null",{"type":"fixed","name":"Sku","size":4}]}]}}},
		{"name":"again","type":"Line"},{"name":"odd","type":"int","confluent:tags":"no list"},
		{"name":"map","type":{"type":"map","values":{"type":"enum","name":"Kind","symbols":["A"]}}}]}`
	register(t, r, "avro", avroText)
	registerRequest(t, r, "json", api.RegisterRequest{SchemaType: &jsonType, Schema: ptr(`{"title":"Customer","type":"object",
		"properties":{"email":{"type":"string","confluent:tags":["PII"]},"address":{"$ref":"#/$defs/Address"},"list":{"type":"array","items":[{"title":"Item"}]}},
		"$defs":{"Address":{"properties":{"zip":{"default":{"properties":{"ghost":1}}}}}}}`)})
	registerRequest(t, r, "proto", api.RegisterRequest{SchemaType: &protoType, Schema: ptr(`syntax = "proto3"; package shop; import "confluent/meta.proto";
		message Cart { option (confluent.message_meta).tags = "CORE"; string email = 1 [(confluent.field_meta) = { tags: [ "PII", "Y" ] }];
		oneof o { int32 cents = 2; } message Inner { Color color = 1 [(confluent.field_meta).tags = "Z"]; } enum Color { RED = 0; } }`)})
	registerRequest(t, r, ":.c:meta", api.RegisterRequest{Schema: ptr(`"int"`), Metadata: &api.Metadata{
		Tags: map[string][]string{"**": {"PII"}}, Properties: map[string]string{"owner": "team a"},
	}})
	register(t, r, "old", `"long"`)
	register(t, r, "old", `"double"`)
	if _, err := r.DeleteVersion(t.Context(), "old", "1", false); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		q    registry.SearchQuery
		want string
	}{
		"everything":         {registry.SearchQuery{}, ":.c:meta/1 avro/1 json/1 old/2 proto/1"},
		"deleted ones":       {registry.SearchQuery{Prefix: "o", Deleted: true}, "old/1 old/2"},
		"latest":             {registry.SearchQuery{Prefix: "o", Deleted: true, LatestOnly: true}, "old/2"},
		"latest live":        {registry.SearchQuery{Prefix: "o", LatestOnly: true}, "old/2"},
		"a context":          {registry.SearchQuery{Prefix: ":.c:"}, ":.c:meta/1"},
		"names everywhere":   {registry.SearchQuery{Prefix: ":*:m"}, ":.c:meta/1"},
		"a format":           {registry.SearchQuery{SchemaType: "json"}, "json/1"},
		"a field":            {registry.SearchQuery{Field: "email"}, "avro/1(shop.Order.email) json/1(object.email) proto/1(shop.Cart.email)"},
		"a path":             {registry.SearchQuery{Field: "shop.Line.sku"}, "avro/1(shop.Line.sku)"},
		"a pattern":          {registry.SearchQuery{Field: "*o*.c*"}, "proto/1(shop.Cart.cents,shop.Cart.Inner.color)"},
		"inner fields":       {registry.SearchQuery{Field: "zip"}, "json/1(Address.zip)"},
		"values":             {registry.SearchQuery{Field: "ghost"}, ""},
		"case":               {registry.SearchQuery{Field: "Email"}, ""},
		"a type":             {registry.SearchQuery{Type: "Line"}, "avro/1(shop.Line)"},
		"fixed and enums":    {registry.SearchQuery{Type: "shop.*k*"}, "avro/1(shop.Sku)"},
		"an enum":            {registry.SearchQuery{Type: "Kind"}, "avro/1(shop.Kind)"},
		"titles":             {registry.SearchQuery{Type: "*tem"}, "json/1(Item)"},
		"definitions":        {registry.SearchQuery{Type: "Address"}, "json/1(Address)"},
		"inner types":        {registry.SearchQuery{Type: "shop.Cart.Color"}, "proto/1(shop.Cart.Color)"},
		"a tag":              {registry.SearchQuery{Tag: "PII"}, ":.c:meta/1 avro/1(shop.Order.email) json/1(object.email) proto/1(shop.Cart.email)"},
		"a tag of a type":    {registry.SearchQuery{Tag: "CORE"}, "avro/1(shop.Order) proto/1(shop.Cart)"},
		"tags by pattern":    {registry.SearchQuery{Tag: "?", Field: "*"}, ""},
		"a sub option":       {registry.SearchQuery{Tag: "Z"}, "proto/1(shop.Cart.Inner.color)"},
		"a tag and a field":  {registry.SearchQuery{Tag: "PII", Field: "sku"}, "avro/1(shop.Line.sku,shop.Order.email)"},
		"a property":         {registry.SearchQuery{Property: "owner"}, ":.c:meta/1"},
		"its value":          {registry.SearchQuery{Property: "owner=team*"}, ":.c:meta/1"},
		"another value":      {registry.SearchQuery{Property: "owner=team"}, ""},
		"text in any case":   {registry.SearchQuery{Text: "an ötZI"}, "avro/1"},
		"everything at once": {registry.SearchQuery{Prefix: "a", SchemaType: "AVRO", Field: "email", Type: "Order", Tag: "X", Text: "doc"}, "avro/1(shop.Order.email,shop.Order)"},
	} {
		// In pages of any size the matches are the same.
		for _, limit := range []int{1, 2, 0} {
			q := c.q
			q.Limit = limit
			if got := searchAll(t, r, q); got != c.want {
				t.Errorf("%s, %d a page: %s, want %s", what, limit, got, c.want)
			}
		}
	}
}

// searchAll returns the matches of all pages.
func searchAll(t *testing.T, r *registry.Registry, q registry.SearchQuery) string {
	t.Helper()
	var got []string
	for {
		page, err := r.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if q.Limit > 0 && len(page.Matches) > q.Limit {
			t.Errorf("%d matches on a page of %d", len(page.Matches), q.Limit)
		}
		for _, m := range page.Matches {
			text := fmt.Sprintf("%s/%d", m.Subject, m.Version)
			if len(m.Entities) > 0 {
				text += "(" + strings.Join(m.Entities, ",") + ")"
			}
			got = append(got, text)
		}
		if page.Next == "" {
			return strings.Join(got, " ")
		}
		q.After = page.Next
	}
}

// TestSearchIsBounded: a page ends when it has looked at enough, wherever that
// is, and the pages together are the whole.
func TestSearchIsBounded(t *testing.T) {
	r := open(t, registry.Options{Limits: registry.Limits{SearchBytesMax: 1000, SearchPageMax: 3}})
	for i := range 50 {
		register(t, r, fmt.Sprintf("s%02d", i), record("R", fmt.Sprintf("f%d:int", i), "common:string"))
	}
	q, pages, matches := registry.SearchQuery{Field: "f4*"}, 0, 0
	for {
		page, err := r.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		matches += len(page.Matches)
		if pages++; page.Next == "" {
			break
		}
		q.After = page.Next
	}
	if matches != 11 || pages < 10 {
		t.Errorf("%d matches on %d pages", matches, pages)
	}
	if page, err := r.Search(t.Context(), registry.SearchQuery{Limit: 10}); err != nil || len(page.Matches) > 3 {
		t.Errorf("%d matches, %v", len(page.Matches), err)
	}
	for _, after := range []string{"!", "bm8", "eCB5"} {
		if _, err := r.Search(t.Context(), registry.SearchQuery{After: after}); !errors.Is(err, errcode.BadRequest) {
			t.Errorf("cursor %q: %v", after, err)
		}
	}
}
