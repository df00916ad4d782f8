package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// milenaBinary builds milena once for all tests of the package.
var milenaBinary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("MILENA_BIN"); path != "" {
		return filepath.Abs(path)
	}
	dir, err := os.MkdirTemp("", "milena-clients")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "milena")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/milena")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build milena: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := milenaBinary(); err == nil && os.Getenv("MILENA_BIN") == "" {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// server is a running milena with the addresses that it printed.
type server struct {
	t         *testing.T
	cmd       *exec.Cmd
	args      []string
	stderr    lockedBuffer
	registry  string // URL
	kafka     string // HOST:PORT of the first Kafka listener
	broker    string
	listeners []string // all Kafka listeners
	admin     string   // URL
	ready     time.Duration
	exited    chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// clean is the environment without settings of milena.
func clean() []string {
	var out []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "MILENA_") {
			out = append(out, e)
		}
	}
	return out
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := milenaBinary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = clean()
	return cmd
}

// ports are the flags that bind everything to free ports of the loopback.
func ports() []string {
	return []string{"--registry-listen", "127.0.0.1:0", "--kafka-listen", "127.0.0.1:0", "--broker-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--group-initial-rebalance-delay", "100ms"}
}

// start runs `milena serve` with the arguments and waits until it is ready.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{t: t, args: append([]string{"serve"}, args...), exited: make(chan struct{})}
	s.launch()
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("log of the server:\n%s", tail(s.stderr.String(), 8000))
		}
	})
	return s
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}

var listenerLine = regexp.MustCompile(`^(registry|kafka|broker|admin) +(?:https?://)?(\S+)`)

func (s *server) launch() {
	s.t.Helper()
	s.cmd = command(s.t, s.args...)
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.exited = make(chan struct{})
	lines := make(chan string, 100)
	go func() {
		scan := bufio.NewScanner(out)
		for scan.Scan() {
			lines <- scan.Text()
		}
		close(lines)
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	deadline := time.After(30 * time.Second)
	s.kafka, s.listeners = "", nil
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				s.t.Fatalf("milena ended at start: %s", s.stderr.String())
			}
			if strings.HasPrefix(line, "ready") {
				s.ready = time.Since(began)
				go func() {
					for range lines {
					}
				}()
				return
			}
			m := listenerLine.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			switch m[1] {
			case "registry":
				s.registry = "http://" + m[2]
			case "kafka":
				s.listeners = append(s.listeners, m[2])
				s.kafka = s.listeners[0]
			case "broker":
				s.broker = m[2]
			case "admin":
				s.admin = "http://" + m[2]
			}
		case <-deadline:
			s.t.Fatalf("milena was not ready after 30 s: %s", s.stderr.String())
		}
	}
}

// kill is kill -9.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// terminate sends SIGTERM and returns the exit code.
func (s *server) terminate() int {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(30 * time.Second):
		s.t.Fatal("milena did not end within 30 s of SIGTERM")
	}
	return s.cmd.ProcessState.ExitCode()
}

// restart starts the same command again, on new ports.
func (s *server) restart() {
	s.t.Helper()
	s.launch()
}

// metric returns the value of a metric by its full name with labels.
func (s *server) metric(name string) float64 {
	s.t.Helper()
	_, body := s.request(http.MethodGet, s.admin+"/metrics", "")
	for _, line := range strings.Split(body, "\n") {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(rest, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return v
		}
	}
	return 0
}

// lastingAddress is a free address of the loopback that stays free while its
// server is down: no port of those that systems give to outgoing connections.
func lastingAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15_000+rand.IntN(15_000)))
		if err != nil {
			continue // taken
		}
		l.Close()
		return l.Addr().String()
	}
	t.Fatal("no free port between 15,000 and 30,000")
	return ""
}

// request sends a request and returns status and body.
func (s *server) request(method, url, body string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, url, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// register registers an Avro schema and returns its id.
func (s *server) register(subject, schema string) int {
	s.t.Helper()
	return registerAt(s, s.registry, subject, schema)
}

func registerAt(s *server, url, subject, schema string) int {
	s.t.Helper()
	body, _ := json.Marshal(map[string]string{"schema": schema})
	status, answer := s.request(http.MethodPost, url+"/subjects/"+subject+"/versions", string(body))
	var got struct{ ID int }
	if status != 200 || json.Unmarshal([]byte(answer), &got) != nil || got.ID == 0 {
		s.t.Fatalf("register: %d %s", status, answer)
	}
	return got.ID
}

// rss is the resident memory of the process in bytes.
func (s *server) rss() int64 {
	s.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	if err != nil {
		s.t.Skipf("this system has no /proc: %v", err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// eventually waits until ok returns true.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}
