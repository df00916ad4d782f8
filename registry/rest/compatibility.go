package rest

import (
	"context"

	"milena/registry"
	"milena/registry/api"
)

// compatibility answers POST /compatibility/subjects/{subject}/versions, with
// one version to compare with, or without.
func (s *Server) compatibility(ctx context.Context, r *request) (answer, error) {
	subject, version, err := r.subjectVersion()
	if err != nil {
		return answer{}, err
	}
	req, err := api.DecodeRegister(r.body)
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.Compatibility(ctx, subject, version, req, registry.CompatibilityQuery{
		Normalize: r.query.flag("normalize"), Verbose: r.query.flag("verbose"),
	}))
}
