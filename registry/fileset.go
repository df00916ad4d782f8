package registry

import (
	"context"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// RegisterFileSet registers the bytes of a FileDescriptorSet, as protoc and buf
// write them: the last file under the subject, and what it refers to under the
// paths of the files, in the subject's context, each with references to those
// before it. Built-in files need none. What is there already is found, so that
// the same set can be registered again; a refusal in the middle leaves what
// came before it, which a later attempt finds.
func (r *Registry) RegisterFileSet(ctx context.Context, subject string, raw []byte, o RegisterOptions) (api.FileSetResponse, error) {
	out := api.FileSetResponse{Registered: []api.Schema{}}
	set, err := protobuf.FromFileSet(raw, schema.Limits{TextBytesMax: r.opt.Limits.SchemaBytesMax})
	if err != nil {
		return out, errcode.InvalidSchema.New(err.Error()).Because(err)
	}
	if len(set.Dependencies) > r.opt.Limits.ResolvedReferencesMax {
		return out, errcode.InvalidSchema.New("Schema has too many references")
	}
	context := parseSubject(subject).Context
	versions := map[string]api.Reference{} // by path
	files := append(set.Dependencies, schema.Dependency{Text: set.Text})
	for i, f := range files {
		name := subject
		if i < len(files)-1 {
			name = state.Name{Context: context, Local: f.Name}.String()
		}
		s, err := r.registerFile(ctx, name, f.Text, versions, o)
		if err != nil {
			return out, err
		}
		versions[f.Name] = api.Reference{Name: f.Name, Subject: f.Name, Version: s.Version}
		out.Registered = append(out.Registered, s)
	}
	return out, nil
}

// registerFile registers one file with references to those that it imports.
func (r *Registry) registerFile(ctx context.Context, subject, text string, versions map[string]api.Reference, o RegisterOptions) (api.Schema, error) {
	// For its imports, so what they lead to doesn't matter yet.
	parsed, err := protobuf.Parser{Lenient: true}.ParseSchema(schema.Resolved{Type: schema.Protobuf, Text: text})
	if err != nil {
		return api.Schema{}, errcode.InvalidSchema.New(err.Error()).Because(err)
	}
	kind := string(schema.Protobuf)
	req := api.RegisterRequest{SchemaType: &kind, Schema: &text}
	for _, imports := range [][]protobuf.Import{parsed.File().Imports, parsed.File().PublicImports} {
		for i := range imports {
			if ref, ok := versions[imports[i].Path]; ok {
				req.References = append(req.References, ref)
			}
		}
	}
	a, err := r.Register(ctx, subject, req, o)
	if err != nil {
		return api.Schema{}, err
	}
	s := api.Schema{
		Subject: state.Canonical(subject), Version: a.Version, ID: a.ID, GUID: a.GUID, SchemaType: a.SchemaType,
		References: a.References, Metadata: a.Metadata, RuleSet: a.RuleSet, Schema: a.Schema, Timestamp: a.Timestamp, Deleted: a.Deleted,
	}
	return s, nil
}
