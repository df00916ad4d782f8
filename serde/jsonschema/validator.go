package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"milena/serde/schema"
)

// Errors of validation that are not about the content of a document.
var (
	// ErrTooLarge says that a document, or what a schema demands of it, is
	// beyond the limits.
	ErrTooLarge = errors.New("document exceeds the limits of validation")
	// ErrNoValidator says that there is no validator for a schema that was
	// accepted: it demands what the specification forbids, refers to itself
	// without going deeper, or has a pattern that Go's regular expressions lack.
	ErrNoValidator = errors.New("no validator for the schema")
)

// ValidatorOptions set up a Validator. The zero value is usable.
type ValidatorOptions struct {
	// Draft is for schemas that name none; default Draft7.
	Draft Draft
	// Limits bound the texts of the schema; zero fields mean the defaults.
	Limits schema.Limits
	// DocumentBytesMax bounds one document; default 4 MiB.
	DocumentBytesMax int
	// DocumentDepthMax bounds the nesting of one document; default 512 levels.
	DocumentDepthMax int
	// StepsMax bounds what one document may cost, in checks of one value
	// against one schema, and of one property against one pattern; default
	// 4,000,000, some seconds.
	StepsMax int
	// AssertFormat makes the keyword format a demand in 2019-09 and 2020-12,
	// where it asserts nothing by default.
	AssertFormat bool
}

func (o ValidatorOptions) withDefaults() ValidatorOptions {
	if o.Draft == 0 {
		o.Draft = Draft7
	}
	o.Limits = o.Limits.WithDefaults()
	if o.DocumentBytesMax == 0 {
		o.DocumentBytesMax = 4 << 20
	}
	if o.DocumentDepthMax == 0 {
		o.DocumentDepthMax = 512
	}
	if o.StepsMax == 0 {
		o.StepsMax = 4_000_000
	}
	return o
}

// Validator checks documents against one schema of any draft. It follows the
// specification, not the reference's loaders, so it needs no Schema and may
// refuse one. It is safe for concurrent use, and reads nothing but the texts
// that it was made of.
type Validator struct {
	o         ValidatorOptions
	draft     Draft
	resources []resource
	shape     shape
	free      chan *instance // compiled and idle
}

// resource is a text under an address.
type resource struct {
	address string
	value   any
}

// instance is a compiled schema, for one document at a time.
type instance struct {
	schema *santhosh.Schema
	meter  *meter
}

// home is the address of a schema that has none of its own.
const home = "http://schema.invalid/schema"

// NewValidator makes a validator of a schema and the texts it refers to, which
// are found by their names as addresses, seen from the schema's own. The error
// is a *schema.ParseError or wraps ErrNoValidator.
func NewValidator(r schema.Resolved, o ValidatorOptions) (*Validator, error) {
	o = o.withDefaults()
	v := &Validator{o: o, draft: o.Draft, free: make(chan *instance, runtime.GOMAXPROCS(0))}
	if err := v.read(r); err != nil {
		return nil, err
	}
	compiled, err := v.compile()
	if err != nil {
		return nil, err
	}
	if v.shape, err = shapeOf(compiled.schema); err != nil {
		return nil, err
	}
	v.free <- compiled
	return v, nil
}

// read collects the texts under all addresses that may lead to them.
func (v *Validator) read(r schema.Resolved) error {
	main, pe := read(r.Text, v.o.Limits)
	if pe != nil {
		return pe
	}
	if name, ok := main.root.str("$schema"); ok {
		if d := draftOf(name); d != 0 {
			v.draft = d
		}
	}
	base := home
	if id, ok := main.root.str(v.draft.idKey()); ok {
		base, _ = cutFragment(resolve(home, id))
	}
	docs, addresses := []*document{main}, []string{home}
	known := map[string]bool{}
	defs := strings.Contains(r.Text, "/$defs/")
	for _, d := range r.Dependencies {
		known[d.Name] = true
		defs = defs || strings.Contains(d.Text, "/$defs/")
		doc, pe := read(d.Text, v.o.Limits)
		if pe != nil {
			pe.Path = "reference " + d.Name
			return pe
		}
		docs = append(docs, doc, doc)
		addresses = append(addresses, resolve(base, d.Name), resolve(home, d.Name))
	}
	added := map[string]bool{}
	for i, doc := range docs {
		if added[addresses[i]] {
			continue
		}
		added[addresses[i]] = true
		value, err := plainSchema(doc.root, known, defs)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoValidator, err)
		}
		v.resources = append(v.resources, resource{addresses[i], value})
	}
	return nil
}

