package clients

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestEachRoleAlone runs registry, broker and gateway in a process each. The
// gateway names what it lacks, never makes do without it, and goes on when it is
// back, with every acknowledged record.
func TestEachRoleAlone(t *testing.T) {
	registry := start(t, "--roles", "registry", "--registry-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--data-dir", t.TempDir())
	broker := start(t, "--roles", "broker", "--broker-listen", lastingAddress(t), "--admin-listen", "127.0.0.1:0", "--data-dir", t.TempDir())
	gateway := start(t, "--roles", "gateway", "--kafka-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--registry-url", registry.registry, "--broker", broker.broker, "--tail-cache-bytes", "0", "--group-initial-rebalance-delay", "100ms")
	ready := func(want int, parts ...string) {
		t.Helper()
		var status int
		var body string
		eventually(t, 30*time.Second, fmt.Sprintf("/readyz is %d with %q", want, parts), func() bool {
			status, body = gateway.request(http.MethodGet, gateway.admin+"/readyz", "")
			for _, p := range parts {
				if !strings.Contains(body, p) {
					return false
				}
			}
			return status == want
		})
	}
	ready(200, "broker "+broker.broker+": ok", "registry "+registry.registry+": ok")

	o := newOrders(t, registerAt(registry, registry.registry, "orders-value", orderSchema))
	cl := newClient(t, gateway, kgo.RecordRetries(20))
	produce(t, cl, "orders", 0, 500, func(i int) *kgo.Record { return &kgo.Record{Value: o.value(t, i)} })
	if got := gateway.metric(`milena_stored_records_total{form="rebuilt"}`); got != 500 {
		t.Errorf("%v records are stored to be rebuilt, want 500", got)
	}

	// The broker comes back on its port, as it would in a cluster.
	broker.kill()
	ready(503, "broker "+broker.broker+": ", "registry "+registry.registry+": ok", "not ready")
	broker.restart()
	ready(200)
	produce(t, cl, "orders", 500, 500, func(i int) *kgo.Record { return &kgo.Record{Value: o.value(t, i)} })

	registry.terminate()
	ready(503, "broker "+broker.broker+": ok", "registry "+registry.registry+": ")
	for i, got := range consume(t, newClient(t, gateway, kgo.ConsumeTopics("orders"), kgo.ConsumerGroup("readers")), 1000) {
		if err := sameRecord(got, &kgo.Record{Value: o.value(t, i)}); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}

	// A second gateway doesn't get the broker's lease, and says so.
	second := start(t, "--roles", "gateway", "--kafka-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--registry-url", registry.registry, "--broker", broker.broker)
	if status, body := second.request(http.MethodGet, second.admin+"/readyz", ""); status != 503 || !strings.Contains(body, "broker "+broker.broker+": ") {
		t.Errorf("/readyz of a second gateway: %d %s", status, body)
	}
}

// metadataAddress asks the listener at an address which one to use.
func metadataAddress(t *testing.T, address string) string {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	resp, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl)
	if err != nil || len(resp.Brokers) != 1 {
		t.Fatalf("metadata from %s: %v", address, err)
	}
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey, find.CoordinatorKeys = "g", []string{"g"}
	found, err := find.RequestWith(ctx, cl.Broker(int(resp.Brokers[0].NodeID)))
	b := net.JoinHostPort(resp.Brokers[0].Host, fmt.Sprint(resp.Brokers[0].Port))
	// A client that can't reach the advertised address stops at Metadata.
	if err == nil && len(found.Coordinators) == 1 {
		c := found.Coordinators[0]
		if got := net.JoinHostPort(c.Host, fmt.Sprint(c.Port)); got != b {
			t.Errorf("%s: Metadata names %s, FindCoordinator %s", address, b, got)
		}
	}
	return b
}

// TestListeners wants each listener to name the address under which its clients
// reach it.
func TestListeners(t *testing.T) {
	s := start(t, "--dev", "--registry-listen", "127.0.0.1:0", "--broker-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--kafka-listen", "inside=127.0.0.1:0@localhost:0", "--kafka-listen", "outside=127.0.0.1:0@example.test:19092", "--kafka-listen", "plain=127.0.0.1:0")
	if len(s.listeners) != 3 {
		t.Fatalf("listeners printed: %q", s.listeners)
	}
	_, port, err := net.SplitHostPort(s.listeners[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"localhost:" + port, "example.test:19092", s.listeners[2]} {
		if got := metadataAddress(t, s.listeners[i]); got != want {
			t.Errorf("listener %d names %s, want %s", i, got, want)
		}
	}
}

// TestSecondSignal: a process that drains ends at once when it is told again, and
// loses nothing that was acknowledged.
func TestSecondSignal(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir(), "--shutdown-timeout", "10m")...)
	o := newOrders(t, s.register("orders-value", orderSchema))
	produce(t, newClient(t, s), "orders", 0, 100, func(i int) *kgo.Record { return &kgo.Record{Value: o.value(t, i)} })
	// A request whose body never comes is under way, so that the drain waits.
	c, err := net.Dial("tcp", strings.TrimPrefix(s.registry, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("POST /subjects/x/versions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")); err != nil {
		t.Fatal(err)
	}
	// The request is there once a later one was answered.
	s.request(http.MethodGet, s.registry+"/subjects", "")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "the first signal is heard", func() bool { return strings.Contains(s.stderr.String(), "stopping") })
	select {
	case <-s.exited:
		t.Fatal("ended while a request was under way")
	case <-time.After(300 * time.Millisecond):
	}
	began := time.Now()
	if code := s.terminate(); code != 1 || time.Since(began) > 5*time.Second {
		t.Errorf("exit code %d, %v after the second signal", code, time.Since(began))
	}
	if log := s.stderr.String(); !strings.Contains(log, "milena: stopped before everything was drained: stopped by a second signal") {
		t.Errorf("nothing says why:\n%s", log)
	}
	s.restart()
	consume(t, newClient(t, s, kgo.ConsumeTopics("orders")), 100)
}

// TestUnwritableDirectory wants one clear line; as root every directory can be
// written, but not one below a file.
func TestUnwritableDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locked")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	cmd := command(t, append(append([]string{"serve"}, ports()...), "--data-dir", dir)...)
	out, _ := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(out)); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(text, dir) || strings.Contains(text, "\n") {
		t.Errorf("exit code %d, %q", cmd.ProcessState.ExitCode(), text)
	}
}
