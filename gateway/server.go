package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"milena/gateway/kapi"
)

// Server listens for Kafka clients.
type Server struct {
	opts      Options
	handlers  *kapi.Server
	log       *slog.Logger
	requests  *requestMemory
	responses *memory
	buffers   buffers

	// wait counts the goroutines of listeners and connections.
	wait sync.WaitGroup
	// stopping is closed when Shutdown or Close begins.
	stopping chan struct{}

	// mu guards the fields below.
	mu        sync.Mutex
	started   bool
	stopped   bool
	listeners []net.Listener
	conns     map[*conn]struct{}
}

// ErrClosed: the server was closed or is already started.
var ErrClosed = errors.New("gateway closed")

// New returns a Server that doesn't listen yet.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Server{
		opts:      o,
		handlers:  o.Handlers,
		log:       o.Logger,
		requests:  newRequestMemory(o.RequestBytesMax),
		responses: newMemory(o.ResponseBytesMax),
		stopping:  make(chan struct{}),
		conns:     map[*conn]struct{}{},
	}, nil
}

// Start opens all listeners, or none, and serves until Shutdown or Close.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.stopped {
		return ErrClosed
	}
	var opened []net.Listener
	for _, l := range s.opts.Listeners {
		ln, err := s.opts.Listen("tcp", l.Address)
		if err != nil {
			for _, o := range opened {
				_ = o.Close()
			}
			return fmt.Errorf("listen for kafka clients on %s (%s): %w", l.Address, l.Name, err)
		}
		opened = append(opened, ln)
	}
	s.started, s.listeners = true, opened
	for i, ln := range opened {
		s.wait.Add(1)
		go s.accept(s.opts.Listeners[i], ln)
	}
	return nil
}

// Addr is the address that the named listener is bound to, nil before Start
// and for unknown names.
func (s *Server) Addr(name string) net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, ln := range s.listeners {
		if s.opts.Listeners[i].Name == name {
			return ln.Addr()
		}
	}
	return nil
}

// Backoff after errors of accept that pass, such as too many open files.
const (
	acceptPauseMin = 5 * time.Millisecond
	acceptPauseMax = time.Second
)

func (s *Server) accept(l Listener, ln net.Listener) {
	defer s.wait.Done()
	pause := acceptPauseMin
	for {
		nc, err := ln.Accept()
		if err == nil {
			pause = acceptPauseMin
			s.admit(l, ln, nc)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		s.log.Warn("accept kafka client", "listener", l.Name, "err", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			pause = min(2*pause, acceptPauseMax)
		case <-s.stopping:
			timer.Stop()
			return
		}
	}
}

// admit serves a new connection, or closes it if there are too many.
func (s *Server) admit(l Listener, ln net.Listener, nc net.Conn) {
	info := &kapi.Conn{Listener: l.Name, Local: nc.LocalAddr(), Remote: nc.RemoteAddr()}
	info.AdvertisedHost, info.AdvertisedPort = l.advertised(ln.Addr(), nc.LocalAddr())
	c := newConn(s, nc, info)

	s.mu.Lock()
	full := len(s.conns) >= s.opts.ConnectionsMax
	if full || s.stopped {
		s.mu.Unlock()
		c.cancel()
		_ = nc.Close()
		if full {
			s.log.Warn("kafka connection refused", "listener", l.Name, "remote", info.Remote.String(), "connections_max", s.opts.ConnectionsMax)
			s.opts.Observer.ConnectionRefused(l.Name)
		}
		return
	}
	s.conns[c] = struct{}{}
	s.wait.Add(1)
	s.mu.Unlock()

	s.opts.Observer.ConnectionOpened(l.Name)
	go func() {
		defer s.wait.Done()
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
}

// stopAll closes the listeners and has every connection do what f says.
func (s *Server) stopAll(f func(*conn)) {
	s.mu.Lock()
	if !s.stopped {
		s.stopped = true
		close(s.stopping)
	}
	for _, ln := range s.listeners {
		// It may be closed already.
		_ = ln.Close()
	}
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		f(c)
	}
}

// Shutdown drains: it stops to accept and to read, ends long polls, and
// returns when every request read was answered and every connection is closed.
// If ctx ends before, the rest is closed at once and its error returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopAll(func(c *conn) { c.stop(ClosedShutdown, nil) })
	done := make(chan struct{})
	go func() {
		s.wait.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.stopAll(func(c *conn) { c.abort(ClosedShutdown, nil) })
		<-done
		return fmt.Errorf("drain kafka connections: %w", ctx.Err())
	}
}

// Close stops at once: requests in work lose their context and their answers.
// It returns when all goroutines have ended.
func (s *Server) Close() error {
	s.stopAll(func(c *conn) { c.abort(ClosedShutdown, nil) })
	s.wait.Wait()
	return nil
}
