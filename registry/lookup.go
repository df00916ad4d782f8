package registry

import (
	"context"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
)

// Lookup finds the version of a subject that a schema is. A plain name without
// a hit is searched for in the other contexts.
func (r *Registry) Lookup(ctx context.Context, subject string, req api.RegisterRequest, o LookupOptions) (api.Schema, error) {
	v := r.view.Load()
	n, plain := resolve(v, subject)
	version, err := r.lookupIn(ctx, v, n, &req, o)
	if err != nil {
		return api.Schema{}, err
	}
	if version == nil && plain {
		for other := range others(v, n) {
			if v.Subject(other) == nil {
				continue
			}
			// A schema whose references are not there is not there either.
			found, err := r.lookupIn(ctx, v, other, &req, o)
			if err := ctx.Err(); err != nil {
				return api.Schema{}, err
			}
			if err == nil && found != nil {
				version = found
				break
			}
		}
	}
	if version == nil {
		s := v.Subject(n)
		if s == nil || s.Live() == 0 && !o.Deleted {
			return api.Schema{}, errcode.SubjectNotFound.New(n)
		}
		return api.Schema{}, errcode.SchemaNotFound.Text("Schema not found")
	}
	out := foundSchema(version)
	out.Schema, err = r.textOf(v, version, o.Format)
	return out, err
}

func (r *Registry) lookupIn(ctx context.Context, v *state.View, n state.Name, req *api.RegisterRequest, o LookupOptions) (*state.Version, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := r.newCandidate(v, n, req)
	if err != nil {
		return nil, err
	}
	if c.schema.Text == "" {
		return nil, nil
	}
	m := reading{normalize: o.Normalize || r.effective(v, n).normalize, lenient: true}
	if err := r.read(v, c, m); err != nil {
		return nil, err
	}
	if version := r.known(v, c, req, o.Deleted); version != nil {
		return version, nil
	}
	// What was registered has the parameters that follow from others.
	if rs := withKeyParams(c.schema.RuleSet); rs != c.schema.RuleSet {
		c.schema.RuleSet = rs
		return r.known(v, c, req, o.Deleted), nil
	}
	return nil, nil
}

// known finds the version that a candidate is, as it came and, if it came
// without metadata or rules, with those of the latest version.
func (r *Registry) known(v *state.View, c *candidate, req *api.RegisterRequest, deleted bool) *state.Version {
	s := v.Subject(c.name)
	if s == nil {
		return nil
	}
	if version := r.match(v, s, c, deleted); version != nil {
		return version
	}
	latest := s.Latest()
	if latest == nil {
		return nil
	}
	heir := *c
	if req.Metadata == nil {
		heir.schema.Metadata = latest.Schema.Metadata
	}
	if req.RuleSet == nil {
		heir.schema.RuleSet = latest.Schema.RuleSet
	}
	if sameMetadata(heir.schema.Metadata, c.schema.Metadata) && sameRuleSet(heir.schema.RuleSet, c.schema.RuleSet) {
		return nil
	}
	return r.match(v, s, &heir, deleted)
}

// textOf returns the text of a stored version in a wanted format. What can't
// be shown so is shown as it is stored.
func (r *Registry) textOf(v *state.View, version *state.Version, wanted string) (string, error) {
	if !isFormat(schemaType(version), wanted) {
		return version.Schema.Text, nil
	}
	p, err := r.stored(v, version)
	if err != nil {
		r.opt.Logger.Warn("stored schema can't be formatted", "subject", version.Name.String(), "version", version.Schema.Version, "err", err)
		return version.Schema.Text, nil
	}
	text, err := formatted(p, wanted)
	if err != nil {
		return "", errcode.InvalidSchema.New(err.Error()).Because(err)
	}
	return text, nil
}