// compile makes one more instance.
func (v *Validator) compile() (*instance, error) {
	m := &meter{most: v.o.StepsMax}
	c := santhosh.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(libraryDraft(v.draft))
	if v.o.AssertFormat {
		c.AssertFormat()
	}
	c.RegisterVocabulary(m.vocabulary())
	c.AssertVocabs()
	for _, r := range v.resources {
		if err := c.AddResource(r.address, r.value); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoValidator, err)
		}
	}
	compiled, err := c.Compile(home)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoValidator, err)
	}
	return &instance{compiled, m}, nil
}

// noLoader fetches nothing.
type noLoader struct{}

func (noLoader) Load(address string) (any, error) {
	return nil, fmt.Errorf("%s %s", clip(address), leadsOut)
}

func libraryDraft(d Draft) *santhosh.Draft {
	switch d {
	case Draft4:
		return santhosh.Draft4
	case Draft6:
		return santhosh.Draft6
	case Draft2019:
		return santhosh.Draft2019
	case Draft2020:
		return santhosh.Draft2020
	}
	return santhosh.Draft7
}

// exponentMax bounds the exponents of numbers, which are computed exactly.
const exponentMax = 1_000

// plainSchema returns a schema text for the library: with the draft's own
// spelling of $schema, or without one that is unknown, and with the
// definitions also under $defs, where the reference finds them, if defs is set.
func plainSchema(v *Value, known map[string]bool, defs bool) (any, error) {
	out, err := v.plain()
	m, ok := out.(map[string]any)
	if err != nil || !ok {
		return out, err
	}
	if name, ok := m["$schema"].(string); ok && !known[strings.TrimSuffix(name, "#")] {
		delete(m, "$schema")
		if d := draftOf(name); d != 0 {
			m["$schema"] = libraryDraft(d).String()
		}
	}
	definitions, ok := m["definitions"].(map[string]any)
	if !ok || !defs {
		return m, nil
	}
	all, ok := m["$defs"].(map[string]any)
	if !ok {
		all = map[string]any{}
	}
	for name, d := range definitions {
		if _, own := all[name]; !own {
			all[name] = d
		}
	}
	m["$defs"] = all
	return m, nil
}

// plain returns the value in the form that encoding/json has, with numbers as
// json.Number.
func (v *Value) plain() (any, error) {
	switch v.kind {
	case valueNull:
		return nil, nil
	case valueFalse, valueTrue:
		return v.kind == valueTrue, nil
	case valueInteger, valueDecimal:
		return json.Number(v.text), checkNumber(v.text)
	case valueString:
		return v.text, nil
	case valueArray:
		list := make([]any, len(v.elems))
		for i := range v.elems {
			e, err := v.elems[i].plain()
			if err != nil {
				return nil, err
			}
			list[i] = e
		}
		return list, nil
	}
	object := make(map[string]any, len(v.elems))
	for i := range v.elems {
		e, err := v.elems[i].plain()
		if err != nil {
			return nil, err
		}
		object[v.keys[i]] = e
	}
	return object, nil
}

// checkNumber refuses numbers that take much room when computed exactly.
func checkNumber(text string) error {
	i := strings.IndexAny(text, "eE")
	if len(text) <= jsonNumberMax && i < 0 {
		return nil
	}
	if i >= 0 && len(text) <= jsonNumberMax {
		if e, err := strconv.Atoi(strings.TrimPrefix(text[i+1:], "+")); err == nil && e <= exponentMax && e >= -exponentMax {
			return nil
		}
	}
	return fmt.Errorf("%w: a number has too many digits", ErrTooLarge)
}

