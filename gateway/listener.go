package gateway

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Listener is one address to listen on.
type Listener struct {
	// Name tells listeners apart in logs and metrics ("INTERNAL").
	Name string
	// Address is HOST:PORT to listen on; port 0 takes a free one.
	Address string
	// Advertise is HOST:PORT as clients of this listener reach it, port 0 for
	// the port listened on. If it is empty, Metadata and FindCoordinator name
	// the local address that the connection came in on.
	Advertise string
}

// ParseListener reads LISTEN, NAME=LISTEN, LISTEN@ADVERTISE or
// NAME=LISTEN@ADVERTISE, the addresses as HOST:PORT. The name is PLAINTEXT if
// none is given.
func ParseListener(text string) (Listener, error) {
	l := Listener{Name: "PLAINTEXT", Address: text}
	if name, rest, ok := strings.Cut(text, "="); ok {
		l.Name, l.Address = name, rest
	}
	if address, advertise, ok := strings.Cut(l.Address, "@"); ok {
		l.Address, l.Advertise = address, advertise
		if advertise == "" {
			return Listener{}, fmt.Errorf("listener %q: no address after @", text)
		}
	}
	if err := l.validate(); err != nil {
		return Listener{}, fmt.Errorf("listener %q: %w", text, err)
	}
	return l, nil
}

func (l Listener) validate() error {
	if l.Name == "" {
		return errors.New("empty name")
	}
	for i := range len(l.Name) {
		c := l.Name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return fmt.Errorf("name %q: letters, digits, dash and underscore only", l.Name)
		}
	}
	if _, _, err := splitAddress(l.Address); err != nil {
		return err
	}
	if l.Advertise == "" {
		return nil
	}
	host, _, err := splitAddress(l.Advertise)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		return fmt.Errorf("advertised address %q: clients can't connect to it", l.Advertise)
	}
	return nil
}

func splitAddress(address string) (host string, port int32, err error) {
	host, p, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: want HOST:PORT", address)
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: port must be 0 to 65535", address)
	}
	return host, int32(n), nil
}

// advertised is the address that Metadata names to a client whose connection
// has the given local end.
func (l Listener) advertised(bound, local net.Addr) (host string, port int32) {
	_, boundPort := hostPort(bound)
	if l.Advertise != "" {
		host, port, err := splitAddress(l.Advertise)
		if err == nil {
			if port == 0 {
				port = boundPort
			}
			return host, port
		}
	}
	host, port = hostPort(local)
	if port == 0 {
		port = boundPort
	}
	return host, port
}

func hostPort(a net.Addr) (string, int32) {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.IP.String(), int32(t.Port)
	}
	return "localhost", 0
}
