package registry

import (
	"context"
	"fmt"

	"milena/registry/state"
	"milena/serde/schema"
)

var _ schema.Lookup = (*Registry)(nil)

// ByID returns the schema with an id in one context, never in others, with its
// references resolved: what the gateway and the serializers of this process
// ask. It sees every registration that was answered before the call.
func (r *Registry) ByID(ctx context.Context, registryContext string, id int32) (schema.Resolved, error) {
	if err := ctx.Err(); err != nil {
		return schema.Resolved{}, err
	}
	if registryContext == "" {
		registryContext = state.DefaultContext
	}
	v := r.view.Load()
	found := v.Context(registryContext).First(int(id))
	if found == nil {
		return schema.Resolved{}, fmt.Errorf("schema %d in context %q: %w", id, registryContext, r.missing())
	}
	return r.source(v, found)
}

// ByGUID returns the schema with a GUID, with its references resolved.
func (r *Registry) ByGUID(ctx context.Context, guid string) (schema.Resolved, error) {
	if err := ctx.Err(); err != nil {
		return schema.Resolved{}, err
	}
	v := r.view.Load()
	found := byGUID(v, guid)
	if found == nil {
		return schema.Resolved{}, fmt.Errorf("schema %q: %w", guid, r.missing())
	}
	return r.source(v, found)
}

// missing says what a look-up without a hit means: while the log can't be read,
// another process may have written what this one does not see.
func (r *Registry) missing() error {
	if err := r.Ready(); err != nil {
		return fmt.Errorf("%w: %w", schema.ErrUnavailable, err)
	}
	return schema.ErrUnknown
}

func (r *Registry) source(v *state.View, found *state.Version) (schema.Resolved, error) {
	s, _, err := r.resolved(v, found.Schema, found.Name, false)
	if err != nil {
		// Permanent deletion spares what is referred to, so this is a log that
		// something else wrote.
		return schema.Resolved{}, fmt.Errorf("schema %d: %w: %w", found.Schema.ID, schema.ErrUnknown, err)
	}
	return s, nil
}
