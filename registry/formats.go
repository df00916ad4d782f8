package registry

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"milena/registry/errcode"
	"milena/serde/avro"
	"milena/serde/format"
	"milena/serde/jsonschema"
	"milena/serde/schema"
)

// This file is the one place of the package that knows formats.

// Types returns the names of the formats.
func (r *Registry) Types() []string {
	var names []string
	for _, t := range format.Types() {
		names = append(names, string(t))
	}
	return names
}

// knownType reports whether schemas of the type can be registered.
func knownType(t schema.Type) bool { return slices.Contains(format.Types(), t) }

// parse returns the parsed form of s. Lenient is how look-ups and imports
// read: what is checked of new schemas only may be wrong.
func (r *Registry) parse(s schema.Resolved, lenient bool) (schema.Parsed, error) {
	return r.parsed.get(s, lenient, func() (schema.Parsed, error) {
		if s.Type == schema.Avro && lenient {
			if blank(s.Text) {
				// The reference's look-up reads white space as the empty union.
				s.Text = "[]"
			}
			return avro.Parser{Lenient: true}.Parse(s)
		}
		return format.Parse(s)
	})
}

// blank reports whether a text is empty but for white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// normalized returns the normalized text, or why the reference has none.
func normalized(p schema.Parsed) (string, error) {
	if a, ok := p.(*avro.Schema); ok {
		if err := a.NormalizeError(); err != nil {
			return "", err
		}
	}
	return p.Normalized(), nil
}

// sameMeaning reports whether two schemas of one format are the same to a
// look-up, with the types of references counted as part of the text.
func sameMeaning(a, b schema.Parsed) bool {
	if x, ok := a.(*avro.Schema); ok {
		y, ok := b.(*avro.Schema)
		return ok && avro.Equal(x, y)
	}
	return a.Type() == b.Type() && a.Canonical() == b.Canonical()
}

// inlines reports whether a text that has the referenced types inlined is the
// same schema as one that refers to them.
func inlines(t schema.Type) bool { return t == schema.Avro }

// formatted returns the text of p in a wanted format; formats that the type
// does not have are the canonical text.
func formatted(p schema.Parsed, wanted string) (string, error) {
	if a, ok := p.(*avro.Schema); ok && strings.EqualFold(wanted, "resolved") {
		return a.InlineText()
	}
	return p.Canonical(), nil
}

// isFormat reports whether a wanted format may differ from the canonical text.
func isFormat(t schema.Type, wanted string) bool {
	return t == schema.Avro && strings.EqualFold(wanted, "resolved")
}

// fieldNames returns the names of the top-level fields.
func fieldNames(p schema.Parsed) []string {
	var names []string
	switch s := p.(type) {
	case *avro.Schema:
		if s.Root().Kind == avro.KindRecord {
			for i := range s.Root().Fields {
				names = append(names, s.Root().Fields[i].Name)
			}
		}
	case *jsonschema.Schema:
		names = s.Properties()
	}
	return names
}

// invalid returns the answer to a schema that its parser refuses.
func invalid(c *candidate, err error) error {
	if errors.Is(err, format.ErrUnsupported) {
		return errcode.InvalidSchema.New("Invalid schema type " + string(c.schema.Type)).Because(err)
	}
	if c.schema.Type == string(schema.JSON) {
		return invalidJSON(c, err)
	}
	return errcode.InvalidSchema.New(fmt.Sprintf(
		"Invalid schema of type %s, details: Invalid schema %s with refs %s of type %s, details: %s",
		c.schema.Type, c.describe(), describeReferences(c.schema.References), c.schema.Type, err)).Because(err)
}

// invalidJSON is invalid for JSON Schema, where the reference tells what a text
// is not and no more. Behind its words stand place and reason.
func invalidJSON(c *candidate, err error) error {
	what := "Invalid schema " + c.describe()
	if jsonschema.NotJSON(err) {
		what = "Invalid schema of type JSON"
	}
	details := err.Error()
	var parse *schema.ParseError
	if errors.As(err, &parse) {
		words, place := *parse, *parse
		words.Line, words.Path = 0, ""
		place.Message = ""
		details = words.Error()
		if at := strings.TrimSuffix(strings.TrimSpace(place.Error()), ":"); at != "" {
			details += " (" + at + ")"
		}
	}
	return errcode.InvalidSchema.New(fmt.Sprintf("Invalid schema of type JSON, details: %s, details: %s", what, details)).Because(err)
}
