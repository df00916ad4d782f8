package rest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/store/sqlite"
)

// durableServer names the log's file in the process that serves.
const durableServer = "MILENA_DURABLE_SERVER"

// TestEveryWriteIsSynced runs a server under strace and sends writes of every
// kind, one after the other: between a request and its answer the log's file
// must have been synced.
func TestEveryWriteIsSynced(t *testing.T) {
	if path := os.Getenv(durableServer); path != "" {
		serveDurable(t, path)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is missing")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	if out, err := exec.CommandContext(t.Context(), strace, "-o", trace, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %s", out)
	}
	server := exec.CommandContext(t.Context(), strace, "-f", "-y", "-s", "200", "-o", trace,
		"-e", "trace=read,write,fsync,fdatasync", os.Args[0], "-test.run=^TestEveryWriteIsSynced$")
	server.Env = append(os.Environ(), durableServer+"="+filepath.Join(t.TempDir(), "registry.db"))
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
	var addr string
	if _, err := fmt.Fscan(bufio.NewReader(out), &addr); err != nil {
		t.Fatal(err)
	}
	writes := sendWrites(t, "http://"+addr)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	if err := server.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := checkTrace(t, trace); n != writes {
		t.Errorf("the trace has %d answered writes, want %d", n, writes)
	}
}

// sendWrites sends writes that change something and returns how many.
func sendWrites(t *testing.T, url string) int {
	writes := []struct{ method, path, body string }{
		{"PUT", "/config", `{"compatibility":"NONE"}`},
		{"POST", "/subjects/a/versions", `{"schema":"\"int\""}`},
		{"POST", "/subjects/a/versions", `{"schema":"\"long\""}`},
		{"POST", "/subjects/:.c:a/versions", `{"schema":"\"long\""}`},
		{"PUT", "/config/a", `{"compatibility":"FULL"}`},
		{"PUT", "/mode/a", `{"mode":"READONLY"}`},
		{"DELETE", "/mode/a", ""},
		{"DELETE", "/config/a", ""},
		{"DELETE", "/subjects/a/versions/1", ""},
		{"DELETE", "/subjects/a/versions/1?permanent=true", ""},
		{"DELETE", "/subjects/a", ""},
		{"DELETE", "/subjects/a?permanent=true", ""},
	}
	for i := range 20 {
		writes = append(writes, struct{ method, path, body string }{
			"POST", fmt.Sprintf("/subjects/s%d/versions", i), fmt.Sprintf(`{"schema":"{\"type\":\"fixed\",\"name\":\"F\",\"size\":%d}"}`, i+1),
		})
	}
	for _, w := range writes {
		req, err := http.NewRequestWithContext(t.Context(), w.method, url+w.path, strings.NewReader(w.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", typeV1)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s %s, %v", w.method, w.path, resp.Status, body, err)
		}
	}
	return len(writes)
}

// serveDurable serves a registry in a file until its input ends.
func serveDurable(t *testing.T, path string) {
	log, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), registry.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := anyPort(t)
	go func() { _ = s.Serve(l) }()
	fmt.Println(l.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = s.Shutdown(context.Background())
	_ = r.Close()
	_ = log.Close()
}

// checkTrace goes through the system calls in their order and returns how many
// writes were answered, each after a sync of the log.
func checkTrace(t *testing.T, path string) int {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var (
		request  = regexp.MustCompile(`^\d+ +(?:<\.\.\. read resumed>|read\(\d+<(?:TCP|socket)\S*>, )"([A-Z]+ /\S+ HTTP/1\.1)`) // net/http may have read the first byte before
		answer   = regexp.MustCompile(`^\d+ +write\(\d+<\S*>, "HTTP/1\.1 (\d+)`)
		synced   = regexp.MustCompile(`^\d+ +f(?:data)?sync\(\d+<\S*registry\.db-wal>\) += 0`)
		syncing  = regexp.MustCompile(`^(\d+) +f(?:data)?sync\(\d+<\S*registry\.db-wal> <unfinished`)
		finished = regexp.MustCompile(`^(\d+) +<\.\.\. f(?:data)?sync resumed>\) += 0`)
	)
	pending, durable, answered := "", false, 0
	begun := map[string]bool{} // threads that sync what was written before the request, or after
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if m := request.FindStringSubmatch(line); m != nil {
			pending, durable = m[1], false
			clear(begun)
		}
		if m := syncing.FindStringSubmatch(line); m != nil {
			begun[m[1]] = true
		}
		if m := finished.FindStringSubmatch(line); m != nil && begun[m[1]] || synced.MatchString(line) {
			durable = true
		}
		if m := answer.FindStringSubmatch(line); m != nil && pending != "" {
			if !durable {
				t.Errorf("%s was answered with %s before the log was synced", pending, m[1])
			}
			pending = ""
			answered++
		}
	}
	return answered
}
