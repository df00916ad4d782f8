package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// server is the milena process with the addresses that it printed.
type server struct {
	cmd                            *exec.Cmd
	exited                         chan error
	registry, kafka, broker, admin string
}

// start runs milena on free ports and waits until it is ready.
func start(ctx context.Context, binary, dir string) (*server, error) {
	s := &server{exited: make(chan error, 1)}
	s.cmd = exec.CommandContext(ctx, binary, "serve", "--data-dir", dir, "--registry-listen", "127.0.0.1:0", "--kafka-listen", "127.0.0.1:0",
		"--broker-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--default-partitions", "4", "--group-initial-rebalance-delay", "300ms")
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "MILENA_") {
			s.cmd.Env = append(s.cmd.Env, e)
		}
	}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Println("   " + lines.Text())
		part, address, _ := strings.Cut(lines.Text(), " ")
		if part == "ready" {
			go func() {
				_, _ = io.Copy(io.Discard, out)
				s.exited <- s.cmd.Wait()
			}()
			return s, nil
		}
		fields := strings.Fields(address)
		if len(fields) == 0 {
			continue
		}
		switch part {
		case "registry":
			s.registry = fields[0]
		case "kafka":
			s.kafka = fields[0]
		case "broker":
			s.broker = fields[0]
		case "admin":
			s.admin = fields[0]
		}
	}
	return nil, errors.Join(errors.New("milena ended before it was ready"), s.cmd.Wait())
}

// stop sends SIGTERM and wants exit code 0.
func (s *server) stop(ctx context.Context) error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.exited:
		s.exited <- nil
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(20 * time.Second):
		return errors.New("milena did not stop within 20 s")
	}
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// forms reads how records are stored from the metrics.
func (s *server) forms(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.admin+"/metrics", nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, line := range strings.Split(string(body), "\n") {
		if rest, ok := strings.CutPrefix(line, `milena_stored_records_total{form="`); ok {
			form, count, _ := strings.Cut(rest, `"} `)
			parts = append(parts, count+" "+form)
		}
	}
	return strings.Join(parts, ", "), nil
}
