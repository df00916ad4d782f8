package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"milena/cmd/internal/obs"
)

// TestWarnUnready: one line for each check that fails, once; none for what was
// reached in the meantime, and none while stopping.
func TestWarnUnready(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration // of stopping
		lines []string
	}{
		{"running", time.Minute, []string{"not ready yet: broker 127.0.0.1:1: refused"}},
		{"stopped at once", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				log := slog.New(slog.NewTextHandler(&out, nil))
				n := &Node{log: log, admin: obs.NewAdmin(obs.NewMetrics().Gatherer(), log)}
				began := time.Now()
				n.admin.AddCheck("broker 127.0.0.1:1", func(context.Context) error { return errors.New("refused") })
				n.admin.AddCheck("registry", func(context.Context) error {
					if time.Since(began) < connectTime/2 {
						return errors.New("not connected yet")
					}
					return nil
				})
				n.warnUnready(t.Context())
				time.Sleep(c.after)
				if err := n.parts.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if strings.Count(out.String(), "level=WARN") != len(c.lines) {
					t.Errorf("logged %q, want %q", out.String(), c.lines)
				}
				for _, l := range c.lines {
					if !strings.Contains(out.String(), l) {
						t.Errorf("logged %q without %q", out.String(), l)
					}
				}
			})
		})
	}
}
