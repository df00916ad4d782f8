package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"milena/registry/api"
)

// registered is what is known of a content under a subject: the answer of a
// registration or of a look-up.
type registered struct {
	answer api.RegisterResponse
	found  api.Schema
}

// get reads what is at a path into a value of type V.
func get[V any](ctx context.Context, c *Client, path string) (V, error) {
	return change[V](ctx, c, &request{method: http.MethodGet, path: path})
}

// change sends a request and reads its answer into a value of type V.
func change[V any](ctx context.Context, c *Client, r *request) (V, error) {
	var v V
	if r.timeout == 0 {
		r.timeout = c.opt.RequestTimeout
	}
	err := c.fetch(ctx, r, &v)
	return v, err
}

// failed adds to an error what was tried.
func failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// Subjects lists names of subjects, sorted.
func (c *Client) Subjects(ctx context.Context, q SubjectsQuery) ([]string, error) {
	p := params{}.flag("deleted", q.Deleted).flag("deletedOnly", q.DeletedOnly).page(q.Page)
	if q.Prefix != nil {
		url.Values(p).Set("subjectPrefix", *q.Prefix)
	}
	v, err := get[[]string](ctx, c, p.on(c.path("subjects")))
	return v, failed(err, "list subjects")
}

// Versions lists the versions of a subject, ascending.
func (c *Client) Versions(ctx context.Context, subject string, q VersionsQuery) ([]int, error) {
	p := params{}.flag("deleted", q.Deleted).flag("deletedOnly", q.DeletedOnly).flag("deletedAsNegative", q.DeletedAsNegative).page(q.Page)
	v, err := get[[]int](ctx, c, p.on(c.path("subjects", subject, "versions")))
	return v, failed(err, "list versions of %q", subject)
}

// Latest is the version that stands for the highest live one.
const Latest = "latest"

// Version returns a version, a number or Latest, from a cache or the registry.
func (c *Client) Version(ctx context.Context, subject, version string, q VersionQuery) (api.Schema, error) {
	path := params{}.flag("deleted", q.Deleted).text("format", q.Format).
		text("referenceFormat", q.ReferenceFormat).list("findTags", q.FindTags).
		on(c.path("subjects", subject, "versions", version))
	kept := c.latest
	if _, err := strconv.ParseUint(version, 10, 31); err == nil {
		kept = c.versions
	}
	v, err := kept.get(ctx, path, func(ctx context.Context) (api.Schema, error) { return get[api.Schema](ctx, c, path) })
	return v, failed(err, "read version %s of %q", version, subject)
}

// VersionText returns the bare text of a version.
func (c *Client) VersionText(ctx context.Context, subject, version string, q VersionQuery) (string, error) {
	p := params{}.flag("deleted", q.Deleted).text("format", q.Format)
	text, err := c.text(ctx, p.on(c.path("subjects", subject, "versions", version, "schema")))
	return text, failed(err, "read text of version %s of %q", version, subject)
}

func (c *Client) text(ctx context.Context, path string) (string, error) {
	body, err := c.send(ctx, &request{method: http.MethodGet, path: path, timeout: c.opt.RequestTimeout})
	return string(body), err
}

// ReferencedBy lists the ids of the schemas that refer to a version.
func (c *Client) ReferencedBy(ctx context.Context, subject, version string, q ReferencedByQuery) ([]int, error) {
	p := params{}.flag("deleted", q.Deleted).page(q.Page)
	v, err := get[[]int](ctx, c, p.on(c.path("subjects", subject, "versions", version, "referencedby")))
	return v, failed(err, "list what refers to version %s of %q", version, subject)
}

