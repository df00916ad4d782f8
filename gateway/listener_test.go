package gateway

import (
	"net"
	"testing"
)

func TestParseListener(t *testing.T) {
	for _, c := range []struct {
		text string
		want Listener
		ok   bool
	}{
		{"127.0.0.1:9092", Listener{"PLAINTEXT", "127.0.0.1:9092", ""}, true},
		{":9092", Listener{"PLAINTEXT", ":9092", ""}, true},
		{"[::1]:0", Listener{"PLAINTEXT", "[::1]:0", ""}, true},
		{"IN=:9092", Listener{"IN", ":9092", ""}, true},
		{"OUT=0.0.0.0:9093@kafka.example:19093", Listener{"OUT", "0.0.0.0:9093", "kafka.example:19093"}, true},
		{":9092@localhost:0", Listener{"PLAINTEXT", ":9092", "localhost:0"}, true},
		{"", Listener{}, false},
		{"9092", Listener{}, false},
		{":http", Listener{}, false},
		{":65536", Listener{}, false},
		{"=:9092", Listener{}, false},
		{"A B=:9092", Listener{}, false},
		{":9092@", Listener{}, false},
		{":9092@:9092", Listener{}, false},
		{":9092@0.0.0.0:9092", Listener{}, false},
		{":9092@kafka.example", Listener{}, false},
	} {
		got, err := ParseListener(c.text)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
}

func TestAdvertised(t *testing.T) {
	tcp := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	bound := tcp("0.0.0.0", 9092)
	for _, c := range []struct {
		listener Listener
		local    net.Addr
		host     string
		port     int32
	}{
		{Listener{}, tcp("10.0.0.7", 9092), "10.0.0.7", 9092},
		{Listener{}, tcp("::1", 9092), "::1", 9092},
		{Listener{}, &net.UnixAddr{}, "localhost", 9092},
		{Listener{Advertise: "kafka.example:19092"}, tcp("10.0.0.7", 9092), "kafka.example", 19092},
		{Listener{Advertise: "kafka.example:0"}, tcp("10.0.0.7", 9092), "kafka.example", 9092},
	} {
		if host, port := c.listener.advertised(bound, c.local); host != c.host || port != c.port {
			t.Errorf("%+v at %v: %s:%d, want %s:%d", c.listener, c.local, host, port, c.host, c.port)
		}
	}
}
