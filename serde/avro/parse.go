package avro

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"milena/serde/schema"
)

// dependencyBytesMax bounds the texts of all dependencies of one schema
// together, as a multiple of Limits.TextBytesMax.
const dependencyBytesMax = 8

// Parser parses Avro schemas. Its zero value parses strictly, as a registry
// takes new schemas: names as the specification has them, defaults that fit.
type Parser struct {
	// Limits bound the texts; zero fields mean the defaults.
	Limits schema.Limits
	// Lenient parses as look-ups are: names may use any letters, namespaces and
	// defaults are not checked.
	Lenient bool
	// Stored parses what was taken once, by whatever rules: Lenient, and names
	// may use any characters. Who has records must be able to read them.
	Stored bool
}

var _ schema.Parser = Parser{}

// Parse parses r.Text after the texts of r.Dependencies, in their order. The
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

func (p Parser) parse(r schema.Resolved) (*Schema, *schema.ParseError) {
	limits := p.Limits.WithDefaults()
	if r.Type != "" && r.Type != schema.Avro {
		return nil, &schema.ParseError{Message: fmt.Sprintf("Not an Avro schema: type %s", r.Type)}
	}
	ps := &parser{limits: limits, lenient: p.Lenient || p.Stored, anyName: p.Stored, names: map[Name]*Type{}, steps: defaultStepsMax}
	s := &Schema{parser: p, limits: limits, known: map[*Type]bool{}}
	total := 0
	for _, d := range r.Dependencies {
		if total += len(d.Text); total > dependencyBytesMax*limits.TextBytesMax {
			return nil, &schema.ParseError{Path: "reference " + d.Name, Message: "The texts of all references are too long together"}
		}
		t, err := ps.text(d.Text)
		if err != nil {
			err.Path = strings.TrimSuffix("reference "+d.Name+": "+err.Path, ": ")
			return nil, err
		}
		if t.Kind.IsNamed() {
			s.known[t] = true
		}
	}
	root, err := ps.text(r.Text)
	if err != nil {
		return nil, err
	}
	s.root = root
	s.deps = slices.Clone(r.Dependencies)
	if s.canonical, err = s.print(s.known); err != nil {
		return nil, err
	}
	return s, nil
}

// Schema is a parsed Avro schema. It is immutable and safe for concurrent use.
type Schema struct {
	root      *Type
	parser    Parser
	limits    schema.Limits
	deps      []schema.Dependency
	known     map[*Type]bool // top-level named types of the dependencies
	canonical string

	once         sync.Once // guards the two fields below
	normalized   string
	normalizeErr *schema.ParseError
}

var _ schema.Parsed = (*Schema)(nil)

// Root returns the top-level type.
func (s *Schema) Root() *Type { return s.root }

// Type returns schema.Avro.
func (s *Schema) Type() schema.Type { return schema.Avro }

// Canonical returns the text as the reference stores and returns it.
func (s *Schema) Canonical() string { return s.canonical }

// Resolved returns the canonical text with the dependencies as they were given.
func (s *Schema) Resolved() schema.Resolved {
	return schema.Resolved{Type: schema.Avro, Text: s.canonical, Dependencies: slices.Clone(s.deps)}
}

// Name returns the full name of the top-level type, or "" if it has none.
func (s *Schema) Name() string {
	if s.root.Kind.IsNamed() {
		return s.root.Name.Full()
	}
	return ""
}

// parser reads the texts of one schema into one table of names.
type parser struct {
	limits  schema.Limits
	lenient bool
	anyName bool
	names   map[Name]*Type // completely defined types
	count   int            // named types so far
	bytes   int            // of full names so far
	depth   int            // types around the current one
	steps   int            // what checking defaults may still cost
	plain   [KindString + 1]*Type

	// Of the current text:
	src      string
	shells   []shell // references to types not defined yet, in text order
	shellOf  map[Name]*Type
	unions   []located // unions that may hold a shell
	defaults []fieldDefault
}

// shell stands for a named type that is referred to before its definition is
// complete, which for a recursive type is always so. Its Type is filled in
// place, so every reference sees the definition.
type shell struct {
	name Name
	typ  *Type
	off  int
}

type located struct {
	typ *Type
	off int
}

type fieldDefault struct {
	field Field
	off   int
}

func (p *parser) errorf(v *Value, format string, args ...any) *schema.ParseError {
	return errorAt(p.src, v.off, fmt.Sprintf(format, args...))
}

