package rest

import (
	"context"

	"milena/registry"
	"milena/registry/api"
)

// search answers GET /milena/v1/search.
func (s *Server) search(ctx context.Context, r *request) (answer, error) {
	page, err := r.query.page()
	if err != nil {
		return answer{}, err
	}
	return value(s.registry.Search(ctx, registry.SearchQuery{
		Prefix:     r.query.text("subjectPrefix"),
		SchemaType: r.query.text("schemaType"),
		Deleted:    r.query.flag("deleted"),
		LatestOnly: r.query.flag("latestOnly"),
		Field:      r.query.text("field"),
		Type:       r.query.text("type"),
		Tag:        r.query.text("tag"),
		Property:   r.query.text("property"),
		Text:       r.query.text("text"),
		After:      r.query.text("after"),
		Limit:      page.Limit,
	}))
}

// registerOrTry answers a registration, or what it would answer.
func (s *Server) registerOrTry(ctx context.Context, r *request, subject string, req api.RegisterRequest) (answer, error) {
	o := registry.RegisterOptions{
		Normalize: r.query.flag("normalize"), Force: r.query.flag("force"), Format: r.query.text("format"),
	}
	if r.query.flag("dryRun") {
		return value(s.registry.DryRun(ctx, subject, req, o))
	}
	return value(s.registry.Register(ctx, subject, req, o))
}
