package obs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Check is one line of /readyz: nil says that the part can serve.
type Check func(context.Context) error

// Admin serves the admin port. The process is ready when every check that was
// added passes; it is never ready before Started and after Draining.
type Admin struct {
	server *http.Server
	ended  chan struct{}
	err    error // of Serve; read after ended is closed

	mu     sync.Mutex // guards what follows
	names  []string
	checks map[string]Check
	phase  string // why it isn't ready whatever the checks say; "" once started
}

// readyTimeout bounds one /readyz with all its checks.
const readyTimeout = 2 * time.Second

// NewAdmin returns an Admin that isn't ready yet.
func NewAdmin(gatherer prometheus.Gatherer, logger *slog.Logger) *Admin {
	a := &Admin{checks: map[string]Check{}, phase: "starting", ended: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	a.server = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	return a
}

// Serve answers on l until Close. It returns at once.
func (a *Admin) Serve(l net.Listener) {
	go func() {
		defer close(a.ended)
		if err := a.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.err = err
		}
	}()
}

// AddCheck adds a line to /readyz.
func (a *Admin) AddCheck(name string, c Check) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.checks[name]; !ok {
		a.names = append(a.names, name)
	}
	a.checks[name] = c
}

// Started says that all parts are up: from now on the checks decide.
func (a *Admin) Started() { a.setPhase("") }

// Draining says that the process is stopping and wants no new work.
func (a *Admin) Draining() { a.setPhase("stopping") }

func (a *Admin) setPhase(p string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.phase = p
}

// Close stops the port. Connections under way have until ctx is done.
func (a *Admin) Close(ctx context.Context) error {
	err := a.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, a.server.Close())
	}
	<-a.ended
	return errors.Join(err, a.err)
}

// Failing runs the checks as one /readyz does and returns a line for each that
// fails: its name and why.
func (a *Admin) Failing(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	_, names, checks := a.snapshot()
	var out []string
	for i, n := range names {
		if err := checks[i](ctx); err != nil {
			out = append(out, n+": "+err.Error())
		}
	}
	return out
}

// snapshot returns the phase and the checks with their names.
func (a *Admin) snapshot() (phase string, names []string, checks []Check) {
	a.mu.Lock()
	defer a.mu.Unlock()
	names = append(names, a.names...)
	for _, n := range names {
		checks = append(checks, a.checks[n])
	}
	return a.phase, names, checks
}

func (a *Admin) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	phase, names, checks := a.snapshot()
	status, lines := http.StatusOK, ""
	if phase != "" {
		status, lines = http.StatusServiceUnavailable, "process: "+phase+"\n"
	}
	for i, n := range names {
		if err := checks[i](ctx); err != nil {
			status = http.StatusServiceUnavailable
			lines += n + ": " + err.Error() + "\n"
			continue
		}
		lines += n + ": ok\n"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	if status == http.StatusOK {
		lines += "ready\n"
	} else {
		lines += "not ready\n"
	}
	fmt.Fprint(w, lines)
}
