package protobuf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

// linkErrorsMax is how many errors of one schema are kept.
const linkErrorsMax = 100

// LinkError says why a schema can't be linked, as protoc would: its records
// can't be decoded by it, though the registry takes it.
type LinkError struct {
	// Problems are the errors, at least one, with places in the canonical text,
	// or in a reference's, which Path then names.
	Problems []*schema.ParseError
}

// Error returns the first problem and how many more there are.
func (e *LinkError) Error() string {
	if len(e.Problems) == 1 {
		return "link schema: " + e.Problems[0].Error()
	}
	return fmt.Sprintf("link schema: %s (and %d more)", e.Problems[0].Error(), len(e.Problems)-1)
}

// linkImportsMax is how many imports a file may have to be linked. The library
// takes minutes for tens of thousands, and no registry has so many references.
const linkImportsMax = 2_000

type linkResult struct {
	file protoreflect.FileDescriptor
	err  error
}

// Link returns the descriptor of the schema with everything it refers to, or
// a *LinkError that says why protoc would refuse it. Imports are resolved among
// the dependencies and the built-in files, never elsewhere. Two things that
// protoc refuses don't stand in the way of decoding and are made up for: custom
// options that mean nothing are left out, missing imports of types that are
// known are added. The result is made once and shared.
func (s *Schema) Link() (protoreflect.FileDescriptor, error) {
	s.linkOnce.Do(func() {
		s.linked = s.link(false)
		if s.linked.err == nil {
			return
		}
		if again := s.link(true); again.err == nil {
			s.linked = again
		}
	})
	return s.linked.file, s.linked.err
}

// mainPath is the path that the schema itself is linked under unless a
// dependency has it.
func (s *Schema) mainPath() string {
	name := fileName
	for s.hasDependency(name) || builtIns().files[name] != nil {
		name += "_"
	}
	return name
}

func (s *Schema) hasDependency(name string) bool {
	return slices.ContainsFunc(s.files, func(d dependency) bool { return d.name == name })
}

func (s *Schema) link(loose bool) linkResult {
	if n := len(s.file.Imports) + len(s.file.PublicImports); n > linkImportsMax {
		return linkResult{err: &LinkError{Problems: []*schema.ParseError{{
			Message: fmt.Sprintf("%d imports exceed the maximum that can be linked (%d)", n, linkImportsMax),
		}}}}
	}
	if err := s.normalize(); s.normalTooLong {
		return linkResult{err: &LinkError{Problems: []*schema.ParseError{err}}} // a descriptor has the same names
	}
	main := s.mainPath()
	var problems []*schema.ParseError
	add := func(err reporter.ErrorWithPos) error {
		if len(problems) >= linkErrorsMax {
			return err
		}
		problems = append(problems, problem(err, main))
		return nil
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(resolver{s, main, loose}),
		MaxParallelism: 1,
		SourceInfoMode: protocompile.SourceInfoNone,
		Reporter:       reporter.NewReporter(add, nil),
	}
	// The library recurses over nesting; the parser's limits bound it.
	files, err := compiler.Compile(context.Background(), main)
	if len(problems) == 0 && err != nil {
		var at reporter.ErrorWithPos
		if errors.As(err, &at) {
			problems = append(problems, problem(at, main))
		} else {
			problems = append(problems, &schema.ParseError{Message: err.Error()})
		}
	}
	if len(problems) > 0 {
		return linkResult{err: &LinkError{Problems: problems}}
	}
	return linkResult{file: files[0]}
}

func problem(err reporter.ErrorWithPos, main string) *schema.ParseError {
	at := err.GetPosition()
	p := &schema.ParseError{Line: at.Line, Column: at.Col, Message: err.Unwrap().Error()}
	if at.Filename != main {
		p.Path = at.Filename
	}
	return p
}

// resolver finds the files that a schema may import. It reaches nothing beyond
// memory.
type resolver struct {
	schema *Schema
	main   string
	loose  bool
}

// FindFileByPath returns the schema's own text, a dependency's, or that of a
// built-in file.
func (r resolver) FindFileByPath(name string) (protocompile.SearchResult, error) {
	if name == r.main {
		if r.loose {
			return r.file(r.schema.complete()), nil
		}
		return r.file(r.schema.file), nil
	}
	// References may be named with a path that imports spell cleanly.
	for _, f := range r.schema.files {
		if f.name == name || path.Clean(f.name) == name {
			return r.file(f.file), nil
		}
	}
	if text, ok := builtIns().texts[strings.Replace(name, "confluent/types/", "confluent/type/", 1)]; ok {
		return source(text), nil
	}
	return protocompile.SearchResult{}, notFoundError{name}
}

