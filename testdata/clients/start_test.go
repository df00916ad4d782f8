package clients

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRefusedStart wants one clear line on standard error and exit code 2.
func TestRefusedStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := t.TempDir()
	start(t, append(ports(), "--data-dir", locked)...)

	for _, tc := range []struct {
		name string
		args []string
		env  string
		want string
	}{
		{"port in use", append(ports(), "--data-dir", t.TempDir(), "--registry-listen", taken.Addr().String()), "", taken.Addr().String()},
		{"kafka port in use", []string{"--dev", "--registry-listen", "127.0.0.1:0", "--broker-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--kafka-listen", taken.Addr().String()}, "", "address already in use"},
		{"data directory is a file", append(ports(), "--data-dir", filepath.Join(file, "data")), "", "data"},
		{"data directory locked", append(ports(), "--data-dir", locked), "", locked},
		{"two listeners of one name", append(ports(), "--dev", "--kafka-listen", "127.0.0.1:0"), "", "NAME=LISTEN@ADVERTISE"},
		{"advertised address for nobody", append(ports(), "--dev", "--kafka-advertise", "0.0.0.0:9092"), "", "0.0.0.0:9092"},
		{"registry without scheme", append(ports(), "--roles", "gateway", "--broker", "127.0.0.1:1", "--registry-url", "127.0.0.1:8081"), "", "registry-url"},
		{"unknown flag", []string{"--colour"}, "", "colour"},
		{"unknown variable", []string{"--dev"}, "MILENA_COLOUR=red", "MILENA_COLOUR"},
		{"unknown role", []string{"--roles", "chef"}, "", "chef"},
		{"gateway without broker", append(ports(), "--dev", "--roles", "gateway,registry"), "", "--broker"},
		{"gateway without registry", append(ports(), "--dev", "--roles", "gateway,broker"), "", "--registry-url"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := command(t, append([]string{"serve"}, tc.args...)...)
			if tc.env != "" {
				cmd.Env = append(cmd.Env, tc.env)
			}
			var stderr lockedBuffer
			cmd.Stderr = &stderr
			kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			defer kill.Stop()
			err := cmd.Run()
			text := strings.TrimSpace(stderr.String())
			if cmd.ProcessState.ExitCode() != 2 {
				t.Errorf("exit code %d (%v), want 2", cmd.ProcessState.ExitCode(), err)
			}
			if !strings.Contains(text, tc.want) || strings.Count(text, "\n") > 0 {
				t.Errorf("standard error %q, want one line with %q", text, tc.want)
			}
		})
	}
}

// TestIdle holds the figures for an idle process on an empty directory.
func TestIdle(t *testing.T) {
	dir := t.TempDir()
	s := start(t, append(ports(), "--data-dir", dir)...)
	t.Logf("ready after %v, %d KiB resident", s.ready, s.rss()>>10)
	if s.ready > 300*time.Millisecond {
		// A loaded machine may be slow once; it isn't slow three times.
		for range 2 {
			again := start(t, append(ports(), "--data-dir", t.TempDir())...)
			s.ready = min(s.ready, again.ready)
		}
		if s.ready > 300*time.Millisecond {
			t.Errorf("ready after %v, want less than 300 ms", s.ready)
		}
	}
	if rss := s.rss(); rss > 60<<20 {
		t.Errorf("%d MiB resident, want less than 60", rss>>20)
	}
	if status, body := s.request(http.MethodGet, s.admin+"/readyz", ""); status != 200 {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if status, body := s.request(http.MethodGet, s.admin+"/livez", ""); status != 200 {
		t.Errorf("/livez: %d %s", status, body)
	}
	if code := s.terminate(); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
	if log := s.stderr.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "panic") {
		t.Errorf("log of a clean run:\n%s", log)
	}
}

// TestDevSaysSo wants --dev to say that nothing is kept, and keep nothing.
func TestDevSaysSo(t *testing.T) {
	s := start(t, append(ports(), "--dev")...)
	s.register("kept-value", `"string"`)
	if log := s.stderr.String(); !strings.Contains(log, "memory") {
		t.Errorf("nothing at start says that data is in memory only:\n%s", log)
	}
	s.kill()
	s.restart()
	if _, body := s.request(http.MethodGet, s.registry+"/subjects", ""); strings.TrimSpace(body) != "[]" {
		t.Errorf("subjects after a restart of --dev: %s", body)
	}
}

// TestVersion wants one line.
func TestVersion(t *testing.T) {
	out, err := command(t, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "milena ") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%q, %v", out, err)
	}
}
