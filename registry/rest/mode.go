package rest

import (
	"context"

	"milena/registry/api"
)

// mode answers GET /mode and GET /mode/{subject}.
func (s *Server) mode(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.Mode(ctx, subject, r.query.flag("defaultToGlobal")))
}

// setMode answers PUT /mode and PUT /mode/{subject}.
func (s *Server) setMode(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeMode(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.SetMode(ctx, subject, req, r.query.flag("force")))
}

// deleteMode answers DELETE /mode and DELETE /mode/{subject}.
func (s *Server) deleteMode(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.DeleteMode(ctx, subject, r.query.flag("recursive")))
}
