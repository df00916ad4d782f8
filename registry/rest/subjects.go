package rest

import (
	"context"
	"net/http"

	"milena/registry"
	"milena/registry/api"
)

// subjects answers GET /subjects. Without a prefix it lists all contexts, or
// below /contexts/{context} that one.
func (s *Server) subjects(ctx context.Context, r *request) (answer, error) {
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	q := registry.SubjectsQuery{Deleted: r.query.flag("deleted"), DeletedOnly: r.query.flag("deletedOnly"), Page: page}
	if prefix, ok := r.query.given("subjectPrefix"); ok || r.context != "" {
		prefix = r.qualify(prefix)
		q.Prefix = &prefix
	}
	names, err := s.registry.SubjectNames(ctx, q)
	return answer{status: http.StatusOK, pieces: nameList(names)}, err
}

// lookup answers POST /subjects/{subject}.
func (s *Server) lookup(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeRegister(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.Lookup(ctx, subject, req, registry.LookupOptions{
		Normalize: r.query.flag("normalize"), Deleted: r.query.flag("deleted"), Format: r.query.text("format"),
	}))
}

// deleteSubject answers DELETE /subjects/{subject}.
func (s *Server) deleteSubject(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.DeleteSubject(ctx, subject, r.query.flag("permanent")))
}

// subjectMetadata answers GET /subjects/{subject}/metadata.
func (s *Server) subjectMetadata(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.SubjectMetadata(ctx, subject, registry.MetadataQuery{
		Keys: r.query.all("key"), Values: r.query.all("value"),
		Deleted: r.query.flag("deleted"), Format: r.query.text("format"),
	}))
}
