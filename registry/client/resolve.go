package client

import (
	"context"
	"fmt"
	"strconv"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/schema"
)

// resolution collects the texts behind references, each after those it needs,
// depth first; of two references with one name the first one met counts. This
// is the registry's own order, so both give a schema the same content key.
type resolution struct {
	client *Client
	names  map[string]bool
	deps   []schema.Dependency
	bytes  int
}

// resolved returns a schema with its references, whose unqualified subjects are
// in the context.
func (c *Client) resolved(ctx context.Context, in string, f *found) (schema.Resolved, error) {
	r := &resolution{client: c, names: map[string]bool{}, bytes: len(*f.Schema)}
	if err := r.resolve(ctx, in, f.References, 1); err != nil {
		return schema.Resolved{}, err
	}
	return schema.Resolved{Type: f.schemaType(), Text: *f.Schema, Dependencies: r.deps}, nil
}

func (r *resolution) resolve(ctx context.Context, in string, refs []api.Reference, depth int) error {
	if len(refs) > 0 && depth > r.client.opt.ReferenceDepthMax {
		return limitError("references are nested deeper than %d", r.client.opt.ReferenceDepthMax)
	}
	for _, ref := range refs {
		if r.names[ref.Name] {
			continue
		}
		if len(r.names) >= r.client.opt.ReferencesMax {
			return limitError("schema has more than %d references", r.client.opt.ReferencesMax)
		}
		r.names[ref.Name] = true
		target := contextOf(ref.Subject, in)
		f, err := r.client.version(ctx, target, ref)
		if err != nil {
			return fmt.Errorf("reference %q: %w", ref.Name, err)
		}
		if r.bytes += len(*f.Schema); r.bytes > r.client.opt.ResolvedBytesMax {
			return limitError("schema with its references has more than %d bytes", r.client.opt.ResolvedBytesMax)
		}
		if err := r.resolve(ctx, target, f.References, depth+1); err != nil {
			return err
		}
		r.deps = append(r.deps, schema.Dependency{Name: ref.Name, Text: *f.Schema})
	}
	return nil
}

// limitError says that the registry's answer is beyond what is taken. The
// schema is not unknown.
func limitError(format string, limit int) error {
	return fmt.Errorf("%w: %w", schema.ErrUnavailable, errcode.UnparsableAnswer.Text(fmt.Sprintf(format, limit)))
}

// version returns a referenced version, which may be soft deleted, from the
// cache or the registry.
func (c *Client) version(ctx context.Context, in string, ref api.Reference) (*found, error) {
	path := referencePath(in, ref.Subject, ref.Version)
	return c.references.get(ctx, path, func(ctx context.Context) (*found, error) {
		return c.schema(ctx, path)
	})
}

// referencePath is where a referenced version is asked for.
func referencePath(in, subject string, version int) string {
	return scope(in) + "/subjects/" + escape(subject) + "/versions/" + strconv.Itoa(version) + "?deleted=true"
}
