package format

import (
	"errors"
	"fmt"

	"milena/serde/avro"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// ErrUnsupported says that a format is not in the table.
var ErrUnsupported = errors.New("unsupported schema format")

// ErrNoProgram says that a schema was parsed but there is no program for its
// records, which therefore stay raw.
var ErrNoProgram = errors.New("records of this schema format stay raw")

// row is one format: its name in the registry's API, its parser, its parser of
// what some registry took once, by whatever rules, and its compiler, which takes
// what either returned.
type row struct {
	format  schema.Type
	parse   func(schema.Resolved) (schema.Parsed, error)
	stored  func(schema.Resolved) (schema.Parsed, error)
	compile func(schema.Parsed) (Program, error)
}

// table is the only list of formats. Everything that needs to know which there
// are asks it.
func table() []row {
	return []row{
		{schema.Avro, parseAvro, storedAvro, compileAvro},
		{schema.JSON, parseJSON, parseJSON, noProgram},
		{schema.Protobuf, parseProtobuf, storedProtobuf, noProgram},
	}
}

func find(t schema.Type) (row, error) {
	for _, r := range table() {
		if r.format == t {
			return r, nil
		}
	}
	return row{}, fmt.Errorf("%w: %q", ErrUnsupported, t)
}

// Types returns the formats in the order of the table.
func Types() []schema.Type {
	var types []schema.Type
	for _, r := range table() {
		types = append(types, r.format)
	}
	return types
}

// Parse parses a schema of any format. The error is a *schema.ParseError or
// wraps ErrUnsupported.
func Parse(s schema.Resolved) (schema.Parsed, error) {
	r, err := find(s.Type)
	if err != nil {
		return nil, err
	}
	return r.parse(s)
}

// ParseStored parses a schema that some registry took once: names, defaults and
// the like are not checked, for who has its records must be able to read them.
// Errors are those of Parse.
func ParseStored(s schema.Resolved) (schema.Parsed, error) {
	r, err := find(s.Type)
	if err != nil {
		return nil, err
	}
	return r.stored(s)
}

// Compile parses a stored schema and makes its program. Errors are those of
// Parse, or say why no program can be made of a schema that parses.
func Compile(s schema.Resolved) (Program, error) {
	r, err := find(s.Type)
	if err != nil {
		return nil, err
	}
	parsed, err := r.stored(s)
	if err != nil {
		return nil, fmt.Errorf("compile %s schema: %w", s.Type, err)
	}
	p, err := r.compile(parsed)
	if err != nil {
		return nil, fmt.Errorf("compile %s schema: %w", s.Type, err)
	}
	return p, nil
}

func parseAvro(s schema.Resolved) (schema.Parsed, error) {
	var p avro.Parser
	return p.Parse(s)
}

func storedAvro(s schema.Resolved) (schema.Parsed, error) {
	return avro.Parser{Stored: true}.Parse(s)
}

func parseJSON(s schema.Resolved) (schema.Parsed, error) {
	var p jsonschema.Parser
	return p.Parse(s)
}

func parseProtobuf(s schema.Resolved) (schema.Parsed, error) {
	var p protobuf.Parser
	return p.Parse(s)
}

// noProgram is the compiler of formats whose records are not decoded.
func noProgram(p schema.Parsed) (Program, error) {
	return nil, fmt.Errorf("%w: %s", ErrNoProgram, p.Type())
}

func compileAvro(p schema.Parsed) (Program, error) {
	s, ok := p.(*avro.Schema)
	if !ok {
		return nil, fmt.Errorf("%w: a parsed %T", ErrUnsupported, p)
	}
	return avro.Compile(s)
}

func storedProtobuf(s schema.Resolved) (schema.Parsed, error) {
	return protobuf.Parser{Lenient: true}.Parse(s)
}