// text parses one schema text and resolves what it refers to.
func (p *parser) text(text string) (*Type, *schema.ParseError) {
	if len(text) > p.limits.TextBytesMax {
		return nil, &schema.ParseError{Message: fmt.Sprintf("Schema text of %d bytes exceeds the maximum allowed (%d)", len(text), p.limits.TextBytesMax)}
	}
	v, err := readJSON(text)
	if err != nil {
		return nil, err
	}
	p.src, p.shells, p.shellOf, p.unions, p.defaults = text, nil, map[Name]*Type{}, nil, nil
	t, err := p.typ(&v, "")
	if err != nil {
		return nil, err
	}
	if p.bytes > namesBytesMax {
		return nil, p.errorf(&v, "Full names of more than %d bytes together", namesBytesMax)
	}
	for _, s := range p.shells {
		switch {
		case s.typ.Kind != 0:
		case s.typ == t:
			return nil, errorAt(text, s.off, "Unknown schema: "+clip(s.name.Full()))
		default:
			return nil, errorAt(text, s.off, "Undefined schema: "+clip(s.name.Full()))
		}
	}
	if len(p.shells) == 0 {
		return t, nil
	}
	// What was checked against shells is checked against the definitions.
	for _, u := range p.unions {
		if name := duplicateBranch(u.typ.Branches); name != "" {
			return nil, errorAt(text, u.off, "Duplicate in union:"+clip(name))
		}
	}
	for _, d := range p.defaults {
		if err := p.checkDefault(&d.field, d.off); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// typ parses a schema that stands where v does, inside namespace ns.
func (p *parser) typ(v *Value, ns string) (*Type, *schema.ParseError) {
	if p.depth++; p.depth > p.limits.DepthMax {
		return nil, p.errorf(v, "Types nest deeper than the maximum allowed (%d)", p.limits.DepthMax)
	}
	defer func() { p.depth-- }()
	switch v.kind {
	case valueString:
		return p.find(v, v.text, ns), nil
	case valueArray:
		return p.union(v, ns)
	case valueObject:
		return p.object(v, ns)
	default:
		return nil, p.errorf(v, "Schema not yet supported: %s", clip(v.JSON()))
	}
}

// find returns the type that a name means inside namespace ns. A name without
// a dot means a type of that namespace; a type without namespace only if that
// is unknown and the definition is complete already.
func (p *parser) find(v *Value, name, ns string) *Type {
	if k, ok := primitiveKind(name); ok {
		if p.plain[k] == nil {
			p.plain[k] = &Type{Kind: k}
		}
		return p.plain[k]
	}
	full := splitName(name)
	if full.Namespace == "" && name != "" && name[0] != '.' {
		full.Namespace = ns
	}
	p.bytes += full.bytes()
	if t := p.names[full]; t != nil {
		return t
	}
	if full.Namespace != "" && full.Simple == name {
		if t := p.names[Name{Simple: name}]; t != nil {
			return t
		}
	}
	t := p.shellOf[full]
	if t == nil {
		t = new(Type)
		p.shellOf[full] = t
		p.shells = append(p.shells, shell{full, t, v.off})
	}
	return t
}

// define enters a complete named type. A second definition of a name must
// equal the first and becomes a reference to it.
func (p *parser) define(v *Value, t *Type) (*Type, *schema.ParseError) {
	if known := p.names[t.Name]; known != nil {
		if !sameDefinition(known, t) {
			return nil, p.errorf(v, "Can't redefine: %s", clip(t.Name.Full()))
		}
		return known, nil
	}
	p.bytes += t.Name.bytes()
	if p.count++; p.count > p.limits.NamesMax {
		return nil, p.errorf(v, "More than %d named types", p.limits.NamesMax)
	}
	if s := p.shellOf[t.Name]; s != nil {
		*s = *t
		t = s
	}
	p.names[t.Name] = t
	return t, nil
}

func (p *parser) union(v *Value, ns string) (*Type, *schema.ParseError) {
	t := &Type{Kind: KindUnion, Branches: make([]*Type, 0, len(v.elems))}
	shells := false
	for i := range v.elems {
		b, err := p.typ(&v.elems[i], ns)
		if err != nil {
			return nil, err
		}
		if b.Kind == KindUnion {
			return nil, p.errorf(&v.elems[i], "Nested union: %s", clip(v.JSON()))
		}
		shells = shells || b.Kind == 0
		t.Branches = append(t.Branches, b)
	}
	if name := duplicateBranch(t.Branches); name != "" {
		return nil, p.errorf(v, "Duplicate in union:%s", clip(name))
	}
	if shells {
		p.unions = append(p.unions, located{t, v.off})
	}
	return t, nil
}

// duplicateBranch returns the name under which two branches stand, or "".
// Branches not defined yet are left out.
func duplicateBranch(branches []*Type) string {
	seen := make(map[Name]bool, len(branches))
	for _, b := range branches {
		n := b.Name
		if b.Kind == 0 {
			continue
		}
		if !b.Kind.IsNamed() {
			n = Name{Simple: b.Kind.String()}
		}
		if seen[n] {
			return n.Full()
		}
		seen[n] = true
	}
	return ""
}
