package group

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestRestoreGoesOn(t *testing.T) {
	r := stable(t, noDelay, 2)
	restart := func() {
		t.Helper()
		g, err := Restore(noDelay, r.g.Snapshot(), r.now)
		if err != nil {
			t.Fatal(err)
		}
		r.g = g
		r.check()
	}
	restart()
	r.want(r.heartbeat("m1"), nil)
	r.want(r.heartbeat("m2"), nil)
	if a := r.synced(r.sync("m2", 1)); a != "for m2" {
		t.Fatalf("assignment %q", a)
	}
	r.joined(r.join("b", "m2")) // unchanged: no rebalance
	r.state(Stable, 1)

	// Between join and sync: the new generation is not given out a second time.
	r.join("b2", "m2")
	r.join("a", "m1")
	r.state(CompletingRebalance, 2)
	restart()
	f := r.sync("m2", 2)
	r.waiting(f)
	r.sync("m1", 2, r.assignAll()...)
	r.synced(f)

	// Sessions start anew, and end.
	restart()
	r.pass(9 * time.Second)
	r.want(r.heartbeat("m1"), nil)
	r.pass(2 * time.Second)
	r.want(r.heartbeat("m1"), kerr.RebalanceInProgress)
	r.leave("m1")
	r.state(Empty, 3)
	restart()
	if got := r.joined(r.join("c", "")); got.Generation != 4 {
		t.Fatalf("%+v", got)
	}
}

func TestRestoreKeepsTheSyncDeadline(t *testing.T) {
	r := newRig(t, noDelay)
	r.join("a", "")
	g, err := Restore(noDelay, r.g.Snapshot(), r.now)
	if err != nil {
		t.Fatal(err)
	}
	r.g = g
	for range 13 {
		r.pass(5 * time.Second)
		r.heartbeat("m1")
	}
	r.state(Empty, 2)
}

func TestRestoreRefusesContradictions(t *testing.T) {
	good := stable(t, noDelay, 2).g.Snapshot()
	for name, change := range map[string]func(*Snapshot){
		"state":              func(s *Snapshot) { s.State = PreparingRebalance },
		"dead":               func(s *Snapshot) { s.State = Dead },
		"empty with members": func(s *Snapshot) { s.State = Empty },
		"without members":    func(s *Snapshot) { s.Members = nil },
		"generation":         func(s *Snapshot) { s.Generation = -1 },
		"leader":             func(s *Snapshot) { s.Leader = "x" },
		"no id":              func(s *Snapshot) { s.Members[0].ID = "" },
		"id twice":           func(s *Snapshot) { s.Members[0].ID = s.Members[1].ID },
		"instance twice":     func(s *Snapshot) { s.Members[0].InstanceID, s.Members[1].InstanceID = "i", "i" },
		"no session":         func(s *Snapshot) { s.Members[0].SessionTimeout = 0 },
		"no rebalance":       func(s *Snapshot) { s.Members[0].RebalanceTimeout = 0 },
		"protocol":           func(s *Snapshot) { s.Protocol = "sticky" },
	} {
		s := good
		s.Members = append([]MemberSnapshot{}, good.Members...)
		change(&s)
		if _, err := Restore(noDelay, s, time.Now()); !errors.Is(err, ErrSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Restore(noDelay, good, time.Now()); err != nil {
		t.Error(err)
	}
}

func TestStateNames(t *testing.T) {
	for s, want := range map[State]string{
		Empty: "Empty", PreparingRebalance: "PreparingRebalance", CompletingRebalance: "CompletingRebalance",
		Stable: "Stable", Dead: "Dead", 9: "Unknown",
	} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", s, s, want)
		}
	}
}
