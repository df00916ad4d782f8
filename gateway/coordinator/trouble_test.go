package coordinator

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/backend"
	"milena/gateway/group"
)

func TestStorageTroubleGivesTheGroupUpAndRestoresIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		failures := 0
		c.opts.Observer.StorageFailed = func() { failures++ }
		l, f := two(t, c)
		jf := joining(t, c, "") // a third member
		pending(t, jf)
		s.failWith(backend.ErrUnavailable)
		want(t, beat(t, c, f), kerr.RebalanceInProgress)
		x := joining(t, c, f.MemberID)
		y := joining(t, c, l.MemberID)
		want(t, (<-jf).Err, backend.ErrUnavailable)
		want(t, (<-x).Err, backend.ErrUnavailable)
		want(t, (<-y).Err, backend.ErrUnavailable)
		// What is stored holds: generation 2, both members.
		want(t, beat(t, c, l), nil)
		s.failWith(nil)
		x = joining(t, c, l.MemberID) // a leader's join rebalances
		pending(t, x)
		want(t, beat(t, c, f), kerr.RebalanceInProgress)
		if j := <-joining(t, c, f.MemberID); j.Generation != 3 {
			t.Fatalf("%+v", j)
		}
		want(t, (<-x).Err, nil)
		if failures != 1 {
			t.Fatalf("%d failures observed", failures)
		}
	})
}

func TestWriteThatOnlySeemsToFail(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		a := one(t, c)
		s.loseWith(backend.ErrUnavailable)
		want(t, (<-joining(t, c, a.MemberID)).Err, backend.ErrUnavailable)
		s.loseWith(nil)
		// Generation 2 is stored and nobody knows of it: the next try learns it.
		want(t, beat(t, c, a), kerr.IllegalGeneration)
		j := <-joining(t, c, a.MemberID)
		if j.Err != nil || j.Generation != 2 || len(j.Members) != 1 {
			t.Fatalf("%+v", j)
		}
		want(t, (<-syncing(t, c, j)).Err, nil)
	})
}

func TestAnotherWriter(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		a := one(t, c)
		other := New(s, quick())
		want(t, beat(t, other, a), nil)
		j := <-joining(t, other, a.MemberID)
		want(t, j.Err, nil)
		want(t, other.Close(t.Context()), nil)
		// This coordinator is behind; it notices with its next write and catches up.
		want(t, beat(t, c, a), nil)
		want(t, (<-joining(t, c, a.MemberID)).Err, backend.ErrConflict)
		want(t, beat(t, c, a), kerr.IllegalGeneration)
		want(t, beat(t, c, j), nil)
	})
}

func TestUnreadableRecord(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		for _, value := range [][]byte{{99}, {1, 3, 0, 0, 0, 0, 0}} {
			rec, _ := s.Load(t.Context(), "group/g")
			if _, err := s.CompareAndAppend(t.Context(), "group/g", rec.Version, value); err != nil {
				t.Fatal(err)
			}
			want(t, (<-joining(t, c, "")).Err, kerr.CoordinatorNotAvailable)
			if rec, _ := s.Load(t.Context(), "group/g"); !slices.Equal(rec.Value, value) {
				t.Fatal("a record that can't be read was overwritten")
			}
		}
		if c.Loaded() != 0 {
			t.Fatal("still loaded")
		}
	})
}

func TestLoadFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		s.Fail(backend.ErrUnavailable)
		want(t, (<-joining(t, c, "")).Err, backend.ErrUnavailable)
		want(t, beat(t, c, group.JoinReply{MemberID: "x"}), backend.ErrUnavailable)
		_, err := c.Leave(t.Context(), "g", []group.LeaveMember{{MemberID: "x"}})
		want(t, err, backend.ErrUnavailable)
		s.Fail(nil)
		one(t, c)
	})
}

func TestStalledStorageTimesOut(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		a := one(t, c)
		release := s.hold()
		start := time.Now()
		j := <-joining(t, c, a.MemberID)
		want(t, j.Err, context.DeadlineExceeded)
		if d := time.Since(start); d != 10*time.Second {
			t.Fatalf("after %v", d)
		}
		release()
		want(t, beat(t, c, a), nil)
	})
}