// SubjectMetadata returns the highest version of a subject whose metadata has
// all the properties, from a cache or the registry.
func (c *Client) SubjectMetadata(ctx context.Context, subject string, q MetadataQuery) (api.Schema, error) {
	p := params{}.flag("deleted", q.Deleted).text("format", q.Format)
	for _, key := range sortedKeys(q.Properties) {
		url.Values(p).Add("key", key)
		url.Values(p).Add("value", q.Properties[key])
	}
	path := p.on(c.path("subjects", subject, "metadata"))
	v, err := c.latest.get(ctx, path, func(ctx context.Context) (api.Schema, error) { return get[api.Schema](ctx, c, path) })
	return v, failed(err, "find a version of %q by metadata", subject)
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Register registers a schema under a subject. The same content again is
// answered from a cache, unless the request names an id or version, changes
// tags, takes over the text of the latest version, or is forced.
func (c *Client) Register(ctx context.Context, subject string, req api.RegisterRequest, o RegisterOptions) (api.RegisterResponse, error) {
	r := &request{
		method: http.MethodPost, body: req,
		path: params{}.flag("normalize", o.Normalize).flag("force", o.Force).text("format", o.Format).
			on(c.path("subjects", subject, "versions")),
	}
	send := func(ctx context.Context) (registered, error) {
		answer, err := change[api.RegisterResponse](ctx, c, r)
		if err == nil {
			c.added()
		}
		return registered{answer: answer}, err
	}
	if o.Force || !plainContent(&req) {
		v, err := send(ctx)
		if err == nil {
			// It may have replaced a version.
			c.outdated()
		}
		return v.answer, failed(err, "register schema under %q", subject)
	}
	v, err := byContent(ctx, c, r, &req, send)
	return v.answer, failed(err, "register schema under %q", subject)
}

// plainContent reports whether registering the request twice is the same as
// once.
func plainContent(req *api.RegisterRequest) bool {
	for _, ref := range req.References {
		if ref.Version < 0 { // the latest version, which changes
			return false
		}
	}
	return req.Schema != nil && *req.Schema != "" && req.ID == nil && req.Version == nil &&
		len(req.SchemaTagsToAdd) == 0 && len(req.SchemaTagsToRemove) == 0 && !req.PropagateSchemaTags
}

// byContent asks the cache of subjects for what a request is answered with.
func byContent(ctx context.Context, c *Client, r *request, req *api.RegisterRequest, send func(context.Context) (registered, error)) (registered, error) {
	encoded, err := api.Marshal(req)
	if err != nil {
		return registered{}, err
	}
	sum := sha256.Sum256(encoded)
	return c.subjects.get(ctx, r.path+" "+hex.EncodeToString(sum[:]), send)
}

// Lookup finds the version of a subject with the content of the request, from a
// cache or the registry.
func (c *Client) Lookup(ctx context.Context, subject string, req api.RegisterRequest, o LookupOptions) (api.Schema, error) {
	r := &request{
		method: http.MethodPost, body: req,
		path: params{}.flag("normalize", o.Normalize).flag("deleted", o.Deleted).text("format", o.Format).
			on(c.path("subjects", subject)),
	}
	v, err := byContent(ctx, c, r, &req, func(ctx context.Context) (registered, error) {
		found, err := change[api.Schema](ctx, c, r)
		return registered{found: found}, err
	})
	return v.found, failed(err, "look up schema under %q", subject)
}

// DeleteSubject soft deletes the versions of a subject, or removes them for
// good, and returns their numbers.
func (c *Client) DeleteSubject(ctx context.Context, subject string, permanent bool) ([]int, error) {
	v, err := change[[]int](ctx, c, &request{
		method: http.MethodDelete, once: true, path: params{}.flag("permanent", permanent).on(c.path("subjects", subject)),
	})
	c.deleted()
	return v, failed(err, "delete %q", subject)
}

// DeleteVersion soft deletes a version, or removes it for good, and returns its
// number.
func (c *Client) DeleteVersion(ctx context.Context, subject, version string, permanent bool) (int, error) {
	v, err := change[int](ctx, c, &request{
		method: http.MethodDelete, once: true,
		path: params{}.flag("permanent", permanent).on(c.path("subjects", subject, "versions", version)),
	})
	c.deleted()
	return v, failed(err, "delete version %s of %q", version, subject)
}

// deleted drops what a deletion may have outdated: everything, as ids end too.
func (c *Client) deleted() { c.Flush() }

// ModifyTags makes a new version by changing tags, metadata or rules of
// another.
func (c *Client) ModifyTags(ctx context.Context, subject, version string, req api.TagsRequest) (api.RegisterResponse, error) {
	v, err := change[api.RegisterResponse](ctx, c, &request{
		method: http.MethodPost, once: true, body: req, path: c.path("subjects", subject, "versions", version, "tags"),
	})
	c.outdated()
	return v, failed(err, "change tags of version %s of %q", version, subject)
}

// Compatibility checks a schema against one version of a subject (a number or
// Latest), or with version "" against all that the subject's level asks for.
func (c *Client) Compatibility(ctx context.Context, subject, version string, req api.RegisterRequest, o CompatibilityOptions) (api.CompatibilityResponse, error) {
	segments := []string{"compatibility", "subjects", subject, "versions"}
	if version != "" {
		segments = append(segments, version)
	}
	v, err := change[api.CompatibilityResponse](ctx, c, &request{
		method: http.MethodPost, body: req,
		path: params{}.flag("normalize", o.Normalize).flag("verbose", o.Verbose).on(c.path(segments...)),
	})
	return v, failed(err, "check compatibility with %q", subject)
}
