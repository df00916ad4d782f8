package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"milena/serde/schema"
)

// extensionRow says what a file's extension tells.
type extensionRow struct {
	extensions []string
	format     schema.Type
	files      bool // the content is a FileDescriptorSet
}

func (r *extensionRow) match(path string) bool {
	base := strings.ToLower(filepath.Base(path))
	return slices.ContainsFunc(r.extensions, func(e string) bool { return strings.HasSuffix(base, e) })
}

// extensionTable comes before the content. Any other extension tells nothing.
func extensionTable() []extensionRow {
	return []extensionRow{
		{[]string{".avsc"}, schema.Avro, false},
		{[]string{".schema.json", ".jsonschema"}, schema.JSON, false},
		{[]string{".proto"}, schema.Protobuf, false},
		{[]string{".desc", ".binpb", ".protoset", ".fds"}, schema.Protobuf, true},
	}
}

// contentRow says which format a text has that looks like something.
type contentRow struct {
	looks  string // as --help says it
	format schema.Type
	match  func(*content) bool
}

// contentTable is asked from the top; the first row that matches tells.
func contentTable() []contentRow {
	return []contentRow{
		{"a JSON string or array", schema.Avro, func(c *content) bool { return c.kind == '"' || c.kind == '[' }},
		{"true or false", schema.JSON, func(c *content) bool { return c.kind == 't' }},
		{"an object with $schema, $id, $ref, $defs or definitions", schema.JSON, func(c *content) bool {
			return c.has("$schema", "$id", "$ref", "$defs", "definitions")
		}},
		{"an object of type record, error, enum or fixed with a name", schema.Avro, func(c *content) bool {
			return c.typeIs("record", "error", "enum", "fixed") && c.has("name")
		}},
		{"an object of type null, boolean or string with a logicalType", schema.Avro, func(c *content) bool {
			return c.typeIs("null", "boolean", "string") && c.has("logicalType")
		}},
		{"an object of type int, long, float, double, bytes or map", schema.Avro, func(c *content) bool {
			return c.typeIs("int", "long", "float", "double", "bytes", "map")
		}},
		{"an object of type array whose items are a string or an array", schema.Avro, func(c *content) bool {
			items := bytes.TrimSpace(c.members["items"])
			// JSON Schema's array of items holds schemas, Avro's a union.
			return c.typeIs("array") && len(items) > 0 && (items[0] == '"' || items[0] == '[' && bytes.IndexByte(items, '{') < 0)
		}},
		{"an object of type object, number or integer, of a list of types, or without a type", schema.JSON, func(c *content) bool {
			return c.kind == '{' && (c.typeIs("object", "number", "integer") || !c.has("type") || c.typeIsList())
		}},
		{"an object of type null, boolean, string or array with title, enum, format or another keyword of JSON Schema", schema.JSON, func(c *content) bool {
			return c.typeIs("null", "boolean", "string", "array") && c.has("title", "description", "properties", "enum", "const", "format", "pattern",
				"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "contentEncoding", "allOf", "anyOf", "oneOf", "not", "examples")
		}},
		{"syntax, package, import, option, message, enum, service or extend at its beginning", schema.Protobuf, func(c *content) bool { return c.proto }},
	}
}

// errNoType says that a text may be of several formats, or of none.
var errNoType = errors.New("can't tell the format")

// content is what the table sees of a text.
type content struct {
	kind    byte // of a JSON text: { [ " t (true or false) 0 (a number); else 0
	members map[string]json.RawMessage
	types   string // the member type, if it is a string
	proto   bool
}

func (c *content) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := c.members[name]; return ok })
}

func (c *content) typeIs(names ...string) bool { return slices.Contains(names, c.types) }

func (c *content) typeIsList() bool {
	t := bytes.TrimSpace(c.members["type"])
	return len(t) > 0 && t[0] == '['
}

// protoStart matches the first word of a Protobuf file, after comments.
func protoStart() *regexp.Regexp {
	return regexp.MustCompile(`^(\s|//[^\n]*\n|/\*(?s:.*?)\*/)*(syntax|edition|package|import|option|message|enum|service|extend)\b`)
}

func look(text []byte) *content {
	c := &content{}
	dec := json.NewDecoder(bytes.NewReader(text))
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		c.proto = protoStart().Match(text)
		return c
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return c
	}
	switch v = bytes.TrimSpace(v); v[0] {
	case '{', '[', '"':
		c.kind = v[0]
	case 't', 'f':
		c.kind = 't'
	}
	if c.kind == '{' && json.Unmarshal(v, &c.members) == nil {
		_ = json.Unmarshal(c.members["type"], &c.types) // stays empty if it is no string
	}
	return c
}

// tellType returns the format of a schema by its file's name and its text, and
// whether it is a FileDescriptorSet. Errors wrap errNoType.
func tellType(name string, text []byte) (schema.Type, bool, error) {
	for _, r := range extensionTable() {
		if r.match(name) {
			return r.format, r.files, nil
		}
	}
	if strings.EqualFold(filepath.Ext(name), ".avdl") {
		return "", false, fmt.Errorf("%w: %s is Avro IDL; turn it into a schema (.avsc) first", errNoType, name)
	}
	c := look(text)
	for _, r := range contentTable() {
		if r.match(c) {
			return r.format, false, nil
		}
	}
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return "", false, fmt.Errorf("%w of %s: it is empty", errNoType, name)
	case c.kind == '{':
		return "", false, fmt.Errorf("%w of %s: it may be Avro or JSON Schema", errNoType, name)
	}
	return "", false, fmt.Errorf("%w of %s: it looks like none", errNoType, name)
}

// parseType reads the value of --type.
func parseType(text string) (schema.Type, error) {
	switch t := schema.Type(strings.ToUpper(text)); t {
	case schema.Avro, schema.JSON, schema.Protobuf:
		return t, nil
	case "JSONSCHEMA", "JSON-SCHEMA":
		return schema.JSON, nil
	case "PROTO":
		return schema.Protobuf, nil
	}
	return "", fmt.Errorf("--type: %q is none of avro, json and protobuf", text)
}

// typeHelp is the tables as --help shows them.
func typeHelp() string {
	var b strings.Builder
	b.WriteString("Without --type, the format of a schema file is told by its extension:\n")
	for _, r := range extensionTable() {
		fmt.Fprintf(&b, "  %-8s  %s", r.format, strings.Join(r.extensions, " "))
		if r.files {
			b.WriteString("  (a FileDescriptorSet: its last file is the schema, the others its references)")
		}
		b.WriteString("\n")
	}
	b.WriteString("else by what the text is, the first that fits:\n")
	for _, r := range contentTable() {
		fmt.Fprintf(&b, "  %-8s  %s\n", r.format, r.looks)
	}
	b.WriteString("Anything else, such as {\"type\":\"string\"}, which may be Avro or JSON Schema, needs --type.\n")
	return b.String()
}
