package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"milena/cmd/internal/cli"
	"milena/registry/api"
	"milena/registry/client"
	"milena/serde/schema"
)

// fileBytesMax bounds one schema file: more than any registry takes.
const fileBytesMax = 16 << 20

// source is a schema with all it refers to.
type source struct {
	label string // how messages call it
	// subject and version are where it is registered, if it is.
	subject string
	version int
	schema  schema.Resolved
	// needs are the schemas that it refers to and that come with it, each after
	// those that it needs itself. They are registered under their names.
	needs []need
	// references are the registered schemas that it refers to itself.
	references []api.Reference
}

// need is a schema that comes with another one.
type need struct {
	name  string
	text  string
	needs []string // the names that it refers to itself
}

// direct lists the names of needs that the schema itself refers to.
func (s *source) direct() []string {
	return choose(namesIn(s.schema.Type, s.schema.Text), func(name string) bool {
		return slices.ContainsFunc(s.needs, func(n need) bool { return n.name == name })
	})
}

// readFile reads a schema file; "-" is standard input. Given is the value of
// --type, "" if the format is to be told.
func readFile(in io.Reader, path, given string) (*source, error) {
	text, err := readText(in, path)
	if err != nil {
		return nil, cli.Unusable(err, "")
	}
	format, files, err := tellType(path, text)
	if given != "" {
		var told schema.Type
		if told, err = parseType(given); err == nil {
			files = files && told == schema.Protobuf
			format = told
		}
	}
	if err != nil {
		hint := ""
		if errors.Is(err, errNoType) {
			hint = "say which with --type avro, json or protobuf"
		}
		return nil, cli.Unusable(err, hint)
	}
	if path == "-" {
		path = "standard input"
	}
	if files {
		s, err := readFiles(path, text)
		if err != nil {
			return nil, cli.Unusable(err, "")
		}
		return s, nil
	}
	return &source{label: path, schema: schema.Resolved{Type: format, Text: string(text)}}, nil
}

func readText(in io.Reader, path string) (text []byte, err error) {
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(in, fileBytesMax+1))
		path = "standard input"
	} else {
		var f *os.File
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it is only read
		text, err = io.ReadAll(io.LimitReader(f, fileBytesMax+1))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(text) > fileBytesMax {
		return nil, fmt.Errorf("read %s: it has more than %d bytes", path, fileBytesMax)
	}
	return text, nil
}

// readFiles reads a FileDescriptorSet, as protoc -o and buf build write it: a
// file comes after those that it imports, so the last one is the schema. Files
// that every registry has built in are left out.
func readFiles(path string, text []byte) (*source, error) {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("%s is no FileDescriptorSet: %w", path, err)
	}
	if len(set.GetFile()) == 0 {
		return nil, fmt.Errorf("%s is a FileDescriptorSet without files", path)
	}
	s := &source{label: path}
	seen := map[string]bool{}
	for i, f := range set.GetFile() {
		for _, name := range f.GetDependency() {
			if !seen[name] && !builtIn(name) {
				return nil, fmt.Errorf("%s: %s imports %s, which does not come before it; write the set with protoc --include_imports", path, f.GetName(), name)
			}
		}
		if seen[f.GetName()] {
			return nil, fmt.Errorf("%s: %s is in it twice", path, f.GetName())
		}
		seen[f.GetName()] = true
		encoded, err := encodeFile(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, f.GetName(), err)
		}
		switch {
		case i == len(set.GetFile())-1:
			s.schema = schema.Resolved{Type: schema.Protobuf, Text: encoded}
			s.label = path + " (" + f.GetName() + ")"
		case !builtIn(f.GetName()):
			s.needs = append(s.needs, need{name: f.GetName(), text: encoded, needs: f.GetDependency()})
		}
	}
	s.needs = reachable(s.direct(), s.needs)
	s.bind()
	return s, nil
}

// encodeFile writes a file as registries take it. Positions of comments are of
// no use there.
func encodeFile(f *descriptorpb.FileDescriptorProto) (string, error) {
	f.SourceCodeInfo = nil
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(f)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// builtIn reports whether every registry knows a Protobuf file.
func builtIn(name string) bool {
	for _, prefix := range []string{"google/protobuf/", "google/type/", "confluent/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// reachable returns the needs that names lead to, in their order.
func reachable(names []string, all []need) []need {
	byName := map[string]*need{}
	for i := range all {
		byName[all[i].name] = &all[i]
	}
	used := map[string]bool{}
	for open := names; len(open) > 0; open = open[1:] {
		n := byName[open[0]]
		if n == nil || used[n.name] {
			continue
		}
		used[n.name] = true
		open = append(open, n.needs...)
	}
	var out []need
	for _, n := range all {
		if used[n.name] {
			out = append(out, n)
		}
	}
	return out
}

// bind gives the schema the texts of its needs.
func (s *source) bind() {
	for _, n := range s.needs {
		s.schema.Dependencies = append(s.schema.Dependencies, schema.Dependency{Name: n.name, Text: n.text})
	}
}

// readRegistered reads a version of a subject, or a schema by id, with all it
// refers to.
func (s *session) readRegistered(ctx context.Context, subject, version string) (*source, error) {
	v, err := s.client.Version(ctx, subject, version, client.VersionQuery{Deleted: version != client.Latest})
	if err != nil {
		return nil, err
	}
	r, err := s.client.Resolve(ctx, v.Subject, v.SchemaType, v.Schema, v.References)
	if err != nil {
		return nil, err
	}
	label := fmt.Sprintf("%s version %d (id %d)", v.Subject, v.Version, v.ID)
	return &source{label: label, subject: v.Subject, version: v.Version, schema: r}, nil
}

func (s *session) readID(ctx context.Context, id int) (*source, error) {
	v, err := s.client.SchemaByID(ctx, id, client.IDQuery{})
	if err != nil {
		return nil, err
	}
	r, err := s.client.Resolve(ctx, v.Subject, v.SchemaType, v.Schema, v.References)
	if err != nil {
		return nil, err
	}
	return &source{label: fmt.Sprintf("schema %d", id), subject: v.Subject, version: v.Version, schema: r}, nil
}

// splitVersion splits SUBJECT@VERSION; without a version it is the latest.
func splitVersion(text string) (subject, version string) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 || !isVersion(text[i+1:]) {
		return text, client.Latest
	}
	return text[:i], text[i+1:]
}

// isVersion reports whether a text names a version: a number from 1 on, or
// latest.
func isVersion(text string) bool {
	n, err := strconv.ParseInt(text, 10, 32)
	return strings.EqualFold(text, client.Latest) || err == nil && n > 0
}
