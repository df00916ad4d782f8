package rest

import (
	"context"

	"milena/registry"
)

// contexts answers GET /contexts.
func (s *Server) contexts(ctx context.Context, r *request) (answer, error) {
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	return list(s.registry.Contexts(ctx, registry.ContextsQuery{Prefix: r.query.text("contextPrefix"), Page: page}))
}

// deleteContext answers DELETE /contexts/{context}.
func (s *Server) deleteContext(ctx context.Context, r *request) (answer, error) {
	param, err := r.param("context")
	if err != nil {
		return answer{}, err
	}
	name, err := registry.ParseContextParam(param)
	if err != nil {
		return answer{}, err
	}
	return nothing(s.registry.DeleteContext(ctx, name))
}
