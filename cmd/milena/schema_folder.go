package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"milena/cmd/internal/cli"
	"milena/registry/api"
	"milena/registry/client"
	"milena/registry/errcode"
	"milena/serde/schema"
)

const (
	folderFilesMax = 10_000 // files that are looked at for names
	needsMax       = 1_000  // schemas that come with one
)

// folder finds schemas by the names by which others refer to them: a Protobuf
// file by its path, an Avro type by its full name, a JSON Schema by its path or
// its $id.
type folder struct {
	path  string
	root  *os.Root
	index map[string]string // of files by name, where the path doesn't tell
	skip  map[string]bool   // names that are not looked for
}

func openFolder(dir string, format schema.Type) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{path: dir, root: root, index: map[string]string{}, skip: map[string]bool{}}
	if format == schema.Protobuf {
		return f, nil
	}
	files := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !mayHold(format, name) {
			return err
		}
		if files++; files > folderFilesMax {
			return fmt.Errorf("it has more than %d schema files", folderFilesMax)
		}
		text, err := f.read(name)
		if err != nil {
			return err
		}
		return f.add(format, name, text)
	})
	if err != nil {
		_ = root.Close() // the first error counts
		return nil, fmt.Errorf("read folder %s: %w", dir, err)
	}
	return f, nil
}

// mayHold reports whether a file may hold a schema of a format.
func mayHold(format schema.Type, name string) bool {
	ext := strings.ToLower(path.Ext(name))
	if format == schema.Avro {
		return ext == ".avsc"
	}
	return ext == ".json" || ext == ".jsonschema"
}

// add notes under which names a file is known.
func (f *folder) add(format schema.Type, file, text string) error {
	var names []string
	switch format {
	case schema.Avro:
		for name := range avroTypesIn(text).defined {
			names = append(names, name)
		}
	case schema.JSON:
		if id := jsonID(text); id != "" {
			names = append(names, id)
		}
	}
	for _, name := range names {
		if other, ok := f.index[name]; ok && format == schema.JSON {
			return fmt.Errorf("%s and %s both are %s", other, file, name)
		}
		// Types are often repeated inside of those that use them; the file named
		// after one is meant.
		if _, ok := f.index[name]; !ok || strings.TrimSuffix(path.Base(file), path.Ext(file)) == name[strings.LastIndexByte(name, '.')+1:] {
			f.index[name] = file
		}
	}
	return nil
}

func (f *folder) read(name string) (string, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(file, fileBytesMax+1))
	if err == nil && len(text) > fileBytesMax {
		err = fmt.Errorf("%s has more than %d bytes", name, fileBytesMax)
	}
	return string(text), err
}

// file returns the path of the file behind a name, "" if there is none.
func (f *folder) file(name string) string {
	if f.skip[name] {
		return ""
	}
	if file, ok := f.index[name]; ok {
		return file
	}
	file := path.Clean(name)
	if info, err := f.root.Stat(file); err != nil || !info.Mode().IsRegular() {
		return "" // registered, perhaps
	}
	return file
}

// collect adds to s what it refers to and the folder has, depth first.
func (f *folder) collect(s *source) error {
	state := map[string]bool{} // false: being looked at, true: done
	needs := func(text string) []string {
		return choose(namesIn(s.schema.Type, text), func(name string) bool { return f.file(name) != "" })
	}
	var visit func(names []string) error
	visit = func(names []string) error {
		for _, name := range names {
			if done, seen := state[name]; seen {
				if !done {
					return fmt.Errorf("%s refers to itself in a circle", name)
				}
				continue
			}
			if len(state) >= needsMax {
				return fmt.Errorf("more than %d schemas are needed", needsMax)
			}
			text, err := f.read(f.file(name))
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			state[name] = false
			inner := needs(text)
			if err := visit(inner); err != nil {
				return err
			}
			state[name] = true
			s.needs = append(s.needs, need{name: name, text: text, needs: inner})
		}
		return nil
	}
	if err := visit(needs(s.schema.Text)); err != nil {
		return fmt.Errorf("references in %s: %w", f.path, err)
	}
	s.bind()
	return nil
}

