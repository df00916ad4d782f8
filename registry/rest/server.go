package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/netutil"

	"milena/registry"
)

// Server serves a registry. It does not own the registry: close that after
// Shutdown.
type Server struct {
	opt      Options
	registry *registry.Registry
	http     *http.Server
	echo     *echo.Echo
	headers  headers
	patterns map[string]string      // by echo's path: the pattern
	allow    map[string][]string    // by pattern: the methods
	document func() ([]byte, error) // the OpenAPI document, made once

	working   atomic.Int64 // requests at work
	bodyBytes atomic.Int64 // reserved for bodies at work
	importing atomic.Bool  // an import is under way
	zippers   sync.Pool    // of *gzip.Writer
}

// New returns a Server that is not serving yet.
func New(r *registry.Registry, o Options) (*Server, error) {
	if r == nil {
		return nil, errors.New("new registry server: no registry")
	}
	rows := table()
	s := &Server{
		opt: o.withDefaults(), registry: r, echo: echo.New(), headers: newHeaders(),
		patterns: map[string]string{}, allow: allowed(rows), document: sync.OnceValues(OpenAPI),
	}
	for i := range rows {
		s.add(&rows[i])
	}
	for pattern, methods := range s.allow {
		s.patterns[echoPath(pattern)] = pattern
		s.echo.Add(http.MethodOptions, echoPath(pattern), options(methods))
	}
	l := s.opt.Limits
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: l.HeaderTimeout,
		ReadTimeout:       l.RequestTimeout,
		WriteTimeout:      l.RequestTimeout + l.WorkTimeout,
		IdleTimeout:       l.IdleTimeout,
		MaxHeaderBytes:    l.HeaderBytesMax,
		// What net/http says here is about broken connections, which any port
		// scanner causes.
		ErrorLog: slog.NewLogLogger(s.opt.Logger.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// add registers a route under its patterns, with HEAD beside GET.
func (s *Server) add(row *route) {
	for i, pattern := range row.patterns() {
		serve := s.serve(row, i > 0)
		s.echo.Add(row.method, echoPath(pattern), serve)
		if row.method == http.MethodGet {
			s.echo.Add(http.MethodHead, echoPath(pattern), serve)
		}
	}
}

// Handler returns the server's handler, for tests and for other servers.
func (s *Server) Handler() http.Handler { return s }

// Serve accepts connections on l until Shutdown, after which it returns nil. It
// closes l.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(listener{netutil.LimitListener(l, s.opt.Limits.ConnectionsMax)})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve registry: %w", err)
}

// Shutdown stops accepting and waits for the requests at work. When ctx ends
// first it cuts them off and returns the context's error.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("shut down registry server: %w", errors.Join(err, s.http.Close()))
	}
	return err
}
