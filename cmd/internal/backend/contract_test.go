package backend_test

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"milena/broker"
	"milena/broker/catalog"
	catalogmemory "milena/broker/catalog/memory"
	"milena/broker/catalog/sqlite"
	"milena/broker/client"
	"milena/broker/journal"
	"milena/broker/journal/local"
	journalmemory "milena/broker/journal/memory"
	"milena/cmd/internal/backend"
	gateway "milena/gateway/backend"
	"milena/gateway/backend/backendtest"
)

// options returns a broker's, with small limits so that checkpoints and the
// journal are at work.
func options(o broker.Options) broker.Options {
	o.Logger = slog.New(slog.DiscardHandler)
	o.CheckpointInterval = 20 * time.Millisecond
	return o
}

func onDisk(t *testing.T, dir string) broker.Options {
	t.Helper()
	store, err := sqlite.Open(context.Background(), filepath.Join(dir, "checkpoints.db"))
	if err != nil {
		t.Fatal(err)
	}
	return options(broker.Options{
		Catalog: store,
		OpenJournal: func(from journal.Position) (journal.Journal, error) {
			return local.Open(local.Options{Dir: filepath.Join(dir, "journal"), Checkpoint: from, SegmentBytes: 1 << 20})
		},
	})
}

func open(t *testing.T, o broker.Options) *broker.Broker {
	t.Helper()
	b, err := broker.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeBroker(t, b) })
	return b
}

func closeBroker(t *testing.T, b *broker.Broker) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Errorf("close broker: %v", err)
	}
}

func TestInMemory(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backendtest.Fixture {
		b := open(t, options(broker.Options{Journal: journalmemory.New(journalmemory.Options{}), Catalog: new(catalogmemory.Store)}))
		return backendtest.Fixture{Broker: backend.New(b)}
	})
}

func TestOnDisk(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backendtest.Fixture {
		dir := t.TempDir()
		b := open(t, onDisk(t, dir))
		return backendtest.Fixture{
			Broker: backend.New(b),
			Restart: func(t *testing.T) gateway.Broker {
				closeBroker(t, b)
				return backend.New(open(t, onDisk(t, dir)))
			},
		}
	})
}

// TestOnDiskWithoutTail reads everything from the journal, and restarts from
// the journal alone.
func TestOnDiskWithoutTail(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backendtest.Fixture {
		dir := t.TempDir()
		bare := func(t *testing.T) *broker.Broker {
			j, err := local.Open(local.Options{Dir: filepath.Join(dir, "journal"), SegmentBytes: 64 << 10})
			if err != nil {
				t.Fatal(err)
			}
			return open(t, options(broker.Options{Journal: j, Catalog: catalog.Store(nil), TailBytesMax: -1}))
		}
		b := bare(t)
		return backendtest.Fixture{
			Broker: backend.New(b),
			Restart: func(t *testing.T) gateway.Broker {
				closeBroker(t, b)
				return backend.New(bare(t))
			},
		}
	})
}

// serve serves b on a free port and returns the address.
func serve(t *testing.T, b *broker.Broker, o broker.ServerOptions) string {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	s, err := broker.NewServer(b, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}

func dial(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return c
}

// ready waits until the client can be used.
func ready(t *testing.T, c *client.Client) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); c.Ready() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not ready: %v", c.Ready())
		}
	}
}

func TestRemote(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backendtest.Fixture {
		dir := t.TempDir()
		start := func(t *testing.T, b *broker.Broker) gateway.Broker {
			// Pieces so small that every batch comes in several.
			c := dial(t, client.Options{Address: serve(t, b, broker.ServerOptions{PieceBytes: 40}), Holder: "test", PieceBytes: 30})
			ready(t, c)
			return backend.New(c)
		}
		b := open(t, onDisk(t, dir))
		return backendtest.Fixture{
			Broker: start(t, b),
			Restart: func(t *testing.T) gateway.Broker {
				closeBroker(t, b)
				return start(t, open(t, onDisk(t, dir)))
			},
		}
	})
}