// addReferences reads the values of --references: NAME=SUBJECT:VERSION, or a
// folder in which the schema's references are looked for.
func (s *session) addReferences(ctx context.Context, src *source, values []string) error {
	dir := ""
	for _, value := range values {
		name, target, ok := strings.Cut(value, "=")
		if !ok {
			if dir != "" {
				return cli.Unusable(errors.New("--references: two folders are given"), "")
			}
			dir = value
			continue
		}
		ref, err := s.parseReference(ctx, name, target)
		if err != nil {
			return err
		}
		src.references = append(src.references, ref)
	}
	if dir == "" {
		return nil
	}
	f, err := openFolder(dir, src.schema.Type)
	if err != nil {
		return cli.Unusable(fmt.Errorf("--references: %w", err), "give NAME=SUBJECT:VERSION or a folder")
	}
	defer func() { _ = f.root.Close() }() // it is only read
	for _, ref := range src.references {
		f.skip[ref.Name] = true // the registered one is meant
	}
	if err := f.collect(src); err != nil {
		return cli.Unusable(err, "")
	}
	return nil
}

// parseReference reads SUBJECT:VERSION; the subject may itself have colons.
func (s *session) parseReference(ctx context.Context, name, target string) (api.Reference, error) {
	bad := func(why string) (api.Reference, error) {
		return api.Reference{}, cli.Unusable(fmt.Errorf("--references %s=%s: %s", name, target, why), "want NAME=SUBJECT:VERSION, VERSION a number or latest")
	}
	i := strings.LastIndexByte(target, ':')
	if name == "" || i <= 0 {
		return bad("something is missing")
	}
	subject, version := target[:i], target[i+1:]
	if !isVersion(version) {
		return bad("no such version")
	}
	if n, err := strconv.Atoi(version); err == nil {
		return api.Reference{Name: name, Subject: subject, Version: n}, nil
	}
	v, err := s.client.Version(ctx, subject, client.Latest, client.VersionQuery{})
	if err != nil {
		return api.Reference{}, &referenceError{name, err}
	}
	return api.Reference{Name: name, Subject: subject, Version: v.Version}, nil
}

// request returns the registration of a source, whose needs are registered by
// it first: each is looked up under the subject of its name and, unless it may
// only be looked up, registered there if it is not found.
func (s *session) request(ctx context.Context, src *source, normalize, lookUpOnly bool) (api.RegisterRequest, error) {
	done := map[string]api.Reference{}
	refer := func(names []string) (refs []api.Reference) {
		for _, name := range names {
			if ref, ok := done[name]; ok {
				refs = append(refs, ref)
			}
		}
		return refs
	}
	for _, n := range src.needs {
		req := newRequest(src.schema.Type, n.text, refer(n.needs))
		version, err := s.settle(ctx, n.name, req, normalize, lookUpOnly)
		if err != nil {
			return api.RegisterRequest{}, &referenceError{n.name, err}
		}
		done[n.name] = api.Reference{Name: n.name, Subject: n.name, Version: version}
	}
	refs := append(refer(src.direct()), src.references...)
	if len(src.needs) > 0 {
		// Their order is part of what a schema is, so it must not depend on how
		// they were found.
		slices.SortStableFunc(refs, func(a, b api.Reference) int { return strings.Compare(a.Name, b.Name) })
	}
	return newRequest(src.schema.Type, src.schema.Text, refs), nil
}

// settle returns the version that a schema has under a subject.
func (s *session) settle(ctx context.Context, subject string, req api.RegisterRequest, normalize, lookUpOnly bool) (int, error) {
	found, err := s.client.Lookup(ctx, subject, req, client.LookupOptions{Normalize: normalize})
	switch {
	case err == nil:
		return found.Version, nil
	case !errors.Is(err, errcode.SubjectNotFound) && !errors.Is(err, errcode.SchemaNotFound):
		return 0, err
	case lookUpOnly:
		return 0, cli.Refused(errors.New("it is not registered, and a dry run registers nothing"), "register it first: milena schema register "+subject+" FILE")
	}
	answer, err := s.client.Register(ctx, subject, req, client.RegisterOptions{Normalize: normalize})
	if err != nil {
		return 0, err
	}
	version := answer.Version
	if version == 0 { // older registries answer with the id alone
		if found, err = s.client.Lookup(ctx, subject, req, client.LookupOptions{Normalize: normalize}); err != nil {
			return 0, err
		}
		version = found.Version
	}
	s.note("registered %s: version %d, id %d", subject, version, answer.ID)
	return version, nil
}

// newRequest leaves the format out where it is the default, as older
// registries know no other.
func newRequest(format schema.Type, text string, refs []api.Reference) api.RegisterRequest {
	req := api.RegisterRequest{Schema: &text, References: refs}
	if format != schema.Avro {
		t := string(format)
		req.SchemaType = &t
	}
	return req
}

// referenceError says which reference an error is about.
type referenceError struct {
	name string
	err  error
}

func (e *referenceError) Error() string { return "reference " + e.name + ": " + e.err.Error() }
func (e *referenceError) Unwrap() error { return e.err }
