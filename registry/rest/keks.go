package rest

import (
	"context"

	"milena/registry"
	"milena/registry/api"
)

// keks answers GET /dek-registry/v1/keks.
func (s *Server) keks(ctx context.Context, r *request) (answer, error) {
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	q := registry.KeksQuery{Deleted: r.query.flag("deleted"), Page: page}
	for _, prefix := range r.query.all("subjectPrefix") {
		q.SubjectPrefixes = append(q.SubjectPrefixes, r.qualify(prefix))
	}
	return list(s.registry.Keks(ctx, q))
}

// createKek answers POST /dek-registry/v1/keks.
func (s *Server) createKek(ctx context.Context, r *request) (answer, error) {
	req, err := api.DecodeKek(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.CreateKek(ctx, req, r.query.flag("testSharing")))
}

// kek answers GET /dek-registry/v1/keks/{kek}.
func (s *Server) kek(ctx context.Context, r *request) (answer, error) {
	name, err := r.param("kek")
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.Kek(ctx, name, r.query.flag("deleted")))
}

// updateKek answers PUT /dek-registry/v1/keks/{kek}.
func (s *Server) updateKek(ctx context.Context, r *request) (answer, error) {
	name, err := r.param("kek")
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeKek(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.UpdateKek(ctx, name, req))
}

// deleteKek answers DELETE /dek-registry/v1/keks/{kek}.
func (s *Server) deleteKek(ctx context.Context, r *request) (answer, error) {
	name, err := r.param("kek")
	if err != nil {
		return answer{}, err
	}
	return nothing(s.registry.DeleteKek(ctx, name, r.query.flag("permanent")))
}

// undeleteKek answers POST /dek-registry/v1/keks/{kek}/undelete.
func (s *Server) undeleteKek(ctx context.Context, r *request) (answer, error) {
	name, err := r.param("kek")
	if err != nil {
		return answer{}, err
	}
	return nothing(s.registry.UndeleteKek(ctx, name))
}

// testKek answers POST /dek-registry/v1/keks/{kek}/test.
func (s *Server) testKek(ctx context.Context, r *request) (answer, error) {
	name, err := r.param("kek")
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.TestKek(ctx, name))
}
