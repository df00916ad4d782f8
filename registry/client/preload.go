package client

import (
	"context"
	"strconv"

	"milena/registry/api"
	"milena/serde/schema"
)

// PreloadOptions select what Preload reads.
type PreloadOptions struct {
	// Prefix is of qualified subjects; "" is the default context, or the
	// Client's, and ":*:" all contexts.
	Prefix string
	// SchemasMax is how many versions are read at most; default
	// Options.CacheEntriesMax, more would push each other out.
	SchemasMax int
}

// preloadPage is how many versions are read at once: what registries give at
// most.
const preloadPage = 1_000

// Preload fills the caches with live versions, so that the first use of a
// schema need not wait, and returns how many it read. What it read before an
// error is kept.
func (c *Client) Preload(ctx context.Context, o PreloadOptions) (int, error) {
	if o.SchemasMax <= 0 {
		o.SchemasMax = c.opt.CacheEntriesMax
	}
	read := 0
	var previous api.Schema
	for read < o.SchemasMax {
		page := Page{Offset: read, Limit: min(preloadPage, o.SchemasMax-read)}
		list, err := c.Schemas(ctx, SchemasQuery{Prefix: o.Prefix, Page: page})
		if err != nil {
			return read, failed(err, "preload schemas")
		}
		for _, v := range list {
			if read > 0 && previous.Subject != v.Subject {
				c.preloadLatest(previous)
			}
			c.preloadVersion(v)
			previous = v
			read++
		}
		// A subject that was cut by the limit has a later version, perhaps.
		if len(list) < page.Limit {
			if read > 0 {
				c.preloadLatest(previous)
			}
			break
		}
	}
	return read, nil
}

// preloadVersion keeps a version under the paths by which it is asked for.
func (c *Client) preloadVersion(v api.Schema) {
	in := contextOf(v.Subject, schema.DefaultContext)
	byID := api.SchemaString{
		Subject: v.Subject, Version: v.Version, ID: &v.ID, GUID: v.GUID, SchemaType: v.SchemaType, References: v.References,
		Metadata: v.Metadata, RuleSet: v.RuleSet, Schema: v.Schema, Timestamp: v.Timestamp, Deleted: v.Deleted,
	}
	c.ids.put(scope(in)+"/schemas/ids/"+strconv.Itoa(v.ID), byID)
	if in == c.context() && c.prefix != "" {
		c.ids.put(c.path("schemas", "ids", strconv.Itoa(v.ID)), byID)
	}
	c.versions.put(c.path("subjects", v.Subject, "versions", strconv.Itoa(v.Version)), v)
	c.references.put(referencePath(in, v.Subject, v.Version), &found{Schema: &v.Schema, SchemaType: v.SchemaType, References: v.References})
	if plain := unqualified(v.Subject); in == c.context() && plain != v.Subject {
		c.versions.put(c.path("subjects", plain, "versions", strconv.Itoa(v.Version)), v)
	}
}

func (c *Client) preloadLatest(v api.Schema) {
	c.latest.put(c.path("subjects", v.Subject, "versions", Latest), v)
	if plain := unqualified(v.Subject); contextOf(v.Subject, schema.DefaultContext) == c.context() && plain != v.Subject {
		c.latest.put(c.path("subjects", plain, "versions", Latest), v)
	}
}

// unqualified returns a subject without its context.
func unqualified(subject string) string {
	in := contextOf(subject, "")
	if in == "" {
		return subject
	}
	rest := subject[len(in)+1:]
	if rest == "" {
		return rest
	}
	return rest[1:]
}
