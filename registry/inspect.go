package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"google.golang.org/protobuf/proto"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/serde/format"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// FormatFileSet shows a Protobuf schema as the Base64 of a FileDescriptorSet:
// everything that it refers to, and the schema last.
const FormatFileSet = "fileset"

// InspectVersion reads a version as Version does, and says whether records can
// be decoded by it. The registry takes schemas by which they can't: the
// reference does, and clients may have their own ways.
func (r *Registry) InspectVersion(ctx context.Context, subject, version string, q VersionQuery) (api.Inspection, error) {
	wanted := q.Format
	if strings.EqualFold(wanted, FormatFileSet) {
		q.Format = ""
	}
	s, err := r.Version(ctx, subject, version, q)
	if err != nil {
		return api.Inspection{}, err
	}
	return r.inspect(s, wanted)
}

// InspectID reads a schema as SchemaByID does, and says whether records can be
// decoded by it.
func (r *Registry) InspectID(ctx context.Context, id int, q ByIDQuery) (api.Inspection, error) {
	wanted := q.Format
	if strings.EqualFold(wanted, FormatFileSet) {
		q.Format = ""
	}
	s, err := r.SchemaByID(ctx, id, q)
	if err != nil {
		return api.Inspection{}, err
	}
	return r.inspect(api.Schema{
		Subject: s.Subject, Version: s.Version, ID: id, GUID: s.GUID, SchemaType: s.SchemaType, References: s.References,
		Metadata: s.Metadata, RuleSet: s.RuleSet, Schema: s.Schema, SchemaTags: s.SchemaTags, Timestamp: s.Timestamp, Deleted: s.Deleted,
	}, wanted)
}

// inspect says what there is to say about a version that was read.
func (r *Registry) inspect(s api.Schema, wanted string) (api.Inspection, error) {
	out := api.Inspection{Schema: s, Problems: []api.Problem{}}
	v := r.view.Load()
	version := v.Subject(state.ParseName(s.Subject)).Version(s.Version)
	if version == nil {
		return out, errcode.VersionNotFound.New(s.Version) // deleted meanwhile
	}
	resolved, _, err := r.resolved(v, version.Schema, version.Name, false)
	var p schema.Parsed
	if err == nil {
		p, err = r.parseStored(resolved)
	}
	if err == nil {
		err = decodable(p)
	}
	out.Decodable = err == nil
	out.Problems = append(out.Problems, problemsOf(err)...)
	if strings.EqualFold(wanted, FormatFileSet) {
		out.Schema.Schema, err = fileSet(p, err)
	} else {
		err = nil
	}
	return out, err
}

// decodable returns why records can't be decoded by a schema, or nil.
func decodable(p schema.Parsed) error {
	if s, ok := p.(*protobuf.Schema); ok {
		if _, err := s.Link(); err != nil {
			return err
		}
	}
	_, err := format.Compile(p.Resolved())
	return err
}

// problemsOf takes an error of a parser, linker or compiler apart.
func problemsOf(err error) []api.Problem {
	var link *protobuf.LinkError
	var parse *schema.ParseError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &link):
		var out []api.Problem
		for _, p := range link.Problems {
			out = append(out, api.Problem{Line: p.Line, Column: p.Column, Path: p.Path, Message: p.Message})
		}
		return out
	case errors.As(err, &parse):
		return []api.Problem{{Line: parse.Line, Column: parse.Column, Path: parse.Path, Message: parse.Message}}
	default:
		return []api.Problem{{Message: err.Error()}}
	}
}

// fileSet returns the Base64 of a schema's FileDescriptorSet. What has none is
// refused, with the reason.
func fileSet(p schema.Parsed, why error) (string, error) {
	s, ok := p.(*protobuf.Schema)
	if !ok {
		if why == nil {
			why = errors.New("only Protobuf schemas have descriptors")
		}
		return "", errcode.InvalidSchema.New(why.Error()).Because(why)
	}
	set, err := s.FileSet()
	if err != nil {
		return "", errcode.InvalidSchema.New(err.Error()).Because(err)
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return "", errcode.Internal.New().Because(err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}
