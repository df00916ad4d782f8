package registry

import (
	"context"

	"milena/registry/api"
	"milena/registry/state"
)

// DryRun answers what Register would do now, and does nothing. What Register
// would refuse as incompatible is an answer with the findings; every other
// refusal is the error that Register would return.
func (r *Registry) DryRun(ctx context.Context, subject string, req api.RegisterRequest, o RegisterOptions) (api.DryRunResponse, error) {
	if err := ctx.Err(); err != nil {
		return api.DryRunResponse{}, err
	}
	g, err := r.newRegistration(ctx, subject, req, o)
	if err != nil {
		return api.DryRunResponse{}, err
	}
	g.dryRun = true
	v := r.view.Load()
	p, err := g.attempt(v)
	if err != nil {
		return api.DryRunResponse{}, err
	}
	if p != nil {
		if _, err := p.records(v); err != nil {
			return api.DryRunResponse{}, err
		}
	}
	return api.DryRunResponse{
		RegisterResponse: g.answer,
		DryRun:           true,
		Created:          g.created,
		IsCompatible:     len(g.problems) == 0,
		Messages:         append([]string{}, g.problems...),
		Normalized:       r.normalizedText(v, g.name, &g.answer),
	}, nil
}

// normalizedText returns the text that normalizing would store for what a
// registration answered, or "" if it can't be normalized.
func (r *Registry) normalizedText(v *state.View, n state.Name, a *api.RegisterResponse) string {
	c := &candidate{name: n}
	c.schema.Subject, c.schema.Type, c.schema.Text = n.String(), a.SchemaType, a.Schema
	c.schema.References = storeReferences(a.References)
	s, _, err := r.resolved(v, &c.schema, n, false)
	if err != nil {
		return ""
	}
	p, err := r.parse(s, true)
	if err != nil {
		return ""
	}
	text, err := normalized(p)
	if err != nil {
		return ""
	}
	return text
}
