package protobuf

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/serde/schema"
)

// fileSetFilesMax is how many files a set may have.
const fileSetFilesMax = 10_000

// FileSet returns the schema as a FileDescriptorSet: everything that it refers
// to, each file behind those it needs, and the schema last. The error is a
// *LinkError.
func (s *Schema) FileSet() (*descriptorpb.FileDescriptorSet, error) {
	main, err := s.Link()
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{main.Path(): true}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		for i := range f.Imports().Len() {
			if d := f.Imports().Get(i).FileDescriptor; !seen[d.Path()] {
				seen[d.Path()] = true
				add(d)
				set.File = append(set.File, protodesc.ToFileDescriptorProto(d))
			}
		}
	}
	add(main)
	own, err := s.Descriptor()
	if err != nil {
		return nil, err
	}
	own.Name = proto.String(main.Path()) // which no other file of the set has
	set.File = append(set.File, own)
	return set, nil
}

// FromFileSet returns the schema that the bytes of a FileDescriptorSet hold:
// the last file as text, the others, without built-in ones, as what it refers
// to. It is ready to be parsed. The error is a *schema.ParseError.
func FromFileSet(raw []byte, limits schema.Limits) (schema.Resolved, error) {
	limits = limits.WithDefaults()
	refuse := func(format string, args ...any) (schema.Resolved, error) {
		return schema.Resolved{}, &schema.ParseError{Message: syntaxPrefix + "descriptor set: " + fmt.Sprintf(format, args...)}
	}
	if most := dependencyBytesMax * limits.TextBytesMax; len(raw) > most {
		return refuse("%d bytes exceed the maximum allowed (%d)", len(raw), most)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(raw, set); err != nil {
		return refuse("the bytes are none") // the library words its reasons differently each time
	}
	if len(set.File) == 0 || len(set.File) > fileSetFilesMax {
		return refuse("%d files, of 1 to %d allowed", len(set.File), fileSetFilesMax)
	}
	out := schema.Resolved{Type: schema.Protobuf}
	printed := 0 // indentation multiplies
	for i, d := range set.File {
		f, err := fromDescriptor(d, limits)
		if err != nil {
			err.Path = strings.TrimSuffix("file "+clip(d.GetName())+": "+err.Path, ": ")
			return schema.Resolved{}, err
		}
		text, fits := printFile(f)
		printed += len(text)
		switch {
		case printed > dependencyBytesMax*limits.TextBytesMax:
			return refuse("the files print as more than the maximum allowed (%d) together", dependencyBytesMax*limits.TextBytesMax)
		case !fits:
			return refuse("file %s prints as more than the maximum allowed (%d)", clip(d.GetName()), printedMax)
		case i == len(set.File)-1:
			out.Text = text
		case builtIns().files[d.GetName()] == nil:
			out.Dependencies = append(out.Dependencies, schema.Dependency{Name: d.GetName(), Text: text})
		}
	}
	return out, nil
}
