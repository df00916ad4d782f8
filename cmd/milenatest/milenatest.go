// Package milenatest starts a whole Milena inside a Go test: registry, Kafka
// gateway and broker in memory, on free ports of 127.0.0.1, with topics and
// schemas that are there from the start. Any Kafka client and any serializer
// can be pointed at it. Start takes a fraction of a second, and every test may
// have a Milena of its own.
//
//	func TestOrders(t *testing.T) {
//		m := milenatest.Start(t, milenatest.Options{
//			Topics:  []milenatest.Topic{{Name: "orders"}},
//			Schemas: []milenatest.Schema{{Subject: "orders-value", Text: `"string"`}},
//		})
//		client, err := kgo.NewClient(kgo.SeedBrokers(m.Kafka))
//		…
//	}
//
// It is what `milena serve --dev` runs, so nothing of it is a stand-in but the
// memory, which takes the place of disks. It is for tests only: nothing
// survives it, and nothing is bounded by less than a server's limits.
//
// A Milena owns its goroutines and ends all of them with Close, which Start
// calls at the end of the test. Its methods and fields may be used by several
// goroutines.
package milenatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"milena/cmd/internal/config"
	"milena/cmd/internal/node"
	"milena/gateway/backend"
	"milena/registry"
	"milena/registry/api"
)

// Options say what a Milena has from the start. The zero value starts one that
// is empty.
type Options struct {
	// Topics are created in this order. Others may come into being when a
	// client asks for them, as with `milena serve`.
	Topics []Topic
	// Schemas are registered in this order, so those that others refer to come
	// first.
	Schemas []Schema
	// Settings are settings of `milena serve` by the names of their flags, such
	// as "validation": "strict". By default clients don't wait for the first
	// rebalance of a group, and ports are free ones.
	Settings map[string]string
	// Logger gets what the server logs; default nothing.
	Logger *slog.Logger
}

// Topic is a topic that is there from the start.
type Topic struct {
	Name       string
	Partitions int32             // default 1
	Config     map[string]string // such as "cleanup.policy": "compact"
}

// Schema is a version of a subject that is there from the start.
type Schema struct {
	Subject    string
	Type       string // "AVRO" (default), "JSON" or "PROTOBUF"
	Text       string
	References []Reference
}

// Reference says which registered schema stands behind a name in a text.
type Reference struct {
	Name    string
	Subject string
	Version int
}

// Milena is a running registry, gateway and broker. The zero value is none.
type Milena struct {
	// Kafka is HOST:PORT of the Kafka port.
	Kafka string
	// RegistryURL is the base URL of the registry's REST API.
	RegistryURL string
	// Broker is HOST:PORT of the broker's gRPC API.
	Broker string
	// AdminURL is the base URL of /livez, /readyz and /metrics.
	AdminURL string

	ids  map[string]int // by subject
	node *node.Node
}

// closeTimeout is how long a Milena may take to stop.
const closeTimeout = 10 * time.Second

// Start starts a Milena and stops it when the test has ended. It fails the test
// if it can't.
func Start(t testing.TB, o Options) *Milena {
	t.Helper()
	m, err := New(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatalf("start milena: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			t.Errorf("stop milena: %v", err)
		}
	})
	return m
}

// New starts a Milena that the caller closes: for what has no testing.TB, such
// as examples and TestMain.
func New(ctx context.Context, o Options) (*Milena, error) {
	settings, err := o.settings()
	if err != nil {
		return nil, err
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	n, err := node.Start(ctx, settings, node.Options{Version: "test", Log: log, Out: io.Discard})
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	m := &Milena{
		Kafka: n.Addr("kafka"), Broker: n.Addr("broker"),
		RegistryURL: "http://" + n.Addr("registry"), AdminURL: "http://" + n.Addr("admin"),
		ids: map[string]int{}, node: n,
	}
	if err := m.load(ctx, o); err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		return nil, errors.Join(err, m.Close(stop))
	}
	return m, nil
}

// settings returns the settings of the process; the environment of the test
// has no say in them.
func (o *Options) settings() (*config.Values, error) {
	values := map[string]string{
		"dev": "true", "group-initial-rebalance-delay": "0s",
		"registry-listen": "127.0.0.1:0", "kafka-listen": "127.0.0.1:0", "broker-listen": "127.0.0.1:0", "admin-listen": "127.0.0.1:0",
	}
	maps.Copy(values, o.Settings)
	flags := pflag.NewFlagSet("milenatest", pflag.ContinueOnError)
	config.Define(flags, config.Serve)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := flags.Set(name, values[name]); err != nil {
			return nil, fmt.Errorf("setting %s: %w", name, err)
		}
	}
	settings, err := config.Load(flags, nil, config.Serve)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return settings, nil
}

// load creates topics and registers schemas.
func (m *Milena) load(ctx context.Context, o Options) error {
	if len(o.Topics) > 0 && m.node.Backend() == nil || len(o.Schemas) > 0 && m.node.Registry() == nil {
		return errors.New("topics and schemas need the roles that keep them")
	}
	for _, t := range o.Topics {
		spec := backend.TopicSpec{Name: t.Name, Partitions: max(t.Partitions, 1), Configs: t.Config}
		if _, err := m.node.Backend().CreateTopic(ctx, spec); err != nil {
			return fmt.Errorf("create topic %s: %w", t.Name, err)
		}
	}
	for _, s := range o.Schemas {
		req := api.RegisterRequest{Schema: &s.Text}
		if s.Type != "" {
			req.SchemaType = &s.Type
		}
		for _, r := range s.References {
			req.References = append(req.References, api.Reference(r))
		}
		answer, err := m.node.Registry().Register(ctx, s.Subject, req, registry.RegisterOptions{})
		if err != nil {
			return fmt.Errorf("register schema of %s: %w", s.Subject, err)
		}
		m.ids[s.Subject] = answer.ID
	}
	return nil
}

// ID returns the id of the last schema that Options registered under a subject,
// 0 if there is none.
func (m *Milena) ID(subject string) int { return m.ids[subject] }

// Close drains and stops everything. When ctx ends first, what still runs is
// cut off.
func (m *Milena) Close(ctx context.Context) error { return m.node.Stop(ctx) }
