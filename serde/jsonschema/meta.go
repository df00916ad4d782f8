package jsonschema

import (
	"strconv"
	"strings"
)

// keywords lists what the meta schema of a draft says about the members of a
// schema, by the words of metaShapes. It is what a reference to a meta schema
// leads to: nobody is checked against it.
func keywords(d Draft) string {
	common := "title:string description:string default:any multipleOf:positive maximum:number minimum:number " +
		"maxLength:count minLength:count0 pattern:regex items:items maxItems:count minItems:count0 uniqueItems:flag " +
		"maxProperties:count minProperties:count0 required:words additionalProperties:schema properties:schemas " +
		"patternProperties:schemas enum:list type:types allOf:array anyOf:array oneOf:array not:schema format:string "
	switch {
	case d == Draft4:
		return "id:string $schema:string " + common + "definitions:schemas dependencies:needs additionalItems:schema exclusiveMaximum:flag exclusiveMinimum:flag"
	case d == Draft6:
		return "$id:uri $schema:uri $ref:uri " + common + "examples:list exclusiveMaximum:number exclusiveMinimum:number " +
			"definitions:schemas dependencies:needs additionalItems:schema contains:schema propertyNames:schema const:any"
	case d == Draft7:
		return keywords(Draft6) + " $comment:string readOnly:flag writeOnly:flag contentMediaType:string contentEncoding:string " +
			"if:schema then:schema else:schema"
	}
	return "$id:uri $schema:uri $ref:uri $anchor:string $vocabulary:object $comment:string $defs:schemas " + common +
		"examples:list exclusiveMaximum:number exclusiveMinimum:number definitions:schemas contains:schema propertyNames:schema " +
		"const:any readOnly:flag writeOnly:flag deprecated:flag contentMediaType:string contentEncoding:string contentSchema:schema " +
		"if:schema then:schema else:schema dependentSchemas:schemas dependentRequired:needs maxContains:count minContains:count " +
		"unevaluatedItems:schema unevaluatedProperties:schema prefixItems:array $dynamicRef:uri $dynamicAnchor:string"
}

// metaShapes are the schemas of members by the words of keywords.
func metaShapes(d Draft) map[string]string {
	any, positive, count := "{}", `{"type":"number","exclusiveMinimum":0}`, `{"$ref":"#/definitions/nonNegativeInteger"}`
	if d == Draft4 {
		positive, count = `{"type":"number","minimum":0,"exclusiveMinimum":true}`, `{"$ref":"#/definitions/positiveInteger"}`
	}
	if d > Draft6 {
		any = "true"
	}
	shapes := map[string]string{
		"any": any, "string": `{"type":"string"}`, "number": `{"type":"number"}`, "flag": `{"type":"boolean"}`,
		"object": `{"type":"object"}`, "positive": positive, "count": count,
		"uri":     `{"type":"string","format":"uri-reference"}`,
		"regex":   `{"type":"string","format":"regex"}`,
		"list":    `{"type":"array","items":` + any + `}`,
		"count0":  `{"$ref":"#/definitions/nonNegativeIntegerDefault0"}`,
		"words":   `{"$ref":"#/definitions/stringArray"}`,
		"schema":  `{"$ref":"#"}`,
		"array":   `{"$ref":"#/definitions/schemaArray"}`,
		"schemas": `{"type":"object","additionalProperties":{"$ref":"#"},"default":{}}`,
		"items":   `{"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/schemaArray"}]}`,
		"needs":   `{"type":"object","additionalProperties":{"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/stringArray"}]}}`,
		"types": `{"anyOf":[{"$ref":"#/definitions/simpleTypes"},` +
			`{"type":"array","items":{"$ref":"#/definitions/simpleTypes"},"minItems":1,"uniqueItems":true}]}`,
	}
	switch {
	case d == Draft4:
		shapes["list"] = `{"type":"array","minItems":1,"uniqueItems":true}`
		shapes["count0"] = `{"$ref":"#/definitions/positiveIntegerDefault0"}`
		shapes["schema"] = `{"anyOf":[{"type":"boolean"},{"$ref":"#"}]}`
	case d.modern():
		shapes["items"] = shapes["schema"]
		shapes["needs"] = `{"type":"object","additionalProperties":{"$ref":"#/definitions/stringArray"}}`
	}
	return shapes
}

// metaText returns the meta schema of a draft.
func metaText(d Draft) string {
	var b strings.Builder
	types, positive, strings0 := `["object","boolean"]`, "nonNegativeInteger", `,"default":[]`
	if d == Draft4 {
		types, positive, strings0 = `"object"`, "positiveInteger", `,"minItems":1`
	}
	b.WriteString(`{"type":` + types + `,"definitions":{"schemaArray":{"type":"array","minItems":1,"items":{"$ref":"#"}},"` +
		positive + `":{"type":"integer","minimum":0},"` + positive + `Default0":{"allOf":[{"$ref":"#/definitions/` + positive +
		`"},{"default":0}]},"simpleTypes":{"enum":["array","boolean","integer","null","number","object","string"]},` +
		`"stringArray":{"type":"array","items":{"type":"string"},"uniqueItems":true` + strings0 + `}},"properties":{`)
	shapes := metaShapes(d)
	for i, row := range strings.Fields(keywords(d)) {
		name, shape, _ := strings.Cut(row, ":")
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(name) + ":" + shapes[shape])
	}
	b.WriteString(`}}`)
	return b.String()
}

// meta returns the meta schema at an address as a text of its own, or nil if
// there is none that the draft can refer to. Old drafts know those of old
// drafts; the modern ones know all but that of draft 4.
func (l *loader) meta(address string, from Draft) *document {
	d := draftOf(address)
	switch {
	case d == 0, !from.modern() && d.modern(), from.modern() && d == Draft4:
		return nil
	}
	name := "meta schema " + d.String()
	if doc := l.docs[name]; doc != nil {
		return doc
	}
	text := metaText(d)
	root, err := readJSON(text)
	if err != nil {
		return nil // the tables are tested
	}
	doc := &document{name: name, text: text, root: root, draft: d, base: address}
	if from.modern() {
		doc.draft = from
	}
	l.docs[name] = doc
	return doc
}