// Problem is one demand that a document does not meet.
type Problem struct {
	Path    string // of the value, as a JSON pointer; "" is the document
	Keyword string // the address of the schema with a pointer to the keyword
	Message string // what is demanded
}

// InvalidError says that a document does not meet a schema, and why.
type InvalidError struct {
	// Problems are those of the innermost schemas, at most problemsMax.
	Problems []Problem
}

// problemsMax bounds the problems that are told of one document.
const problemsMax = 20

// Error lists the problems.
func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = fmt.Sprintf("at %q: %s", p.Path, p.Message)
	}
	return "document is not valid: " + strings.Join(parts, "; ")
}

// Validate checks one JSON document. The error is an *InvalidError if it does
// not meet the schema; it wraps ErrTooLarge, or says why the text is not JSON.
func (v *Validator) Validate(document []byte) error {
	if len(document) > v.o.DocumentBytesMax {
		return fmt.Errorf("%w: %d bytes of %d", ErrTooLarge, len(document), v.o.DocumentBytesMax)
	}
	d := json.NewDecoder(strings.NewReader(string(document)))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read document: text behind the value")
	}
	return v.validate(value)
}

func (v *Validator) validate(value any) error {
	var m measure
	if err := m.value(value, 0, v.o.DocumentDepthMax); err != nil {
		return err
	}
	switch {
	case (m.depth+1)*v.shape.chain > framesMax:
		return fmt.Errorf("%w: %d levels with this schema, which applies %d schemas to a value", ErrTooLarge, m.depth, v.shape.chain)
	case m.values*v.shape.patterns > v.o.StepsMax:
		return fmt.Errorf("%w: %d values with this schema, which has %d patterns for a property", ErrTooLarge, m.values, v.shape.patterns)
	}
	var run *instance
	select {
	case run = <-v.free:
	default:
		var err error
		if run, err = v.compile(); err != nil {
			return err
		}
	}
	err := run.validate(value)
	select {
	case v.free <- run:
	default:
	}
	var invalid *santhosh.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return fmt.Errorf("validate document: %w", err)
	}
	out := &InvalidError{}
	out.collect(invalid, message.NewPrinter(language.English))
	return out
}

// framesMax bounds the schemas that are inside each other while a document is
// checked, which is what the stack grows with.
const framesMax = 50_000

// validate runs the library until the meter stops it.
func (i *instance) validate(value any) (err error) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case stopped:
			err = fmt.Errorf("%w: it takes more than %d steps with this schema", ErrTooLarge, i.meter.most)
		default:
			panic(p)
		}
	}()
	i.meter.steps = 0
	return i.schema.Validate(value)
}

func (e *InvalidError) collect(from *santhosh.ValidationError, p *message.Printer) {
	for _, cause := range from.Causes {
		e.collect(cause, p)
	}
	if len(from.Causes) > 0 || len(e.Problems) >= problemsMax {
		return
	}
	var path strings.Builder
	for _, step := range from.InstanceLocation {
		path.WriteString("/" + pointerEscapes.Replace(step))
	}
	keyword := from.SchemaURL
	for _, step := range from.ErrorKind.KeywordPath() {
		keyword += "/" + pointerEscapes.Replace(step)
	}
	e.Problems = append(e.Problems, Problem{path.String(), keyword, clip(from.ErrorKind.LocalizedString(p))})
}

// measure counts the values of a document and its levels.
type measure struct{ values, depth int }

func (m *measure) value(v any, depth, most int) error {
	if depth > most {
		return fmt.Errorf("%w: more than %d levels", ErrTooLarge, most)
	}
	m.values++
	m.depth = max(m.depth, depth)
	switch v := v.(type) {
	case json.Number:
		return checkNumber(v.String())
	case []any:
		for _, e := range v {
			if err := m.value(e, depth+1, most); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, e := range v {
			if err := m.value(e, depth+1, most); err != nil {
				return err
			}
		}
	}
	return nil
}
