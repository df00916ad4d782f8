package gateway_test

import (
	"net"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway"
	"milena/gateway/backend/memory"
	"milena/gateway/gatewaytest"
	"milena/gateway/kapi"
)

func TestNamedListeners(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{Server: func(o *gateway.Options) {
		o.Listeners = []gateway.Listener{
			{Name: "IN", Address: "127.0.0.1:0"},
			{Name: "OUT", Address: "127.0.0.1:0", Advertise: "kafka.example:19092"},
		}
	}})
	for name, host := range map[string]string{"IN": "127.0.0.1", "OUT": "kafka.example"} {
		addr := g.Server.Addr(name)
		b := dial(t, addr.String()).ask(9, metadata(false)).(*kmsg.MetadataResponse).Brokers[0]
		port := int32(addr.(*net.TCPAddr).Port)
		if name == "OUT" {
			port = 19092
		}
		if b.Host != host || b.Port != port {
			t.Errorf("%s: broker at %s:%d, want %s:%d", name, b.Host, b.Port, host, port)
		}
	}
	if g.Server.Addr("NONE") != nil {
		t.Error("address of a listener that isn't there")
	}
}

func TestPortInUse(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{})
	_, err := gatewaytest.New(gatewaytest.Options{Server: func(o *gateway.Options) {
		o.Listeners = []gateway.Listener{{Name: "FREE", Address: "127.0.0.1:0"}, {Name: "TAKEN", Address: g.Addr}}
	}})
	if err == nil || !strings.Contains(err.Error(), "TAKEN") {
		t.Errorf("start: %v", err)
	}
}

func TestOptions(t *testing.T) {
	handlers, err := kapi.New(kapi.Options{Broker: memory.New(nil)})
	if err != nil {
		t.Fatal(err)
	}
	l := []gateway.Listener{{Name: "A", Address: ":0"}}
	for name, o := range map[string]gateway.Options{
		"no handlers":    {Listeners: l},
		"no listeners":   {Handlers: handlers},
		"one name twice": {Handlers: handlers, Listeners: append(l, l[0])},
		"bad address":    {Handlers: handlers, Listeners: []gateway.Listener{{Name: "A", Address: "x"}}},
		"connections":    {Handlers: handlers, Listeners: l, ConnectionsMax: -1},
		"frame bytes":    {Handlers: handlers, Listeners: l, FrameBytesMax: -1},
		"in flight":      {Handlers: handlers, Listeners: l, InFlightMax: -1},
		"memory":         {Handlers: handlers, Listeners: l, ResponseBytesMax: -1},
		"timeouts":       {Handlers: handlers, Listeners: l, IdleTimeout: -1},
	} {
		if _, err := gateway.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
