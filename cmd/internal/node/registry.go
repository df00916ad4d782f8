package node

import (
	"context"

	"milena/registry/rest"
)

// startRegistry folds the log and opens the REST API.
func (n *Node) startRegistry(ctx context.Context) error {
	if err := n.openRegistry(ctx); err != nil {
		return err
	}
	server, err := rest.New(n.registry, rest.Options{Logger: n.log, Observer: n.metrics.REST(), Version: n.version, NoRemoteImport: !n.settings.Bool("remote-import")})
	if err != nil {
		return err
	}
	l, err := n.listen(ctx, "registry-listen")
	if err != nil {
		return err
	}
	n.serve("registry API", l, server.Serve, server.Shutdown)
	n.bind("registry", l.Addr())
	n.say("registry", "http://"+reachable(l.Addr()))
	return nil
}
