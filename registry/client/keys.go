package client

import (
	"context"
	"net/http"

	"milena/registry/api"
)

// keks returns a path of the DEK registry.
func (c *Client) keks(segments ...string) string {
	return c.path(append([]string{"dek-registry", "v1", "keks"}, segments...)...)
}

// KeksQuery selects key encryption keys: those that wrap keys of subjects with
// one of the prefixes, or all.
type KeksQuery struct {
	Prefixes []string
	Deleted  bool // soft deleted ones too
	Page     Page
}

// Keks lists the names of key encryption keys.
func (c *Client) Keks(ctx context.Context, q KeksQuery) ([]string, error) {
	p := params{}.list("subjectPrefix", q.Prefixes).flag("deleted", q.Deleted).page(q.Page)
	v, err := get[[]string](ctx, c, p.on(c.keks()))
	return v, failed(err, "list key encryption keys")
}

// Kek returns a key encryption key.
func (c *Client) Kek(ctx context.Context, name string, deleted bool) (api.Kek, error) {
	v, err := get[api.Kek](ctx, c, params{}.flag("deleted", deleted).on(c.keks(name)))
	return v, failed(err, "read key %q", name)
}

// CreateKek creates a key encryption key; testSharing lets the registry try a
// shared one first.
func (c *Client) CreateKek(ctx context.Context, req api.KekRequest, testSharing bool) (api.Kek, error) {
	v, err := change[api.Kek](ctx, c, &request{
		method: http.MethodPost, once: true, body: req, path: params{}.flag("testSharing", testSharing).on(c.keks()),
	})
	return v, failed(err, "create key %q", req.Name)
}

// UpdateKek changes what the request gives of a key encryption key.
func (c *Client) UpdateKek(ctx context.Context, name string, req api.KekRequest) (api.Kek, error) {
	v, err := change[api.Kek](ctx, c, &request{method: http.MethodPut, body: req, path: c.keks(name)})
	return v, failed(err, "change key %q", name)
}

// DeleteKek soft deletes a key encryption key, or removes it for good.
func (c *Client) DeleteKek(ctx context.Context, name string, permanent bool) error {
	return failed(c.act(ctx, http.MethodDelete, permanent, params{}.flag("permanent", permanent).on(c.keks(name))), "delete key %q", name)
}

// UndeleteKek takes a soft deletion back.
func (c *Client) UndeleteKek(ctx context.Context, name string) error {
	return failed(c.act(ctx, http.MethodPost, false, c.keks(name, "undelete")), "undelete key %q", name)
}

// TestKek lets the registry try a shared key encryption key.
func (c *Client) TestKek(ctx context.Context, name string) (api.Kek, error) {
	v, err := change[api.Kek](ctx, c, &request{method: http.MethodPost, path: c.keks(name, "test")})
	return v, failed(err, "test key %q", name)
}

// act sends a request whose answer has no body.
func (c *Client) act(ctx context.Context, method string, once bool, path string) error {
	return c.fetch(ctx, &request{method: method, path: path, once: once, timeout: c.opt.RequestTimeout}, nil)
}

// DekQuery says which data encryption key is meant: Algorithm "" is AES256_GCM.
type DekQuery struct {
	Algorithm string
	Deleted   bool // even if soft deleted
}

func (q DekQuery) params() params {
	return params{}.text("algorithm", q.Algorithm).flag("deleted", q.Deleted)
}

// DekSubjects lists the subjects with keys under a key encryption key.
func (c *Client) DekSubjects(ctx context.Context, kek string, deleted bool, page Page) ([]string, error) {
	v, err := get[[]string](ctx, c, params{}.flag("deleted", deleted).page(page).on(c.keks(kek, "deks")))
	return v, failed(err, "list subjects of key %q", kek)
}

// CreateDek creates a version of a subject's data encryption key; rewrap wraps
// the key of an existing one again.
func (c *Client) CreateDek(ctx context.Context, kek string, req api.DekRequest, rewrap bool) (api.Dek, error) {
	v, err := change[api.Dek](ctx, c, &request{
		method: http.MethodPost, once: true, body: req,
		path: params{}.flag("rewrap", rewrap).on(c.keks(kek, "deks", req.Subject)),
	})
	return v, failed(err, "create key of %q", req.Subject)
}

// Dek returns a version of a subject's data encryption key, a number or Latest;
// "" is version 1.
func (c *Client) Dek(ctx context.Context, kek, subject, version string, q DekQuery) (api.Dek, error) {
	v, err := get[api.Dek](ctx, c, q.params().on(c.dek(kek, subject, version)))
	return v, failed(err, "read key of %q", subject)
}

func (c *Client) dek(kek, subject, version string) string {
	if version == "" {
		return c.keks(kek, "deks", subject)
	}
	return c.keks(kek, "deks", subject, "versions", version)
}

// DekVersions lists the versions of a subject's data encryption key.
func (c *Client) DekVersions(ctx context.Context, kek, subject string, q DekQuery, page Page) ([]int, error) {
	v, err := get[[]int](ctx, c, q.params().page(page).on(c.keks(kek, "deks", subject, "versions")))
	return v, failed(err, "list key versions of %q", subject)
}

// DeleteDek soft deletes a version of a subject's data encryption key, with ""
// all of them, or removes them for good.
func (c *Client) DeleteDek(ctx context.Context, kek, subject, version string, q DekQuery, permanent bool) error {
	p := params{}.text("algorithm", q.Algorithm).flag("permanent", permanent)
	return failed(c.act(ctx, http.MethodDelete, permanent, p.on(c.dek(kek, subject, version))), "delete key of %q", subject)
}

// UndeleteDek takes the soft deletion of a version back, with "" of all of them.
func (c *Client) UndeleteDek(ctx context.Context, kek, subject, version string, q DekQuery) error {
	p := params{}.text("algorithm", q.Algorithm)
	return failed(c.act(ctx, http.MethodPost, false, p.on(c.dek(kek, subject, version)+"/undelete")), "undelete key of %q", subject)
}
