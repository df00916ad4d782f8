package rest

import (
	"context"

	"milena/registry"
	"milena/registry/api"
)

// versions answers GET /subjects/{subject}/versions.
func (s *Server) versions(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.Versions(ctx, subject, registry.VersionsQuery{
		Deleted: r.query.flag("deleted"), DeletedOnly: r.query.flag("deletedOnly"),
		DeletedAsNegative: r.query.flag("deletedAsNegative"), Page: page,
	}))
}

// register answers POST /subjects/{subject}/versions.
func (s *Server) register(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeRegister(r.body)
	if err != nil {
		return answer{}, err
	}
	return s.registerOrTry(ctx, r, subject, req)
}

// subjectVersion returns the two values of a path below
// /subjects/{subject}/versions/{version}.
func (r *request) subjectVersion() (subject, version string, err error) {
	if subject, err = r.subject(); err != nil {
		return "", "", err
	}
	version, err = r.param("version")
	return subject, version, err
}

// version answers GET /subjects/{subject}/versions/{version}.
func (s *Server) version(ctx context.Context, r *request) (answer, error) {
	return value(s.readVersion(ctx, r))
}

// versionText answers GET /subjects/{subject}/versions/{version}/schema.
func (s *Server) versionText(ctx context.Context, r *request) (answer, error) {
	v, err := s.readVersion(ctx, r)
	return plain(v.Schema, err)
}

func (s *Server) readVersion(ctx context.Context, r *request) (api.Schema, error) {
	subject, version, err := r.subjectVersion()
	if err != nil {
		return api.Schema{}, err
	}
	return s.registry.Version(ctx, subject, version, registry.VersionQuery{
		Deleted: r.query.flag("deleted"), Format: r.query.text("format"),
		ReferenceFormat: r.query.text("referenceFormat"), FindTags: r.query.list("findTags"),
	})
}

// referencedBy answers GET /subjects/{subject}/versions/{version}/referencedby.
func (s *Server) referencedBy(ctx context.Context, r *request) (answer, error) {
	subject, version, err := r.subjectVersion()
	if err != nil {
		return answer{}, err
	}
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.ReferencedBy(ctx, subject, version, registry.ReferencedByQuery{
		Deleted: r.query.flag("deleted"), Page: page,
	}))
}

// deleteVersion answers DELETE /subjects/{subject}/versions/{version} with the
// bare number.
func (s *Server) deleteVersion(ctx context.Context, r *request) (answer, error) {
	subject, version, err := r.subjectVersion()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.DeleteVersion(ctx, subject, version, r.query.flag("permanent")))
}

// tags answers POST /subjects/{subject}/versions/{version}/tags.
func (s *Server) tags(ctx context.Context, r *request) (answer, error) {
	subject, version, err := r.subjectVersion()
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeTags(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.ModifyTags(ctx, subject, version, req))
}
