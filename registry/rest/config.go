package rest

import (
	"context"

	"milena/registry/api"
)

// config answers GET /config and GET /config/{subject}.
func (s *Server) config(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.Config(ctx, subject, r.query.flag("defaultToGlobal")))
}

// setConfig answers PUT /config and PUT /config/{subject}.
func (s *Server) setConfig(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeConfig(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.SetConfig(ctx, subject, req))
}

// deleteConfig answers DELETE /config and DELETE /config/{subject}.
func (s *Server) deleteConfig(ctx context.Context, r *request) (answer, error) {
	subject, err := r.subject()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.DeleteConfig(ctx, subject))
}
