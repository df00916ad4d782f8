package group

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

var update = flag.Bool("update", false, "rewrite testdata/matrix.txt")

// setups bring a group into each state. Members are m1, the leader, and m2, except
// where there are none.
func setups() []struct {
	name string
	make func(*testing.T) *rig
} {
	type setup = struct {
		name string
		make func(*testing.T) *rig
	}
	return []setup{
		{"Empty, new", func(t *testing.T) *rig { return newRig(t, noDelay) }},
		{"Empty, left by all", func(t *testing.T) *rig {
			r := stable(t, noDelay, 2)
			r.leave("m1", "m2")
			return r
		}},
		{"PreparingRebalance, m2 waits for m1", func(t *testing.T) *rig {
			r := stable(t, noDelay, 2)
			r.join("b2", "m2")
			return r
		}},
		{"PreparingRebalance, initial delay", func(t *testing.T) *rig {
			r := newRig(t, Config{})
			r.join("a", "")
			r.join("b", "")
			return r
		}},
		{"CompletingRebalance, nobody synced", func(t *testing.T) *rig {
			r := stable(t, noDelay, 2)
			r.join("b", "m2")
			r.join("a", "m1")
			r.join("b", "m2")
			return r
		}},
		{"CompletingRebalance, m2 waits for m1", func(t *testing.T) *rig {
			r := stable(t, noDelay, 2)
			r.join("a", "m1")
			r.join("b", "m2")
			r.sync("m2", 2)
			return r
		}},
		{"Stable", func(t *testing.T) *rig { return stable(t, noDelay, 2) }},
		{"Dead", func(t *testing.T) *rig {
			r := stable(t, noDelay, 2)
			r.take(r.g.Dismiss(kerr.NotCoordinator))
			return r
		}},
	}
}

// events are tried in each state; they return what was answered at once.
func events() []struct {
	name string
	do   func(*rig) string
} {
	type event = struct {
		name string
		do   func(*rig) string
	}
	join := func(mark, id string, idFirst bool) func(*rig) string {
		return func(r *rig) string {
			req := r.request(mark, id)
			req.IDFirst = idFirst
			return r.says(r.send(req))
		}
	}
	sync := func(id string, off int32) func(*rig) string {
		return func(r *rig) string {
			var as []Assignment
			if id == "m1" {
				as = []Assignment{{"m1", []byte("new1")}, {"m2", []byte("new2")}}
			}
			return r.says(r.sync(id, r.g.generation+off, as...))
		}
	}
	heartbeat := func(id string, off int32) func(*rig) string {
		return func(r *rig) string {
			return name(r.g.Heartbeat(r.now, MemberRequest{MemberID: id, Generation: r.g.generation + off}))
		}
	}
	commit := func(id string, gen int32) func(*rig) string {
		return func(r *rig) string {
			m := MemberRequest{MemberID: id, Generation: gen}
			if gen >= 0 {
				m.Generation = r.g.generation + gen
			}
			return name(r.g.Commit(r.now, m))
		}
	}
	leave := func(ids ...string) func(*rig) string {
		return func(r *rig) string {
			var out []string
			for _, err := range r.leave(ids...) {
				out = append(out, name(err))
			}
			return strings.Join(out, ",")
		}
	}
	return []event{
		{"join, newcomer", join("c", "", false)},
		{"join, newcomer, id first", join("c", "", true)},
		{"join, unknown id", join("c", "x", false)},
		{"join, leader, unchanged", join("a", "m1", false)},
		{"join, leader, changed", join("a3", "m1", false)},
		{"join, follower, unchanged", join("b", "m2", false)},
		{"join, follower, changed", join("b3", "m2", false)},
		{"sync, leader", sync("m1", 0)},
		{"sync, follower", sync("m2", 0)},
		{"sync, old generation", sync("m1", -1)},
		{"sync, unknown id", sync("x", 0)},
		{"heartbeat, leader", heartbeat("m1", 0)},
		{"heartbeat, follower", heartbeat("m2", 0)},
		{"heartbeat, old generation", heartbeat("m1", -1)},
		{"heartbeat, newer generation", heartbeat("m1", 1)},
		{"heartbeat, unknown id", heartbeat("x", 0)},
		{"leave, leader", leave("m1")},
		{"leave, follower", leave("m2")},
		{"leave, both", leave("m1", "m2")},
		{"leave, unknown id", leave("x")},
		{"commit, leader", commit("m1", 0)},
		{"commit, old generation", commit("m1", -2)},
		{"commit, newer generation", commit("m1", 1)},
		{"commit, unknown id", commit("x", 0)},
		{"commit, simple", commit("", -1)},
		{"connections go", func(r *rig) string {
			for tk := range r.last {
				if !r.given[tk+1] {
					r.abandon(tk + 1)
				}
			}
			return "-"
		}},
		{"3 s pass", func(r *rig) string { r.pass(3 * time.Second); return "-" }},
		{"10 s pass", func(r *rig) string { r.pass(10 * time.Second); return "-" }},
		{"61 s pass with heartbeats", func(r *rig) string {
			for range 13 {
				for _, m := range []string{"m1", "m2"} {
					r.heartbeat(m)
				}
				r.pass(61 * time.Second / 13)
			}
			return "-"
		}},
		{"delete", func(r *rig) string { return name(r.g.Delete()) }},
	}
}

// says is the answer to a ticket, or that it waits.
func (r *rig) says(t Ticket) string {
	if j, ok := r.joins[t]; ok {
		if j.Err != nil {
			return name(j.Err)
		}
		return fmt.Sprintf("generation %d, leader %s, %d members", j.Generation, j.Leader, len(j.Members))
	}
	if s, ok := r.syncs[t]; ok {
		if s.Err != nil {
			return name(s.Err)
		}
		return fmt.Sprintf("assignment %q", s.Assignment)
	}
	return "waits"
}

func name(err error) string {
	if err == nil {
		return "ok"
	}
	var k *kerr.Error
	if !errors.As(err, &k) {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", k.Code, k.Message)
}

// TestMatrix tries every event in every state: what is answered to it, what to
// those who waited before, which state follows, and whether it is stored. The
// expectations are in testdata/matrix.txt; a change there is a change of behaviour
// and needs its source in the protocol.
func TestMatrix(t *testing.T) {
	var b strings.Builder
	for _, s := range setups() {
		fmt.Fprintf(&b, "# %s\n", s.name)
		for _, e := range events() {
			r := s.make(t)
			before, persists := map[Ticket]bool{}, r.persists
			for tk := range r.asked {
				before[tk] = !r.given[tk]
			}
			line := fmt.Sprintf("%-27s %s", e.name, e.do(r))
			line += fmt.Sprintf(" -> %v %d", r.g.state, r.g.generation)
			for tk := Ticket(1); tk <= r.last; tk++ {
				if before[tk] && r.given[tk] && r.says(tk) != "waits" {
					line += fmt.Sprintf("; waiting one: %s", r.says(tk))
				}
			}
			if r.persists > persists {
				line += "; stored"
			}
			b.WriteString(line + "\n")
		}
		b.WriteString("\n")
	}
	const file = "testdata/matrix.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	section := ""
	for i := range max(len(gotLines), len(wantLines)) {
		var g, w string
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if strings.HasPrefix(w, "#") {
			section = w
		}
		if g != w {
			t.Errorf("%s\n got %s\nwant %s", section, g, w)
		}
	}
}
