package rest

import (
	"context"

	"milena/registry"
	"milena/registry/api"
)

// dekQuery reads what names a data encryption key. Routes without a version
// mean what registry.DekQuery says of none.
func (r *request) dekQuery() (registry.DekQuery, error) {
	q := registry.DekQuery{Algorithm: r.query.text("algorithm"), Deleted: r.query.flag("deleted")}
	var err error
	if q.Kek, err = r.param("kek"); err != nil {
		return q, err
	}
	if q.Version, err = r.param("version"); err != nil {
		return q, err
	}
	q.Subject, err = r.subject()
	return q, err
}

// dekSubjects answers GET /dek-registry/v1/keks/{kek}/deks.
func (s *Server) dekSubjects(ctx context.Context, r *request) (answer, error) {
	kek, err := r.param("kek")
	if err != nil {
		return answer{}, err
	}
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.DekSubjects(ctx, kek, r.query.flag("deleted"), page))
}

// createDek answers POST /dek-registry/v1/keks/{kek}/deks, the older way, whose
// subject is in the body and stays as it is there.
func (s *Server) createDek(ctx context.Context, r *request) (answer, error) {
	kek, err := r.param("kek")
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeDek(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.CreateDek(ctx, kek, "", req, false))
}

// createDekOf answers POST /dek-registry/v1/keks/{kek}/deks/{subject}.
func (s *Server) createDekOf(ctx context.Context, r *request) (answer, error) {
	q, err := r.dekQuery()
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeDek(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.CreateDek(ctx, q.Kek, q.Subject, req, r.query.flag("rewrap")))
}

// dek answers GET /dek-registry/v1/keks/{kek}/deks/{subject} and the same below
// /versions/{version}.
func (s *Server) dek(ctx context.Context, r *request) (answer, error) {
	q, err := r.dekQuery()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.Dek(ctx, q))
}

// dekVersions answers GET /dek-registry/v1/keks/{kek}/deks/{subject}/versions.
func (s *Server) dekVersions(ctx context.Context, r *request) (answer, error) {
	q, err := r.dekQuery()
	if err != nil {
		return answer{}, err
	}
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.DekVersions(ctx, q, page))
}

// deleteDek answers DELETE /dek-registry/v1/keks/{kek}/deks/{subject} and the
// same below /versions/{version}.
func (s *Server) deleteDek(ctx context.Context, r *request) (answer, error) {
	q, err := r.dekQuery()
	if err != nil {
		return answer{}, err
	}
	return nothing(s.registry.DeleteDek(ctx, q, r.query.flag("permanent")))
}

// undeleteDek answers POST /dek-registry/v1/keks/{kek}/deks/{subject}/undelete
// and the same below /versions/{version}.
func (s *Server) undeleteDek(ctx context.Context, r *request) (answer, error) {
	q, err := r.dekQuery()
	if err != nil {
		return answer{}, err
	}
	return nothing(s.registry.UndeleteDek(ctx, q))
}
