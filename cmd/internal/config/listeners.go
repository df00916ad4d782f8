package config

import (
	"fmt"
	"strings"
)

// Listener is one Kafka listener: a name, the address to bind and the address
// that clients are told, empty for the one they connected to.
type Listener struct {
	Name      string
	Listen    string
	Advertise string
}

// Listeners parses the values of --kafka-listen, each HOST:PORT or
// NAME=LISTEN@ADVERTISE, and gives those without an address of their own the
// one of --kafka-advertise.
func Listeners(values []string, advertise string) ([]Listener, error) {
	var out []Listener
	seen := map[string]bool{}
	for _, v := range values {
		l := Listener{Name: "default", Listen: v, Advertise: advertise}
		if name, rest, ok := strings.Cut(v, "="); ok {
			l.Name, l.Listen = name, rest
			if listen, own, ok := strings.Cut(rest, "@"); ok {
				l.Listen, l.Advertise = listen, own
			}
		} else if listen, own, ok := strings.Cut(v, "@"); ok {
			l.Listen, l.Advertise = listen, own
		}
		if l.Name == "" || seen[l.Name] {
			return nil, fmt.Errorf("kafka-listen: %q: give each listener a name of its own, NAME=LISTEN@ADVERTISE", v)
		}
		seen[l.Name] = true
		if l.Listen == "" {
			return nil, fmt.Errorf("kafka-listen: %q has no address to listen on", v)
		}
		for _, a := range []string{l.Listen, l.Advertise} {
			if err := address(a); err != nil {
				return nil, fmt.Errorf("kafka-listen: %w", err)
			}
		}
		out = append(out, l)
	}
	return out, nil
}
