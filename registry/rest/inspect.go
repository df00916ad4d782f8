package rest

import (
	"context"

	"milena/registry"
)

// inspectVersion answers GET /milena/v1/subjects/{subject}/versions/{version}.
func (s *Server) inspectVersion(ctx context.Context, r *request) (answer, error) {
	subject, version, err := r.subjectVersion()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.InspectVersion(ctx, subject, version, registry.VersionQuery{
		Deleted: r.query.flag("deleted"), Format: r.query.text("format"),
		ReferenceFormat: r.query.text("referenceFormat"), FindTags: r.query.list("findTags"),
	}))
}

// inspectID answers GET /milena/v1/schemas/ids/{id}.
func (s *Server) inspectID(ctx context.Context, r *request) (answer, error) {
	id, err := r.id()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.InspectID(ctx, id, registry.ByIDQuery{
		Subject: r.query.text("subject"), Format: r.query.text("format"),
		ReferenceFormat: r.query.text("referenceFormat"), FindTags: r.query.list("findTags"),
	}))
}

// registerFileSet answers POST /milena/v1/subjects/{subject}/fileset.
func (s *Server) registerFileSet(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.RegisterFileSet(ctx, subject, r.body, registry.RegisterOptions{Normalize: r.query.flag("normalize")}))
}
