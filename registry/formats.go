package registry

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"milena/registry/errcode"
	"milena/serde/avro"
	"milena/serde/format"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
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

// lenientRequest reports whether look-ups and imports of a format read what they
// bring leniently; stored schemas are always read so. Protobuf's don't: a type
// that means nothing is no schema there either.
func lenientRequest(t schema.Type) bool { return t != schema.Protobuf }

// parse returns the parsed form of s. Lenient is how look-ups and imports
// read: what is checked of new schemas only may be wrong.
func (r *Registry) parse(s schema.Resolved, lenient bool) (schema.Parsed, error) {
	return r.parsed.get(s, lenient, func() (schema.Parsed, error) {
		switch {
		case s.Type == schema.Avro && lenient:
			if blank(s.Text) {
				// The reference's look-up reads white space as the empty union.
				s.Text = "[]"
			}
			return avro.Parser{Lenient: true}.Parse(s)
		case lenient && blank(s.Text):
			// Of the other formats, white space is a schema that none equals.
			return foreign{schema.Resolved{Type: s.Type}}, nil
		case s.Type == schema.Protobuf && lenient:
			return protobuf.Parser{Lenient: true}.Parse(s)
		}
		return format.Parse(s)
	})
}

// parseStored returns the parsed form of a schema that is stored, by whatever
// rules it once was taken.
func (r *Registry) parseStored(s schema.Resolved) (schema.Parsed, error) {
	p, err := r.parse(s, true)
	if err != nil {
		// Rare, so it is parsed each time.
		if p, e := format.ParseStored(s); e == nil {
			return p, nil
		}
	}
	return p, err
}

// blank reports whether a text is empty but for white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// normalized returns the normalized text, or why the reference has none.
func normalized(p schema.Parsed) (string, error) {
	if a, ok := p.(interface{ NormalizeError() error }); ok {
		if err := a.NormalizeError(); err != nil {
			return "", err
		}
	}
	return p.Normalized(), nil
}

// normalForm returns the normalized schema where that is more than its text
// parsed: the reference stores normalized Protobuf as it is, though it would
// print it in another order. It returns nil for other formats.
func normalForm(p schema.Parsed) schema.Parsed {
	if s, ok := p.(*protobuf.Schema); ok {
		if normal := s.Normal(); normal != nil {
			return normal
		}
	}
	return nil
}

// sameMeaning reports whether two schemas of one format are the same to a
// look-up, with the types of references counted as part of the text.
func sameMeaning(a, b schema.Parsed) bool {
	if x, ok := a.(*avro.Schema); ok {
		y, ok := b.(*avro.Schema)
		return ok && avro.Equal(x, y)
	}
	if a.Type() == schema.Protobuf {
		return false // texts count as they are stored, and those were compared
	}
	return a.Type() == b.Type() && a.Canonical() == b.Canonical()
}

// inlines reports whether a text that has the referenced types inlined is the
// same schema as one that refers to them.
func inlines(t schema.Type) bool { return t == schema.Avro }

// FormatLinked is serialized with names in full, types set and map entries as
// protoc makes them, for clients that build descriptors of what they get: the
// reference's own form leaves out what they need. A schema that doesn't link is
// shown as serialized.
const FormatLinked = "linked"

// formatted returns the text of p in a wanted format; formats that the type
// does not have are the canonical text.
func formatted(p schema.Parsed, wanted string) (string, error) {
	if a, ok := p.(*avro.Schema); ok && strings.EqualFold(wanted, "resolved") {
		return a.InlineText()
	}
	if s, ok := p.(*protobuf.Schema); ok {
		switch strings.ToLower(wanted) {
		case "ignore_extensions":
			return s.WithoutExtensions(), nil
		case "serialized":
			raw, err := s.Serialized()
			if err != nil {
				return "", err
			}
			return base64.StdEncoding.EncodeToString(raw), nil
		case FormatLinked:
			raw, err := s.Linked()
			if err != nil {
				return "", err
			}
			return base64.StdEncoding.EncodeToString(raw), nil
		}
	}
	return p.Canonical(), nil
}

// isFormat reports whether a wanted format may differ from the canonical text.
func isFormat(t schema.Type, wanted string) bool {
	switch strings.ToLower(wanted) {
	case "resolved":
		return t == schema.Avro
	case "serialized", "ignore_extensions", FormatLinked:
		return t == schema.Protobuf
	}
	return false
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
	case *protobuf.Schema:
		for _, m := range s.File().Messages {
			for _, f := range m.Fields {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// forbiddenName reports whether no field of a format may have the name.
func forbiddenName(t schema.Type, name string) bool {
	return t == schema.JSON && strings.HasPrefix(name, "$$")
}

// invalid returns the answer to a schema that its parser refuses.
func invalid(c *candidate, err error) error {
	if errors.Is(err, format.ErrUnsupported) {
		return errcode.InvalidSchema.New("Invalid schema type " + string(c.schema.Type)).Because(err)
	}
	switch schema.Type(c.schema.Type) {
	case schema.JSON:
		return invalidJSON(c, err)
	case schema.Protobuf:
		return invalidProtobuf(c, err)
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

// invalidProtobuf is invalid for Protobuf: a text that can't be parsed is told
// apart from a schema that isn't right.
func invalidProtobuf(c *candidate, err error) error {
	what := "Invalid schema of type PROTOBUF"
	details := err.Error()
	var parse *schema.ParseError
	if errors.As(err, &parse) {
		details = parse.Message // which has the place where there is one
		if !protobuf.IsSyntax(err) {
			what = "Invalid schema " + c.describe()
		}
		if parse.Path != "" {
			details = parse.Path + ": " + details
		}
	}
	return errcode.InvalidSchema.New(fmt.Sprintf("Invalid schema of type PROTOBUF, details: %s, details: %s", what, details)).Because(err)
}
