package node

import (
	"context"
	"path/filepath"

	"milena/registry"
	"milena/registry/kms"
	"milena/registry/store"
	"milena/registry/store/memory"
	"milena/registry/store/sqlite"
)

// openRegistry opens the log and folds it.
func (n *Node) openRegistry(ctx context.Context) error {
	var log store.Log = memory.New()
	if !n.settings.Bool("dev") {
		var err error
		if log, err = sqlite.Open(ctx, filepath.Join(n.dir(), "registry.db")); err != nil {
			return err
		}
	}
	n.parts.Add("registry log", func(context.Context) error { return log.Close() })
	r, err := registry.Open(ctx, registry.Options{
		Log: log, Logger: n.log, Observer: n.metrics.Registry(),
		KMS: kms.Services{kms.Local{Secret: n.settings.String("local-kms-secret")}},
	})
	if err != nil {
		return err
	}
	n.registry = r
	n.parts.Add("registry", func(context.Context) error { return r.Close() })
	n.admin.AddCheck("registry", func(context.Context) error { return r.Ready() })
	n.lookup = r
	return nil
}