// file returns a file as text: a dependency may have been a descriptor.
func (r resolver) file(f *File) protocompile.SearchResult {
	if r.loose {
		f = plain{keepExtends: true, dropMeta: true}.file(f)
	}
	return source(printStrict(f))
}

// complete returns the file with imports of all files that it uses types of.
func (s *Schema) complete() *File {
	f := *s.file
	f.Imports = slices.Clip(f.Imports)
	imported := map[string]bool{}
	for _, i := range slices.Concat(f.Imports, f.PublicImports) {
		imported[i.Path] = true
	}
	s.normalize()
	add := func(name string, file *File) {
		if s.used[file] && !imported[name] {
			f.Imports = append(f.Imports, Import{Path: name})
		}
	}
	for _, d := range s.files {
		add(d.name, d.file)
	}
	for _, name := range slices.Sorted(maps.Keys(builtIns().files)) {
		add(name, builtIns().files[name])
	}
	return &f
}

func source(text string) protocompile.SearchResult {
	return protocompile.SearchResult{Source: io.NopCloser(strings.NewReader(text))}
}

// notFoundError is the error for an import that is nowhere.
type notFoundError struct{ name string }

// Error names the import.
func (e notFoundError) Error() string {
	return fmt.Sprintf("import %q is neither a reference nor built in", e.name)
}

// Descriptor returns the schema as a FileDescriptorProto that descriptor
// libraries can build, given those of its imports: names in full, types set,
// map entries as protoc makes them. JSON names are there only where the text
// has them, so that the text and the descriptor are one schema once normalized.
// The error is a *LinkError.
func (s *Schema) Descriptor() (*descriptorpb.FileDescriptorProto, error) {
	f, err := s.Link()
	if err != nil {
		return nil, err
	}
	var d *descriptorpb.FileDescriptorProto
	if r, ok := f.(linker.Result); ok {
		d = proto.Clone(r.FileDescriptorProto()).(*descriptorpb.FileDescriptorProto)
	} else {
		d = protodesc.ToFileDescriptorProto(f)
	}
	d.Name = proto.String(fileName)
	named := map[string]bool{}
	collectJSONNames(s.file, named)
	dropJSONNames(d, named)
	return d, nil
}

// Linked returns the bytes of Descriptor, or those of Serialized for a schema
// that doesn't link. The error wraps ErrNoDescriptor.
func (s *Schema) Linked() ([]byte, error) {
	d, err := s.Descriptor()
	if err != nil {
		return s.Serialized()
	}
	raw, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDescriptor, err)
	}
	return raw, nil
}

// collectJSONNames notes the fields that have a JSON name in the text.
func collectJSONNames(f *File, named map[string]bool) {
	noteExtends("", f.Extends, named)
	for _, m := range f.Messages {
		noteMessage(m.Name, m, named)
	}
}

func noteFields(scope string, fields []*Field, named map[string]bool) {
	for _, f := range fields {
		if f.JSONName != nil {
			named[scope+"."+f.Name] = true
		}
	}
}

func noteExtends(scope string, extends []*Extend, named map[string]bool) {
	for _, x := range extends {
		noteFields(scope+"[]", x.Fields, named)
	}
}

func noteMessage(scope string, m *Message, named map[string]bool) {
	noteFields(scope, m.Fields, named)
	for _, o := range m.Oneofs {
		noteFields(scope, o.Fields, named)
		for _, g := range o.Groups {
			noteFields(scope+"."+g.Name, g.Fields, named)
		}
	}
	for _, g := range m.Groups {
		noteFields(scope+"."+g.Name, g.Fields, named)
	}
	noteExtends(scope, m.Extends, named)
	for _, n := range m.Messages {
		noteMessage(scope+"."+n.Name, n, named)
	}
}

func dropJSONNames(d *descriptorpb.FileDescriptorProto, named map[string]bool) {
	drop := func(scope string, fields []*descriptorpb.FieldDescriptorProto) {
		for _, f := range fields {
			if !named[scope+"."+f.GetName()] {
				f.JsonName = nil
			}
		}
	}
	var message func(scope string, m *descriptorpb.DescriptorProto)
	message = func(scope string, m *descriptorpb.DescriptorProto) {
		drop(scope, m.Field)
		drop(scope+"[]", m.Extension)
		for _, n := range m.NestedType {
			message(scope+"."+n.GetName(), n)
		}
	}
	drop("[]", d.Extension)
	for _, m := range d.MessageType {
		message(m.GetName(), m)
	}
}
