package client

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"milena/registry/api"
	"milena/serde/schema"
)

var _ schema.Lookup = (*Client)(nil)

// Client asks a remote registry. Its methods may be called concurrently.
type Client struct {
	*shared
	prefix string // of scoped paths: "" or "/contexts/:.name:"
}

// shared is what the Clients of all contexts of one registry have in common.
type shared struct {
	opt     Options
	bases   []base
	http    *http.Client
	current atomic.Int64 // index of the URL that answered last
	health  health
	asked   atomic.Int64
	retried atomic.Int64
	failed  atomic.Int64

	references *cache[*found]
	ids        *cache[api.SchemaString]
	versions   *cache[api.Schema]
	latest     *cache[api.Schema]
	subjects   *cache[registered]
}

// New returns a Client. It connects to nothing yet.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	bases, err := o.bases()
	if err != nil {
		return nil, err
	}
	s := &shared{opt: o, bases: bases, http: &http.Client{Transport: o.Transport}}
	s.health.urls = make([]URLHealth, len(bases))
	for i := range bases {
		s.health.urls[i].URL = bases[i].url
	}
	s.references = newCache("references", &o, o.CacheTTL, 0, o.AttemptTimeout, func(f *found) int {
		return len(*f.Schema) + referenceBytes*len(f.References)
	})
	s.ids = newCache("ids", &o, o.IDsTTL, o.UnknownTTL, o.RequestTimeout, func(v api.SchemaString) int {
		return sizeOf(v.Schema, v.References, v.Metadata, v.RuleSet)
	})
	schemaSize := func(v api.Schema) int { return sizeOf(v.Schema, v.References, v.Metadata, v.RuleSet) }
	s.versions = newCache("versions", &o, o.CacheTTL, o.UnknownTTL, o.RequestTimeout, schemaSize)
	s.latest = newCache("latest", &o, o.LatestTTL, o.UnknownTTL, o.RequestTimeout, schemaSize)
	s.subjects = newCache("subjects", &o, o.SubjectsTTL, o.UnknownTTL, o.RequestTimeout, func(r registered) int {
		return schemaSize(r.found) + len(r.answer.Schema)
	})
	return &Client{shared: s}, nil
}

// InContext returns a Client for one context (".ctx", also written "ctx" or
// ":.ctx:"; "." is the default context), that shares connections, caches and
// everything else with c. Unqualified subjects are in that context, lists are of
// it only. The name "" gives what New returns: no context in the path, so that
// unqualified subjects are in the default context and GET /subjects lists all
// contexts.
func (c *Client) InContext(name string) *Client {
	if name == "" {
		return &Client{shared: c.shared}
	}
	name = "." + strings.TrimPrefix(strings.Trim(name, ":"), ".")
	return &Client{shared: c.shared, prefix: "/contexts/" + escape(":"+name+":")}
}

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Ready returns nil if the registry answers, else why not. It asks once.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.send(ctx, &request{method: http.MethodGet, path: "/schemas/types", attempts: 1, timeout: c.opt.AttemptTimeout})
	return lookupError(err)
}

// URLs returns the base URLs without credentials.
func (c *Client) URLs() []string {
	var out []string
	for _, b := range c.bases {
		out = append(out, b.url)
	}
	return out
}

// referenceBytes is what a reference counts in a cache.
const referenceBytes = 64

// sizeOf estimates the bytes that a schema takes in memory.
func sizeOf(text string, refs []api.Reference, m *api.Metadata, r *api.RuleSet) int {
	n := len(text) + referenceBytes*len(refs)
	if m != nil {
		for k, v := range m.Properties {
			n += len(k) + len(v) + referenceBytes
		}
		for k, tags := range m.Tags {
			n += len(k) + referenceBytes*(1+len(tags))
		}
		n += referenceBytes * len(m.Sensitive)
	}
	if r != nil {
		for _, rules := range [][]api.Rule{r.MigrationRules, r.DomainRules, r.EncodingRules} {
			for i := range rules {
				n += len(rules[i].Expr) + len(rules[i].Doc) + referenceBytes*(8+len(rules[i].Tags)+len(rules[i].Params))
			}
		}
	}
	return n
}

// waitMax is how long a question that several share may take at most.
func waitMax(o *Options, attempt time.Duration) time.Duration {
	return time.Duration(o.AttemptsMax) * (attempt + retryDelayMax)
}
