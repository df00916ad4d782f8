package node

import (
	"context"
	"path/filepath"

	"milena/broker"
	"milena/broker/catalog/sqlite"
	"milena/broker/journal"
	"milena/broker/journal/local"
	"milena/broker/journal/memory"
	"milena/cmd/internal/backend"
)

// localHolder names the gateway of this process in the broker's lease.
const localHolder = "gateway in the broker's process"

func (n *Node) startBroker(ctx context.Context) error {
	o := broker.Options{Logger: n.log, Observer: n.metrics.Broker()}
	if n.settings.Bool("dev") {
		o.Journal = memory.New(memory.Options{})
	} else {
		checkpoints, err := sqlite.Open(ctx, filepath.Join(n.dir(), "catalog.db"))
		if err != nil {
			return err
		}
		o.Catalog = checkpoints
		o.OpenJournal = func(from journal.Position) (journal.Journal, error) {
			return local.Open(local.Options{Dir: filepath.Join(n.dir(), "journal"), Checkpoint: from, Logger: n.log})
		}
	}
	if n.settings.Int("tail-cache-bytes") == 0 {
		o.TailBytesMax = -1
	}
	b, err := broker.Open(ctx, o)
	if err != nil {
		return err
	}
	n.broker = b
	n.parts.Add("broker", func(context.Context) error { return b.Close() })
	n.admin.AddCheck("broker", func(context.Context) error { return b.Ready() })
	if n.has(roleGateway) {
		lease, err := b.AcquireLease(localHolder)
		if err != nil {
			return err
		}
		n.parts.Add("lease", func(context.Context) error { lease.Release(); return nil })
		n.backend = backend.New(b)
	}
	return n.serveBroker(ctx)
}

// serveBroker opens the gRPC API.
func (n *Node) serveBroker(ctx context.Context) error {
	server, err := broker.NewServer(n.broker, broker.ServerOptions{Programs: n.programs, Logger: n.log})
	if err != nil {
		return err
	}
	l, err := n.listen(ctx, "broker-listen")
	if err != nil {
		return err
	}
	n.serve("broker API", l, server.Serve, func(ctx context.Context) error {
		server.Shutdown(ctx)
		return nil
	})
	n.bind("broker", l.Addr())
	n.say("broker", reachable(l.Addr()))
	return nil
}
