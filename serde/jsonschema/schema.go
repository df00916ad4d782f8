package jsonschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"milena/serde/schema"
)

// dependencyBytesMax bounds the texts of all dependencies of one schema
// together, as a multiple of Limits.TextBytesMax.
const dependencyBytesMax = 8

// Parser parses JSON Schemas. Its zero value is ready for use.
type Parser struct {
	// Limits bound the texts; zero fields mean the defaults. DepthMax has no
	// use: the nesting of a text is bounded by 1,000 levels, as in the
	// reference.
	Limits schema.Limits
}

var _ schema.Parser = Parser{}

// Parse checks r.Text and what it refers to in the texts of r.Dependencies. The
// Parsed is a *Schema, the error a *schema.ParseError.
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

// NotJSON reports whether an error of a Parser means that a text is no JSON
// value at all, for which the reference has words of its own.
func NotJSON(err error) bool {
	var pe *schema.ParseError
	return errors.As(err, &pe) && strings.HasPrefix(pe.Message, notJSON) && !strings.HasPrefix(pe.Message, notJSON+badRoot)
}

// badRoot is how the reference refuses a value that is no schema.
const badRoot = ": expected an object or boolean at the root, found "

func (p Parser) parse(r schema.Resolved) (*Schema, *schema.ParseError) {
	limits := p.Limits.WithDefaults()
	if r.Type != "" && r.Type != schema.JSON {
		return nil, &schema.ParseError{Message: fmt.Sprintf("%s: type %s", notSchema, r.Type)}
	}
	main, err := read(r.Text, limits)
	if err != nil {
		return nil, err
	}
	v := main.root
	if !v.isSchema() {
		return nil, errorAt(r.Text, v.off, notJSON+badRoot+v.word())
	}
	l := newLoader(limits)
	l.main = main
	main.draft = Draft7
	if m := v.get("$schema"); m != nil {
		if m.kind != valueString {
			return nil, errorAt(r.Text, m.off, notSchema+": $schema must be a string")
		}
		if d := draftOf(m.text); d != 0 {
			main.draft = d
		}
	}
	if id, ok := v.str(main.draft.idKey()); ok && main.draft.modern() {
		main.base, _ = cutFragment(id)
	}
	if err := l.depend(r.Dependencies); err != nil {
		return nil, err
	}
	root := l.load()
	if l.err != nil {
		return nil, l.err
	}
	return &Schema{
		root: root, value: v, draft: main.draft,
		canonical: v.JSON(), deps: slices.Clone(r.Dependencies),
	}, nil
}

// read reads one text of a schema.
func read(text string, limits schema.Limits) (*document, *schema.ParseError) {
	if len(text) > limits.TextBytesMax {
		return nil, &schema.ParseError{Message: fmt.Sprintf("%s: a text of %d bytes exceeds the maximum allowed (%d)", notSchema, len(text), limits.TextBytesMax)}
	}
	v, err := readJSON(text)
	if err != nil {
		return nil, err
	}
	return &document{text: text, root: v}, nil
}

// depend registers the referenced texts by the addresses that lead to them.
func (l *loader) depend(deps []schema.Dependency) *schema.ParseError {
	total := 0
	base := l.main.base
	if id, ok := l.main.root.str(l.main.draft.idKey()); ok && base == "" {
		base = id
	}
	for _, d := range deps {
		if total += len(d.Text); total > dependencyBytesMax*l.limits.TextBytesMax {
			return &schema.ParseError{Path: "reference " + d.Name, Message: notSchema + ": the texts of all references are too long together"}
		}
		doc, err := read(d.Text, l.limits)
		if err != nil {
			err.Path = strings.TrimSuffix("reference "+d.Name+": "+err.Path, ": ")
			return err
		}
		doc.name, doc.draft = d.Name, l.main.draft
		if !doc.draft.modern() {
			if doc.root.kind != valueObject {
				return &schema.ParseError{Path: "reference " + d.Name, Message: notSchema + ": a referenced schema must be an object"}
			}
			if own, ok := doc.root.str("$schema"); ok {
				if o := draftOf(own); o != 0 && !o.modern() {
					doc.draft = o
				}
			}
			doc.base = resolve(base, d.Name)
			l.docs[doc.base] = doc
			continue
		}
		l.dependModern(doc, base)
	}
	return nil
}

// dependModern registers a referenced text under its name, its name after a
// dot, and its name as an address.
func (l *loader) dependModern(doc *document, base string) {
	doc.base = resolve(base, doc.name)
	if id, ok := doc.root.str("$id"); ok {
		address, _ := cutFragment(id)
		doc.base = resolve(doc.base, address)
	}
	for _, name := range []string{doc.name, "./" + doc.name, resolve(base, doc.name)} {
		if l.docs[name] == nil {
			l.docs[name] = doc
		}
	}
}

// Schema is a parsed JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	root      *Node
	value     *Value
	draft     Draft
	deps      []schema.Dependency
	canonical string

	once       sync.Once // guards the field below
	normalized string
}

var _ schema.Parsed = (*Schema)(nil)

// Root returns the schema as a tree of kinds.
func (s *Schema) Root() *Node { return s.root }

// Draft returns the draft that the schema is read by.
func (s *Schema) Draft() Draft { return s.draft }

// Type returns schema.JSON.
func (s *Schema) Type() schema.Type { return schema.JSON }

// Canonical returns the text as the reference stores and returns it: compact,
// in the order of the input, numbers as exact decimals.
func (s *Schema) Canonical() string { return s.canonical }

// Normalized returns the canonical text with the keys of all objects sorted.
func (s *Schema) Normalized() string {
	s.once.Do(func() {
		sorted := s.value.sorted()
		s.normalized = sorted.JSON()
	})
	return s.normalized
}

// Resolved returns the canonical text with the dependencies as they were given.
func (s *Schema) Resolved() schema.Resolved {
	return schema.Resolved{Type: schema.JSON, Text: s.canonical, Dependencies: slices.Clone(s.deps)}
}

// Name returns the title of the root, by which the subject strategies name
// records, or "" if it has none.
func (s *Schema) Name() string {
	title, _ := s.value.str("title")
	return title
}

// Properties returns the names of the root's properties in the order of the
// text, however the root is made up.
func (s *Schema) Properties() []string {
	m := s.value.get("properties")
	if m == nil || m.kind != valueObject {
		return nil
	}
	return slices.Clone(m.keys)
}
