package rest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/store/memory"
)

const (
	ratioServer = "MILENA_RATIO_SERVER" // set in the process that serves
	ratioMax    = 1.15
	ratioRounds = 40
	ratioRound  = 200 * time.Millisecond
	ratioConns  = 16
)

// TestReadRatio compares the CPU of a read by id with that of a bare net/http
// handler that writes the same bytes. One process serves both, on a port each,
// and reports its own CPU time; this one sends the load in short turns, so that
// what else the machine does hits both alike, and compares the lower quartiles.
// MILENA_BENCH=1 runs it.
func TestReadRatio(t *testing.T) {
	if os.Getenv(ratioServer) != "" {
		serveBoth(t)
		return
	}
	if os.Getenv("MILENA_BENCH") == "" {
		t.Skip("MILENA_BENCH=1 runs it")
	}
	server := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReadRatio$")
	server.Env = append(os.Environ(), ratioServer+"=1")
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = server.Wait() }()
	var bare, ours string
	if _, err := fmt.Fscan(bufio.NewReader(out), &bare, &ours); err != nil {
		t.Fatal(err)
	}
	bareConns, ourConns := dialAll(t, bare), dialAll(t, ours)
	turn(t, bare, bareConns)
	turn(t, bare, ourConns)
	var bareCosts, ourCosts []float64
	for range ratioRounds {
		bareCosts = append(bareCosts, turn(t, bare, bareConns))
		ourCosts = append(ourCosts, turn(t, bare, ourConns))
	}
	// Turns that something else disturbed cost more, never less.
	slices.Sort(bareCosts)
	slices.Sort(ourCosts)
	low, middle := ratioRounds/4, ratioRounds/2
	ratio := ourCosts[low] / bareCosts[low]
	t.Logf("GET /schemas/ids/1 takes %.1f µs of CPU, %.2f times a bare handler's %.1f µs (medians %.1f and %.1f)",
		ourCosts[low], ratio, bareCosts[low], ourCosts[middle], bareCosts[middle])
	if ratio > ratioMax {
		t.Errorf("ratio %.2f, want %.2f at most", ratio, ratioMax)
	}
}

// serveBoth serves until its input ends.
func serveBoth(t *testing.T) {
	log := memory.New()
	r, err := registry.Open(t.Context(), registry.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for i := range 12 {
		fields = append(fields, fmt.Sprintf(`{"name":"field_%d","type":["null","string"],"default":null}`, i))
	}
	schema := `{"type":"record","name":"R","fields":[` + strings.Join(fields, ",") + `]}`
	if _, err := r.Register(t.Context(), "s", api.RegisterRequest{Schema: &schema}, registry.RegisterOptions{}); err != nil {
		t.Fatal(err)
	}
	body, err := r.BodyByID(t.Context(), 1, registry.ByIDQuery{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	contentType := []string{typeV1}
	bare := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cpu" {
			var u syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
			_, _ = fmt.Fprint(w, u.Utime.Nano()+u.Stime.Nano())
			return
		}
		w.Header()["Content-Type"] = contentType
		_, _ = w.Write(body)
	})}
	a, b := anyPort(t), anyPort(t)
	go func() { _ = bare.Serve(a) }()
	go func() { _ = s.Serve(b) }()
	fmt.Println(a.Addr(), b.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = bare.Close()
	_ = s.Shutdown(context.Background())
	_ = r.Close()
}

func anyPort(t *testing.T) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dialAll(t *testing.T, addr string) []net.Conn {
	conns := make([]net.Conn, ratioConns)
	for i := range conns {
		var err error
		if conns[i], err = net.Dial("tcp", addr); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conns[i].Close() })
	}
	return conns
}

// turn sends requests over all connections for a while and returns the CPU
// time of one in µs, which the process tells on its bare port.
func turn(t *testing.T, bare string, conns []net.Conn) float64 {
	const request = "GET /schemas/ids/1 HTTP/1.1\r\nHost: registry:8081\r\nUser-Agent: Go-http-client/1.1\r\nAccept: " + typeV1 + "\r\n\r\n"
	before := spent(t, bare)
	var n atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(ratioRound)
	for _, conn := range conns {
		wg.Go(func() {
			r := bufio.NewReaderSize(conn, 16<<10)
			for time.Now().Before(end) {
				if _, err := conn.Write([]byte(request)); err != nil {
					t.Error(err)
					return
				}
				if err := skipResponse(r); err != nil {
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(spent(t, bare)-before) / 1e3 / float64(n.Load())
}

// skipResponse reads one response with a Content-Length.
func skipResponse(r *bufio.Reader) error {
	length := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == 2 {
			_, err = r.Discard(length)
			return err
		}
		if value, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		}
	}
}

// spent returns the CPU time of the serving process in ns.
func spent(t *testing.T, bare string) int64 {
	resp, err := http.Get("http://" + bare + "/cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var n int64
	if _, err := fmt.Fscan(resp.Body, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
