package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"milena/broker"
	"milena/broker/journal/fs"
	"milena/cmd/internal/config"
	"milena/cmd/internal/obs"
	"milena/cmd/internal/run"
	"milena/gateway"
	"milena/gateway/backend"
	"milena/gateway/envelope"
	"milena/registry"
	"milena/serde"
	"milena/serde/schema"
)

// Node is a running process: the parts that its roles name.
type Node struct {
	settings *config.Values
	version  string
	log      *slog.Logger
	out      io.Writer // one line per listener
	metrics  *obs.Metrics
	admin    *obs.Admin
	parts    run.Group

	listeners []gateway.Listener // of the gateway, checked before anything starts

	bound map[string]string // HOST:PORT of the first listener of each part

	programs *serde.Programs
	broker   *broker.Broker
	registry *registry.Registry
	backend  backend.Broker
	lookup   schema.Lookup
}

// roles of a process.
const (
	roleRegistry = "registry"
	roleBroker   = "broker"
	roleGateway  = "gateway"
)

// Options are what a process gets from outside besides its settings.
type Options struct {
	Version string // of the binary, for /v1/metadata/version
	Log     *slog.Logger
	Out     io.Writer // gets one line per listener
}

// Start starts what the settings ask for and returns once every listener is
// bound. On error nothing is left running.
func Start(ctx context.Context, settings *config.Values, o Options) (*Node, error) {
	n := &Node{settings: settings, version: o.Version, log: o.Log, out: o.Out, metrics: obs.NewMetrics(), bound: map[string]string{}}
	n.admin = obs.NewAdmin(n.metrics.Gatherer(), n.log)
	if err := n.start(ctx); err != nil {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return nil, errors.Join(err, n.parts.Stop(stop))
	}
	if n.settings.Bool("dev") && (n.has(roleBroker) || n.has(roleRegistry)) {
		n.log.Warn("everything is kept in memory and lost when this process ends (--dev)")
	}
	n.admin.Started()
	n.warnUnready(ctx)
	return n, nil
}

func (n *Node) start(ctx context.Context) error {
	if err := n.check(); err != nil {
		return err
	}
	programs, err := serde.NewPrograms(serde.ProgramsOptions{})
	if err != nil {
		return err
	}
	n.programs = programs
	if !n.settings.Bool("dev") {
		if err := n.lockDirectory(); err != nil {
			return err
		}
	}
	steps := []struct {
		wanted bool
		start  func(context.Context) error
	}{
		// The admin port is up first, so that a slow start can be watched.
		{true, n.startAdmin},
		{n.has(roleBroker), n.startBroker},
		{n.has(roleRegistry), n.startRegistry},
		{n.has(roleGateway), n.startGateway},
	}
	for _, s := range steps {
		if !s.wanted {
			continue
		}
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) has(role string) bool { return slices.Contains(n.settings.List("roles"), role) }

// check refuses roles that lack what they need, since a gateway never runs on a
// silent substitute, and listeners that can't be meant.
func (n *Node) check() error {
	if !n.has(roleGateway) {
		return nil
	}
	if !n.has(roleBroker) && n.settings.String("broker") == "" {
		return errors.New("the gateway role without the broker role needs --broker HOST:PORT")
	}
	if n.has(roleBroker) && n.settings.String("broker") != "" {
		return errors.New("--broker names a remote broker, but the broker role runs here: leave one of them out")
	}
	if n.has(roleRegistry) && n.settings.String("registry-url") != "" {
		return errors.New("--registry-url names a remote registry, but the registry role runs here: leave one of them out")
	}
	if !n.has(roleRegistry) && n.settings.String("registry-url") == "" && !n.schemasOff() {
		return errors.New("the gateway role without the registry role needs --registry-url URL")
	}
	var err error
	n.listeners, err = n.kafkaListeners()
	return err
}

// schemasOff: no topic can ask for a schema unless it says so itself, so a
// gateway can do without a registry.
func (n *Node) schemasOff() bool {
	return n.settings.String("validation") == envelope.Off.String() && n.settings.String("key-validation") == envelope.Off.String()
}

// lockDirectory makes the data directory and takes its lock; one process owns it.
func (n *Node) lockDirectory() error {
	if !n.has(roleBroker) && !n.has(roleRegistry) {
		return nil // a gateway keeps nothing
	}
	dir := n.dir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	lock, err := fs.OS{}.Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	n.parts.Add("data directory", func(context.Context) error { return lock.Close() })
	return nil
}

func (n *Node) dir() string { return n.settings.String("data-dir") }

// listen binds the address of a setting and says so.
func (n *Node) listen(ctx context.Context, setting string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", n.settings.String(setting))
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", setting, err)
	}
	return l, nil
}

func (n *Node) say(part, address string) { fmt.Fprintf(n.out, "%-9s %s\n", part, address) }

func (n *Node) startAdmin(ctx context.Context) error {
	l, err := n.listen(ctx, "admin-listen")
	if err != nil {
		return err
	}
	n.admin.Serve(l)
	n.parts.Add("admin", n.admin.Close)
	n.bind("admin", l.Addr())
	n.say("admin", "http://"+reachable(l.Addr()))
	return nil
}

// Stop drains and stops all parts, the last started first. When ctx ends, what
// still runs is cut off.
func (n *Node) Stop(ctx context.Context) error {
	n.admin.Draining()
	return n.parts.Stop(ctx)
}

// reachable writes an address as one that can be typed: a listener on all
// interfaces is named by localhost.
func reachable(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
