package client

import (
	"context"
	"strconv"

	"milena/registry/api"
)

// Schemas lists versions across subjects, by subject and version. Registries
// give at most 1,000 at once: ask again with a greater Offset until an answer
// is empty.
func (c *Client) Schemas(ctx context.Context, q SchemasQuery) ([]api.Schema, error) {
	p := params{}.text("subjectPrefix", q.Prefix).flag("aliases", q.Aliases).flag("deleted", q.Deleted).
		flag("latestOnly", q.LatestOnly).text("ruleType", q.RuleType).text("resourceType", q.ResourceType).
		list("associationType", q.AssociationType).text("lifecycle", q.Lifecycle).page(q.Page)
	v, err := get[[]api.Schema](ctx, c, p.on(c.path("schemas")))
	return v, failed(err, "list schemas")
}

// Types lists the formats that the registry knows.
func (c *Client) Types(ctx context.Context) ([]string, error) {
	v, err := get[[]string](ctx, c, c.path("schemas", "types"))
	return v, failed(err, "list formats")
}

func (q *IDQuery) params() params {
	return params{}.text("subject", q.Subject).text("format", q.Format).text("referenceFormat", q.ReferenceFormat).
		list("findTags", q.FindTags).flag("fetchMaxId", q.FetchMaxID)
}

// SchemaByID returns the schema with an id, from a cache or the registry.
func (c *Client) SchemaByID(ctx context.Context, id int, q IDQuery) (api.SchemaString, error) {
	v, err := c.byIdentity(ctx, q.params().on(c.path("schemas", "ids", strconv.Itoa(id))), !q.FetchMaxID)
	return v, failed(err, "read schema %d", id)
}

// byIdentity reads a schema by id or GUID.
func (c *Client) byIdentity(ctx context.Context, path string, keep bool) (api.SchemaString, error) {
	ask := func(ctx context.Context) (api.SchemaString, error) { return get[api.SchemaString](ctx, c, path) }
	if !keep {
		return ask(ctx)
	}
	return c.ids.get(ctx, path, ask)
}

// TextByID returns the bare text of the schema with an id.
func (c *Client) TextByID(ctx context.Context, id int, q IDQuery) (string, error) {
	text, err := c.text(ctx, q.params().on(c.path("schemas", "ids", strconv.Itoa(id), "schema")))
	return text, failed(err, "read text of schema %d", id)
}

func (q *UsersQuery) params() params {
	return params{}.text("subject", q.Subject).flag("deleted", q.Deleted).page(q.Page)
}

// SubjectsByID lists the subjects that use an id.
func (c *Client) SubjectsByID(ctx context.Context, id int, q UsersQuery) ([]string, error) {
	v, err := get[[]string](ctx, c, q.params().on(c.path("schemas", "ids", strconv.Itoa(id), "subjects")))
	return v, failed(err, "list subjects of schema %d", id)
}

// VersionsByID lists the versions that use an id.
func (c *Client) VersionsByID(ctx context.Context, id int, q UsersQuery) ([]api.SubjectVersion, error) {
	v, err := get[[]api.SubjectVersion](ctx, c, q.params().on(c.path("schemas", "ids", strconv.Itoa(id), "versions")))
	return v, failed(err, "list versions of schema %d", id)
}

// SchemaByGUID returns the schema with a GUID, of whatever context, from a cache
// or the registry.
func (c *Client) SchemaByGUID(ctx context.Context, guid, format string) (api.SchemaString, error) {
	v, err := c.byIdentity(ctx, params{}.text("format", format).on(c.path("schemas", "guids", guid)), true)
	return v, failed(err, "read schema %q", guid)
}

// IDsByGUID lists the ids that a schema has in the contexts, none if the GUID
// is unknown.
func (c *Client) IDsByGUID(ctx context.Context, guid string) ([]api.ContextID, error) {
	v, err := get[[]api.ContextID](ctx, c, c.path("schemas", "guids", guid, "ids"))
	return v, failed(err, "list ids of schema %q", guid)
}
