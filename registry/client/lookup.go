package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/schema"
)

// found is the part of an answer that a look-up needs.
type found struct {
	Schema     *string         `json:"schema"`
	SchemaType string          `json:"schemaType"`
	References []api.Reference `json:"references"`
}

// schemaType is the format: absent means Avro, in answers of older registries.
func (f *found) schemaType() schema.Type {
	if f.SchemaType == "" {
		return schema.Avro
	}
	return schema.Type(f.SchemaType)
}

// ByID returns the schema with the id in one context (".ctx", or "." and "" for
// the default one), with its references resolved. The context of InContext does
// not count here.
func (c *Client) ByID(ctx context.Context, registryContext string, id int32) (schema.Resolved, error) {
	f, err := c.schema(ctx, scope(registryContext)+"/schemas/ids/"+strconv.Itoa(int(id)))
	if err != nil {
		return schema.Resolved{}, fmt.Errorf("schema %d in context %q: %w", id, registryContext, err)
	}
	s, err := c.resolved(ctx, registryContext, f)
	if err != nil {
		return schema.Resolved{}, fmt.Errorf("schema %d in context %q: %w", id, registryContext, err)
	}
	return s, nil
}

// ByGUID returns the schema with the GUID, with its references resolved. Its
// context, in which unqualified references are looked for, is the first that
// the registry lists.
func (c *Client) ByGUID(ctx context.Context, guid string) (schema.Resolved, error) {
	path := "/schemas/guids/" + escape(guid)
	f, err := c.schema(ctx, path)
	if err != nil {
		return schema.Resolved{}, fmt.Errorf("schema %q: %w", guid, err)
	}
	in := schema.DefaultContext
	if len(f.References) > 0 {
		var ids []api.ContextID
		if err := c.read(ctx, path+"/ids", &ids); err != nil {
			return schema.Resolved{}, fmt.Errorf("contexts of schema %q: %w", guid, err)
		}
		if len(ids) > 0 && ids[0].Context != "" {
			in = ids[0].Context
		}
	}
	s, err := c.resolved(ctx, in, f)
	if err != nil {
		return schema.Resolved{}, fmt.Errorf("schema %q: %w", guid, err)
	}
	return s, nil
}

// Resolve returns a schema of a subject with its references resolved. The
// subject, as the answer that the schema came from names it, says in which
// context unqualified references are looked for.
func (c *Client) Resolve(ctx context.Context, subject, schemaType, text string, refs []api.Reference) (schema.Resolved, error) {
	s, err := c.resolved(ctx, contextOf(subject, c.context()), &found{Schema: &text, SchemaType: schemaType, References: refs})
	if err != nil {
		return schema.Resolved{}, fmt.Errorf("references of subject %q: %w", subject, err)
	}
	return s, nil
}

// context returns the name of the Client's context.
func (c *Client) context() string {
	if c.prefix == "" {
		return schema.DefaultContext
	}
	return strings.Trim(strings.TrimPrefix(c.prefix, "/contexts/"), ":")
}

// scope returns the path below which a context is asked.
func scope(registryContext string) string {
	if registryContext == "" || registryContext == schema.DefaultContext {
		return ""
	}
	return "/contexts/" + escape(":"+registryContext+":")
}

// schema reads an answer that holds a schema.
func (c *Client) schema(ctx context.Context, path string) (*found, error) {
	f := &found{}
	if err := c.read(ctx, path, f); err != nil {
		return nil, err
	}
	if f.Schema == nil {
		return nil, fmt.Errorf("%w: answer without a schema", schema.ErrUnavailable)
	}
	return f, nil
}

// read asks for path, as a look-up does, and reads the answer into v. Errors
// wrap schema.ErrUnknown or schema.ErrUnavailable.
func (c *Client) read(ctx context.Context, path string, v any) error {
	return lookupError(c.fetch(ctx, &request{method: http.MethodGet, path: path, timeout: c.opt.AttemptTimeout}, v))
}

// lookupError says whether an error means that there is no such schema.
func lookupError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, schema.ErrUnavailable):
		return err
	case unknown(err):
		return fmt.Errorf("%w: %w", schema.ErrUnknown, err)
	}
	return fmt.Errorf("%w: %w", schema.ErrUnavailable, err)
}

// unknown reports whether an answer says that there is no such schema, subject
// or version.
func unknown(err error) bool {
	return errors.Is(err, errcode.SchemaNotFound) || errors.Is(err, errcode.SubjectNotFound) ||
		errors.Is(err, errcode.VersionNotFound)
}

// contextOf returns the context that a subject names, or the one it is seen
// from.
func contextOf(subject, from string) string {
	if !strings.HasPrefix(subject, ":.") {
		return from
	}
	name, _, _ := strings.Cut(subject[1:], ":")
	return name
}
