package kapi

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/coordinator"
	"milena/gateway/envelope"
	groups "milena/gateway/group"
	"milena/serde"
	"milena/serde/schema"
)

// newServer returns a server over a broker in memory, with every row served.
func newServer(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Broker == nil {
		o.Broker = memory.New(o.Clock)
	}
	if o.Groups == nil {
		o.Groups = coordinator.New(o.Broker, coordinator.Options{Group: groups.Config{InitialRebalanceDelay: -1}})
		t.Cleanup(func() {
			if err := o.Groups.Close(context.Background()); err != nil {
				t.Errorf("close coordinator: %v", err)
			}
		})
	}
	if o.Envelope == nil {
		o.Envelope = newEngine(t, o.Broker)
	}
	s, err := New(o)
	if err != nil {
		t.Fatalf("new server: %v", err)
	}
	return s
}

// newBareServer has neither groups nor envelopes.
func newBareServer(t *testing.T) *Server {
	t.Helper()
	s, err := New(Options{Broker: memory.New(nil)})
	if err != nil {
		t.Fatalf("new server: %v", err)
	}
	return s
}

func newEngine(t *testing.T, b backend.Broker) *envelope.Engine {
	t.Helper()
	programs, err := serde.NewPrograms(serde.ProgramsOptions{})
	if err != nil {
		t.Fatalf("new programs: %v", err)
	}
	resolver, err := serde.NewResolver(serde.ResolverOptions{Lookup: noSchemas{}, Programs: programs})
	if err != nil {
		t.Fatalf("new resolver: %v", err)
	}
	e, err := envelope.New(envelope.Options{Resolver: resolver, Programs: programs, Schemas: b})
	if err != nil {
		t.Fatalf("new engine: %v", err)
	}
	return e
}

// noSchemas is a registry in which nothing was registered.
type noSchemas struct{}

func (noSchemas) ByID(context.Context, string, int32) (schema.Resolved, error) {
	return schema.Resolved{}, fmt.Errorf("by id: %w", schema.ErrUnknown)
}

func (noSchemas) ByGUID(context.Context, string) (schema.Resolved, error) {
	return schema.Resolved{}, fmt.Errorf("by guid: %w", schema.ErrUnknown)
}

// ask sends a request of the version through the table to its handler.
func ask(t *testing.T, s *Server, version int16, msg kmsg.Request) kmsg.Response {
	t.Helper()
	resp, err := tryAsk(s, version, msg)
	if err != nil {
		t.Fatalf("ask: %v", err)
	}
	return resp
}

func tryAsk(s *Server, version int16, msg kmsg.Request) (kmsg.Response, error) {
	msg.SetVersion(version)
	api, verdict := s.Lookup(msg.Key(), version)
	if verdict != Served {
		return nil, fmt.Errorf("%s v%d isn't served", kmsg.NameForKey(msg.Key()), version)
	}
	req := &Request{Msg: msg, ClientID: "test", Conn: &Conn{
		Listener:       "TEST",
		Local:          &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 9092},
		Remote:         &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 50000},
		AdvertisedHost: "gateway.example",
		AdvertisedPort: 9093,
	}}
	defer req.Written()
	return s.Handle(context.Background(), api, req)
}

func apiVersionsRequest() *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "test", "1.0"
	return req
}

// mustCreate creates a topic in the server's broker.
func mustCreate(t *testing.T, s *Server, name string, partitions int32, configs map[string]string) backend.Topic {
	t.Helper()
	topic, err := s.broker.CreateTopic(context.Background(), backend.TopicSpec{Name: name, Partitions: partitions, Configs: configs})
	if err != nil {
		t.Fatalf("create topic: %v", err)
	}
	return topic
}
