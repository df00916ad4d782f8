package protobuf

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

// dependencyBytesMax bounds the texts of all dependencies of one schema
// together, as a multiple of Limits.TextBytesMax.
const dependencyBytesMax = 8

// Parser parses Protobuf schemas. Its zero value parses as a registry takes new
// schemas: types must resolve and the normalized text must be a schema again.
type Parser struct {
	// Limits bound the texts; zero fields mean the defaults.
	Limits schema.Limits
	// Lenient parses as stored schemas and look-ups are: types need not
	// resolve.
	Lenient bool
}

var _ schema.Parser = Parser{}

// Parse parses r.Text after the texts of r.Dependencies, whose names are import
// paths. The Parsed is a *Schema, the error a *schema.ParseError.
func (p Parser) Parse(r schema.Resolved) (schema.Parsed, error) {
	s, err := p.ParseSchema(r)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ParseSchema is Parse with the concrete result. The error is a
// *schema.ParseError.
func (p Parser) ParseSchema(r schema.Resolved) (*Schema, error) {
	s, err := p.parse(r)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// dependency is a file that a schema refers to.
type dependency struct {
	name string
	file *File
}

func (p Parser) parse(r schema.Resolved) (*Schema, *schema.ParseError) {
	limits := p.Limits.WithDefaults()
	if r.Type != "" && r.Type != schema.Protobuf {
		return nil, &schema.ParseError{Message: fmt.Sprintf("Not a Protobuf schema: type %s", r.Type)}
	}
	if err := builtIns().err; err != nil {
		return nil, &schema.ParseError{Message: err.Error()}
	}
	s := &Schema{limits: limits, deps: slices.Clone(r.Dependencies)}
	total := 0
	for _, d := range r.Dependencies {
		if total += len(d.Text); total > dependencyBytesMax*limits.TextBytesMax {
			return nil, &schema.ParseError{Path: "reference " + d.Name, Message: "The texts of all references are too long together"}
		}
		f, err := parseAny(d.Text, limits)
		if err != nil {
			err.Path = strings.TrimSuffix("reference "+d.Name+": "+err.Path, ": ")
			return nil, err
		}
		s.files = append(s.files, dependency{d.Name, f})
	}
	var err *schema.ParseError
	if s.file, err = parseAny(r.Text, limits); err != nil {
		return nil, err
	}
	var fits bool
	if s.canonical, fits = printFile(s.file); !fits {
		return nil, &schema.ParseError{Message: fmt.Sprintf("Schema text prints as more than the maximum allowed (%d)", printedMax)}
	}
	if strings.TrimSpace(s.canonical) == "" {
		return nil, &schema.ParseError{Message: "Empty schema"}
	}
	s.names = newNames(s.file, s.files)
	if !p.Lenient {
		if err := s.normalize(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parseAny reads a text, or what is one in base64.
func parseAny(text string, limits schema.Limits) (*File, *schema.ParseError) {
	f, err := parseForm(text, limits)
	if err == nil {
		err = checkNameBytes(f)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// parseForm is parseAny without a look at the names.
func parseForm(text string, limits schema.Limits) (*File, *schema.ParseError) {
	switch {
	case len(text) > limits.TextBytesMax:
		return nil, &schema.ParseError{Message: fmt.Sprintf("Schema text of %d bytes exceeds the maximum allowed (%d)", len(text), limits.TextBytesMax)}
	case !utf8.ValidString(text):
		return nil, &schema.ParseError{Message: syntaxPrefix + "text is not UTF-8"}
	}
	f, err := parseText(text, limits)
	if err == nil {
		return f, nil
	}
	raw, bad := base64.StdEncoding.Strict().DecodeString(text)
	if bad != nil || len(raw) == 0 || strings.ContainsAny(text, "\r\n") {
		return nil, err
	}
	d := &descriptorpb.FileDescriptorProto{}
	if proto.Unmarshal(raw, d) != nil {
		return nil, err
	}
	f, fromErr := fromDescriptor(d, limits)
	if fromErr != nil {
		return nil, fromErr
	}
	return f, nil
}

// Schema is a parsed Protobuf schema. It is immutable and safe for concurrent
// use.
type Schema struct {
	file      *File
	files     []dependency
	deps      []schema.Dependency
	limits    schema.Limits
	names     *names
	canonical string

	once          sync.Once // guards the five fields below
	normalTooLong bool
	normalized    string
	normalFile    *File
	used          map[*File]bool
	normalizeErr  *schema.ParseError

	linkOnce sync.Once // guards linked
	linked   linkResult
}

var _ schema.Parsed = (*Schema)(nil)

// File returns the tree. It must not be changed.
func (s *Schema) File() *File { return s.file }

// Type returns schema.Protobuf.
func (s *Schema) Type() schema.Type { return schema.Protobuf }

// Canonical returns the text as the reference stores and returns it.
func (s *Schema) Canonical() string { return s.canonical }

// Normalized returns the normalized text, or "" if the schema has none, which
// is so only for one parsed leniently.
func (s *Schema) Normalized() string {
	if s.normalize() != nil {
		return ""
	}
	return s.normalized
}

// NormalizeError returns why there is no normalized text, or nil if there is
// one. It is a *schema.ParseError.
func (s *Schema) NormalizeError() error {
	if err := s.normalize(); err != nil {
		return err
	}
	return nil
}

// Resolved returns the canonical text with the dependencies as they were given.
func (s *Schema) Resolved() schema.Resolved {
	return schema.Resolved{Type: schema.Protobuf, Text: s.canonical, Dependencies: slices.Clone(s.deps)}
}

// Name returns the full name of the first message, or of the first enum if
// there is none, or "".
func (s *Schema) Name() string {
	name := ""
	switch {
	case len(s.file.Messages) > 0:
		name = s.file.Messages[0].Name
	case len(s.file.Enums) > 0:
		name = s.file.Enums[0].Name
	default:
		return ""
	}
	if s.file.Package != "" {
		return s.file.Package + "." + name
	}
	return name
}

// normalize makes the normalized text once. It is read again, because the
// reference does so: what isn't a schema then is refused.
func (s *Schema) normalize() *schema.ParseError {
	s.once.Do(func() {
		f, used, err := normalize(s.file, s.names)
		s.used = used
		if err != nil && err != errNormalTooLong {
			s.normalizeErr = err
			return
		}
		text, fits := "", false
		if err == nil {
			text, fits = printFile(f)
		}
		if !fits {
			s.normalTooLong = true
			s.normalizeErr = &schema.ParseError{Message: fmt.Sprintf("Normalized text is longer than the maximum allowed (%d)", printedMax)}
			return
		}
		if f, err = parseText(text, s.limits); err != nil {
			s.normalizeErr = &schema.ParseError{Message: "Normalized text is no schema: " + err.Message}
			return
		}
		s.normalized, s.normalFile = text, f
	})
	return s.normalizeErr
}

// Normal returns the schema whose canonical text is the normalized text of s.
// That is not always the canonical text of the normalized one: normalizing
// sorts defaults and JSON names among the options. It returns nil if s can't be
// normalized.
func (s *Schema) Normal() *Schema {
	if s.normalize() != nil {
		return nil
	}
	return &Schema{
		file: s.normalFile, files: s.files, deps: s.deps, limits: s.limits,
		names: newNames(s.normalFile, s.files), canonical: s.normalized,
	}
}

// IsSyntax reports whether an error of the parser means that the text is no
// Protobuf file, rather than one that is wrong.
func IsSyntax(err error) bool {
	var parse *schema.ParseError
	return errors.As(err, &parse) && strings.HasPrefix(parse.Message, syntaxPrefix)
}

// Equal reports whether two schemas are the same to a look-up: equal canonical
// texts. Comments, white space and the order of what is printed in groups don't
// matter.
func Equal(a, b *Schema) bool { return a.canonical == b.canonical }

// Resolve returns what a type name means inside a scope: the full name of a
// message (Definition.Name for its fields) or package, "" for the root. It reports false for scalars and for
// what isn't known. The definition is of the schema's own file, of one that it
// refers to, or of a built-in one.
func (s *Schema) Resolve(scope, name string) (*Definition, bool) {
	if isScalar(name) {
		return nil, false
	}
	d := s.names.in(splitName(scope)).definition(name)
	return d, d != nil
}
