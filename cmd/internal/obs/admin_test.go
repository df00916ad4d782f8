package obs

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestAdmin(t *testing.T) {
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "milena_example_total", Help: "An example."})
	registry.MustRegister(counter)
	counter.Inc()
	a := NewAdmin(registry, slog.New(slog.DiscardHandler))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.Serve(l)
	url := "http://" + l.Addr().String()
	var broker error
	a.AddCheck("broker", func(context.Context) error { return broker })

	expect := func(path string, status int, parts ...string) {
		t.Helper()
		got, body := get(t, url+path)
		if got != status {
			t.Errorf("%s: status %d, want %d", path, got, status)
		}
		for _, p := range parts {
			if !strings.Contains(body, p) {
				t.Errorf("%s: %q lacks %q", path, body, p)
			}
		}
	}
	expect("/livez", 200, "ok")
	expect("/readyz", 503, "process: starting", "broker: ok", "not ready")
	a.Started()
	expect("/readyz", 200, "broker: ok", "ready")
	broker = errors.New("127.0.0.1:9094 refuses connections")
	expect("/readyz", 503, "broker: 127.0.0.1:9094 refuses connections")
	if got := a.Failing(t.Context()); len(got) != 1 || got[0] != "broker: 127.0.0.1:9094 refuses connections" {
		t.Errorf("failing: %q", got)
	}
	broker = nil
	a.Draining()
	expect("/readyz", 503, "process: stopping")
	expect("/metrics", 200, "milena_example_total 1")
	expect("/debug/pprof/goroutine?debug=1", 200, "goroutine profile")
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
