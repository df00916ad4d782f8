package client

import (
	"context"
	"net/http"

	"milena/registry/api"
)

// settings returns the path of the config or the mode of a subject, or with ""
// of the context or the whole registry.
func (c *Client) settings(what, subject string) string {
	if subject == "" {
		return c.path(what)
	}
	return c.path(what, subject)
}

// of says whose settings are meant, for errors.
func of(subject string) string {
	if subject == "" {
		return ""
	}
	return " of " + subject
}

// Config returns the config of a subject, or with "" that of the context or the
// registry. With effective it is the one that counts, wherever it is set;
// without, a subject without its own is errcode.CompatibilityNotSet.
func (c *Client) Config(ctx context.Context, subject string, effective bool) (api.Config, error) {
	v, err := get[api.Config](ctx, c, params{}.flag("defaultToGlobal", effective).on(c.settings("config", subject)))
	return v, failed(err, "read config%s", of(subject))
}

// SetConfig changes what the request gives and returns the whole config in
// request form.
func (c *Client) SetConfig(ctx context.Context, subject string, req api.ConfigRequest) (api.ConfigRequest, error) {
	v, err := change[api.ConfigRequest](ctx, c, &request{method: http.MethodPut, body: req, path: c.settings("config", subject)})
	c.outdated()
	return v, failed(err, "set config%s", of(subject))
}

// DeleteConfig removes a config and returns it.
func (c *Client) DeleteConfig(ctx context.Context, subject string) (api.Config, error) {
	v, err := change[api.Config](ctx, c, &request{method: http.MethodDelete, once: true, path: c.settings("config", subject)})
	c.outdated()
	return v, failed(err, "delete config%s", of(subject))
}

// Mode returns the mode of a subject, or with "" that of the context or the
// registry. With effective it is the one that counts, wherever it is set;
// without, a subject without its own is errcode.ModeNotSet.
func (c *Client) Mode(ctx context.Context, subject string, effective bool) (api.Mode, error) {
	v, err := get[api.Mode](ctx, c, params{}.flag("defaultToGlobal", effective).on(c.settings("mode", subject)))
	return v, failed(err, "read mode%s", of(subject))
}

// SetMode sets a mode; force allows IMPORT although there are schemas.
func (c *Client) SetMode(ctx context.Context, subject, mode string, force bool) (api.Mode, error) {
	v, err := change[api.Mode](ctx, c, &request{
		method: http.MethodPut, body: api.ModeRequest{Mode: api.Given(mode)},
		path: params{}.flag("force", force).on(c.settings("mode", subject)),
	})
	// Entering IMPORT removes soft deleted versions for good.
	c.deleted()
	return v, failed(err, "set mode%s", of(subject))
}

// DeleteMode removes a mode and returns it; recursive also removes those of the
// subjects of a context.
func (c *Client) DeleteMode(ctx context.Context, subject string, recursive bool) (api.Mode, error) {
	v, err := change[api.Mode](ctx, c, &request{
		method: http.MethodDelete, once: true, path: params{}.flag("recursive", recursive).on(c.settings("mode", subject)),
	})
	c.outdated()
	return v, failed(err, "delete mode%s", of(subject))
}

// Contexts lists contexts, "." first.
func (c *Client) Contexts(ctx context.Context, q ContextsQuery) ([]string, error) {
	v, err := get[[]string](ctx, c, params{}.text("contextPrefix", q.Prefix).page(q.Page).on(c.path("contexts")))
	return v, failed(err, "list contexts")
}

// DeleteContext removes a context without versions from the list of contexts.
func (c *Client) DeleteContext(ctx context.Context, name string) error {
	err := c.fetch(ctx, &request{
		method: http.MethodDelete, path: "/contexts/" + escape(name), timeout: c.opt.RequestTimeout,
	}, nil)
	return failed(err, "delete context %q", name)
}

// ServerID returns the clusters that the registry says it belongs to.
func (c *Client) ServerID(ctx context.Context) (api.ServerID, error) {
	v, err := get[api.ServerID](ctx, c, "/v1/metadata/id")
	return v, failed(err, "read id of the registry")
}

// ServerVersion returns the version of the registry.
func (c *Client) ServerVersion(ctx context.Context) (api.ServerVersion, error) {
	v, err := get[api.ServerVersion](ctx, c, "/v1/metadata/version")
	return v, failed(err, "read version of the registry")
}

// Deployment returns how the registry is deployed.
func (c *Client) Deployment(ctx context.Context) (api.Deployment, error) {
	v, err := get[api.Deployment](ctx, c, "/v1/metadata/deployment")
	return v, failed(err, "read deployment of the registry")
}

// Ping asks the registry's root, as health probes do.
func (c *Client) Ping(ctx context.Context) error {
	err := c.fetch(ctx, &request{method: http.MethodGet, path: "/", timeout: c.opt.RequestTimeout}, nil)
	return failed(err, "ask registry")
}
