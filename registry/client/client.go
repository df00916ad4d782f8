package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/schema"
)

var _ schema.Lookup = (*Client)(nil)

// Client looks up schemas in a remote registry. Its methods may be called
// concurrently.
type Client struct {
	opt      Options
	bases    []base
	http     *http.Client
	current  atomic.Int64 // index of the URL that answered last
	versions *cache
}

// New returns a Client. It connects to nothing yet.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	bases, err := parseURLs(o.URL)
	if err != nil {
		return nil, err
	}
	c := &Client{opt: o, bases: bases, http: &http.Client{Transport: o.Transport}}
	if c.versions, err = newCache(o); err != nil {
		return nil, err
	}
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Ready returns nil if the registry answers, else why not.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.get(ctx, "/schemas/types", 1)
	return err
}

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
// the default one), with its references resolved.
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
	path := "/schemas/guids/" + url.PathEscape(guid)
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

// scope returns the path below which a context is asked.
func scope(registryContext string) string {
	if registryContext == "" || registryContext == schema.DefaultContext {
		return ""
	}
	return "/contexts/" + url.PathEscape(":"+registryContext+":")
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
