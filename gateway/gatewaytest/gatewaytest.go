// Package gatewaytest starts a whole gateway in the test's process: on a free
// port of 127.0.0.1, with a broker in memory and a registry of the caller's or
// an empty one, so that any Kafka client library can be pointed at it.
//
// Not here: the broker and registry of the product, which cmd starts. It stands
// one row above package gateway and is imported by tests only.
//
// Start's Gateway owns what it starts and closes it with the test: first the
// listener drains, then the coordinator stops.
package gatewaytest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"milena/gateway"
	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/coordinator"
	"milena/gateway/envelope"
	"milena/gateway/kapi"
	"milena/serde"
	"milena/serde/schema"
)

// Options of a Gateway. The zero value works.
type Options struct {
	// Broker stores; memory.New if nil.
	Broker backend.Broker
	// Lookup is the registry; one without schemas if nil.
	Lookup schema.Lookup
	// Groups are the coordinator's options. The initial rebalance delay is none
	// if it is zero, so that tests don't wait for it.
	Groups coordinator.Options
	// Envelope, API and Server change the options of their parts, if not nil.
	Envelope func(*envelope.Options)
	API      func(*kapi.Options)
	Server   func(*gateway.Options)
}

// Gateway is a running gateway.
type Gateway struct {
	// Addr is HOST:PORT of its first listener.
	Addr string
	// Broker is what it stores in.
	Broker backend.Broker
	// Engine, Handlers and Server are its parts.
	Engine   *envelope.Engine
	Handlers *kapi.Server
	Server   *gateway.Server

	groups *coordinator.Coordinator
}

// Start starts a gateway and closes it when the test ends.
func Start(t testing.TB, o Options) *Gateway {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatalf("start gateway: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Errorf("close gateway: %v", err)
		}
	})
	return g
}

// New starts a gateway that the caller closes.
func New(o Options) (*Gateway, error) {
	if o.Broker == nil {
		o.Broker = memory.New(nil)
	}
	if o.Lookup == nil {
		o.Lookup = noSchemas{}
	}
	if o.Groups.Group.InitialRebalanceDelay == 0 {
		o.Groups.Group.InitialRebalanceDelay = -1
	}
	g := &Gateway{Broker: o.Broker}
	if err := g.newEngine(o); err != nil {
		return nil, err
	}
	g.groups = coordinator.New(o.Broker, o.Groups)
	if err := g.listen(o); err != nil {
		return nil, errors.Join(err, g.groups.Close(context.Background()))
	}
	return g, nil
}

func (g *Gateway) newEngine(o Options) error {
	programs, err := serde.NewPrograms(serde.ProgramsOptions{})
	if err != nil {
		return fmt.Errorf("new programs: %w", err)
	}
	resolver, err := serde.NewResolver(serde.ResolverOptions{Lookup: o.Lookup, Programs: programs})
	if err != nil {
		return fmt.Errorf("new resolver: %w", err)
	}
	eo := envelope.Options{Resolver: resolver, Programs: programs, Schemas: o.Broker}
	if o.Envelope != nil {
		o.Envelope(&eo)
	}
	if g.Engine, err = envelope.New(eo); err != nil {
		return fmt.Errorf("new engine: %w", err)
	}
	return nil
}

func (g *Gateway) listen(o Options) error {
	ao := kapi.Options{Broker: o.Broker, Groups: g.groups, Envelope: g.Engine}
	if o.API != nil {
		o.API(&ao)
	}
	var err error
	if g.Handlers, err = kapi.New(ao); err != nil {
		return fmt.Errorf("new handlers: %w", err)
	}
	so := gateway.Options{Handlers: g.Handlers, Listeners: []gateway.Listener{{Name: "TEST", Address: "127.0.0.1:0"}}}
	if o.Server != nil {
		o.Server(&so)
	}
	if g.Server, err = gateway.New(so); err != nil {
		return fmt.Errorf("new server: %w", err)
	}
	if err := g.Server.Start(); err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	g.Addr = g.Server.Addr(so.Listeners[0].Name).String()
	return nil
}

// Close drains and stops everything; calling it again does no harm.
func (g *Gateway) Close(ctx context.Context) error {
	return errors.Join(g.Server.Shutdown(ctx), g.groups.Close(ctx))
}

// noSchemas is a registry in which nothing was registered.
type noSchemas struct{}

func (noSchemas) ByID(_ context.Context, registryContext string, id int32) (schema.Resolved, error) {
	return schema.Resolved{}, fmt.Errorf("id %d in context %s: %w", id, registryContext, schema.ErrUnknown)
}

func (noSchemas) ByGUID(_ context.Context, guid string) (schema.Resolved, error) {
	return schema.Resolved{}, fmt.Errorf("guid %s: %w", guid, schema.ErrUnknown)
}
