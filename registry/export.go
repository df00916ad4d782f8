package registry

import (
	"context"
	"iter"
	"strings"
	"time"

	"milena/registry/state"
	"milena/registry/transfer"
)

// ExportQuery selects what an export holds. An empty prefix, or ":*:", is
// everything; ":.ctx:" is one context, with its config and mode; any other
// prefix selects names in the default context, as for SchemasQuery. Data
// encryption keys belong to no subject and come with everything only.
type ExportQuery struct {
	Prefix string
	// LiveOnly leaves out soft deleted versions, which nothing can be exported
	// without if it is to be restored as it was.
	LiveOnly bool
}

// Now returns the time by the registry's clock.
func (r *Registry) Now() time.Time { return r.opt.Now() }

// Export returns what the registry holds at the time of the call, as the lines
// of a stream. Reading the lines takes no lock and no copy of the registry;
// writes go on meanwhile and are not seen.
func (r *Registry) Export(ctx context.Context, q ExportQuery) (iter.Seq[transfer.Line], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lines := transfer.Of(r.view.Load(), exportFilter(q.Prefix))
	if !q.LiveOnly {
		return lines, nil
	}
	return func(yield func(transfer.Line) bool) {
		for l := range lines {
			if l.Schema != nil && l.Schema.Deleted {
				continue
			}
			if !yield(l) {
				return
			}
		}
	}, nil
}

// exportFilter returns what a prefix selects, nil for everything.
func exportFilter(prefix string) func(state.Name) bool {
	rest, everywhere := strings.CutPrefix(prefix, wildcard)
	switch {
	case rest == "" && (everywhere || prefix == ""):
		return nil
	case everywhere:
		return func(n state.Name) bool { return !n.IsContext() && strings.HasPrefix(n.Local, rest) }
	}
	n := state.ParseName(prefix)
	return func(o state.Name) bool { return o.Context == n.Context && strings.HasPrefix(o.Local, n.Local) }
}
