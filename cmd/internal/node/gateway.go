package node

import (
	"context"
	"fmt"
	"os"
	"strings"

	"milena/broker/client"
	"milena/cmd/internal/backend"
	"milena/gateway"
	"milena/gateway/coordinator"
	"milena/gateway/envelope"
	"milena/gateway/group"
	"milena/gateway/kapi"
	"milena/serde"
)

func (n *Node) startGateway(ctx context.Context) error {
	if err := n.connectBroker(); err != nil {
		return err
	}
	if err := n.connectRegistry(); err != nil {
		return err
	}
	modes := envelope.Options{}
	var err error
	if modes.ValueMode, err = envelope.ParseMode(n.settings.String("validation")); err != nil {
		return fmt.Errorf("--validation: %w", err)
	}
	if modes.KeyMode, err = envelope.ParseMode(n.settings.String("key-validation")); err != nil {
		return fmt.Errorf("--key-validation: %w", err)
	}
	engine, err := n.engine(modes)
	if err != nil {
		return err
	}
	delay := n.settings.Duration("group-initial-rebalance-delay")
	if delay == 0 {
		delay = -1 // group.Config: none
	}
	groups := coordinator.New(n.backend, coordinator.Options{
		Group:    group.Config{InitialRebalanceDelay: delay},
		Logger:   n.log,
		Observer: n.metrics.Groups(),
	})
	handlers, err := kapi.New(kapi.Options{
		Broker: n.backend, Groups: groups, Envelope: engine, Logger: n.log,
		AutoCreateOff:     !n.settings.Bool("auto-create-topics"),
		DefaultPartitions: int32(n.settings.Int("default-partitions")),
		KeyMode:           modes.KeyMode, ValueMode: modes.ValueMode,
	})
	if err != nil {
		return err
	}
	server, err := gateway.New(gateway.Options{Handlers: handlers, Listeners: n.listeners, Logger: n.log, Observer: n.metrics.Gateway()})
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("--kafka-listen: %w", err)
	}
	// Stopped in reverse: connections drain while the groups still answer.
	n.parts.Add("groups", groups.Close)
	n.parts.Add("gateway", server.Shutdown)
	for _, l := range n.listeners {
		n.bind("kafka", server.Addr(l.Name))
		address := reachable(server.Addr(l.Name))
		if l.Advertise != "" {
			address += " advertised as " + l.Advertise
		}
		n.say("kafka", fmt.Sprintf("%s (%s)", address, l.Name))
	}
	return nil
}

// kafkaListeners reads --kafka-listen and gives listeners without an address of
// their own the one of --kafka-advertise.
func (n *Node) kafkaListeners() ([]gateway.Listener, error) {
	var out []gateway.Listener
	names := map[string]bool{}
	for _, text := range n.settings.List("kafka-listen") {
		if advertise := n.settings.String("kafka-advertise"); advertise != "" && !strings.Contains(text, "@") {
			text += "@" + advertise
		}
		l, err := gateway.ParseListener(text)
		if err != nil {
			return nil, fmt.Errorf("--kafka-listen: %w", err)
		}
		if names[l.Name] {
			return nil, fmt.Errorf("--kafka-listen: two listeners are named %s: give each a name of its own, NAME=LISTEN@ADVERTISE", l.Name)
		}
		names[l.Name] = true
		out = append(out, l)
	}
	return out, nil
}

// connectBroker takes the broker of this process, or connects to a remote one,
// which need not be there yet: /readyz says so until it is.
func (n *Node) connectBroker() error {
	if n.backend != nil {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = "gateway"
	}
	c, err := client.New(client.Options{Address: n.settings.String("broker"), Holder: fmt.Sprintf("%s/%d", host, os.Getpid()), Logger: n.log})
	if err != nil {
		return fmt.Errorf("--broker: %w", err)
	}
	n.parts.Add("broker client", func(context.Context) error { return c.Close() })
	n.admin.AddCheck("broker "+n.settings.String("broker"), func(context.Context) error { return c.Ready() })
	n.backend = backend.New(c)
	return nil
}

// engine builds the envelope engine with the modes of o.
func (n *Node) engine(o envelope.Options) (*envelope.Engine, error) {
	o.Programs, o.Schemas, o.Observer = n.programs, n.backend, n.metrics.Envelope()
	resolver, err := serde.NewResolver(serde.ResolverOptions{Lookup: n.lookup, Programs: n.programs})
	if err != nil {
		return nil, err
	}
	o.Resolver = resolver
	if size := n.settings.Int("tail-cache-bytes"); size == 0 {
		o.TailOff = true
	} else {
		o.TailBytesMax = int(size)
	}
	return envelope.New(o)
}
