package node

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"milena/registry/client"
	"milena/serde/schema"
)

// connectRegistry takes the registry of this process, or a remote one, which
// need not be there yet: /readyz says so until it is.
func (n *Node) connectRegistry() error {
	if n.lookup != nil {
		return nil
	}
	address := n.settings.String("registry-url")
	if address == "" {
		n.lookup = noRegistry{}
		return nil
	}
	c, err := client.New(client.Options{URL: address, Observer: n.metrics.RegistryClient()})
	if err != nil {
		return fmt.Errorf("--registry-url: %w", err)
	}
	n.metrics.RegistryCaches(c.Stats)
	n.parts.Add("registry client", func(context.Context) error { return c.Close() })
	n.admin.AddCheck("registry "+withoutPassword(address), c.Ready)
	n.lookup = c
	return nil
}

// withoutPassword names the registry in /readyz, which anyone may read.
func withoutPassword(addresses string) string {
	var out []string
	for _, a := range strings.Split(addresses, ",") {
		if u, err := url.Parse(strings.TrimSpace(a)); err == nil {
			u.User = nil
			out = append(out, u.String())
		}
	}
	return strings.Join(out, ",")
}

// noRegistry stands where nothing needs a registry unless a topic asks for
// validation itself: such a topic can't be produced to.
type noRegistry struct{}

var errNoRegistry = fmt.Errorf("%w: this gateway runs without one", schema.ErrUnavailable)

func (noRegistry) ByID(context.Context, string, int32) (schema.Resolved, error) {
	return schema.Resolved{}, errNoRegistry
}

func (noRegistry) ByGUID(context.Context, string) (schema.Resolved, error) {
	return schema.Resolved{}, errNoRegistry
}
