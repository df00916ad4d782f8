package coordinator

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kerr"
	"go.uber.org/goleak"

	"milena/gateway/backend"
	"milena/gateway/group"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTwoMembers(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		l, f := two(t, c)
		if l.Generation != 2 || f.Generation != 2 || l.MemberID == f.MemberID || len(l.Members) != 2 || len(f.Members) != 0 {
			t.Fatalf("%+v %+v", l, f)
		}
		d, err := c.Describe(t.Context(), "g")
		if err != nil || d.State != group.Stable || d.Leader != l.MemberID || len(d.Members) != 2 {
			t.Fatalf("%+v, %v", d, err)
		}
		errs, err := c.Leave(t.Context(), "g", []group.LeaveMember{{MemberID: l.MemberID}, {MemberID: "x"}})
		if err != nil || errs[0] != nil {
			t.Fatal(errs, err)
		}
		want(t, errs[1], kerr.UnknownMemberID)
		want(t, beat(t, c, f), kerr.RebalanceInProgress)
		if j := <-joining(t, c, f.MemberID); j.Leader != f.MemberID || j.Generation != 3 {
			t.Fatalf("%+v", j)
		}
	})
}

func TestInitialDelayAndSessionsRunOnTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		rebalanced := 0
		c := New(s, Options{Observer: Observer{Rebalanced: func() { rebalanced++ }}})
		start := time.Now()
		ja := joining(t, c, "")
		time.Sleep(2 * time.Second)
		jb := joining(t, c, "")
		a, b := <-ja, <-jb
		if d := time.Since(start); d != 6*time.Second {
			t.Fatalf("joined after %v", d)
		}
		want(t, (<-syncing(t, c, a)).Err, nil)
		want(t, (<-syncing(t, c, b)).Err, nil)
		for range 3 { // b falls silent
			time.Sleep(3 * time.Second)
			want(t, beat(t, c, a), nil)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, beat(t, c, a), kerr.RebalanceInProgress)
		start = time.Now()
		if j := <-joining(t, c, a.MemberID); j.Generation != 2 || len(j.Members) != 1 {
			t.Fatalf("%+v", j)
		}
		if d := time.Since(start); d != 0 {
			t.Fatalf("joined after %v", d)
		}
		want(t, (<-syncing(t, c, group.JoinReply{MemberID: a.MemberID, Generation: 2})).Err, nil)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if d, err := c.Describe(t.Context(), "g"); err != nil || d.State != group.Empty || d.Generation != 3 {
			t.Fatalf("%+v, %v", d, err)
		}
		if rebalanced != 3 {
			t.Fatalf("%d rebalances observed", rebalanced)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRestartCausesNoRebalance(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		l, f := two(t, c)
		restart := func() {
			t.Helper()
			if err := c.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			c = New(s, quick())
		}
		restart()
		want(t, beat(t, c, l), nil)
		want(t, beat(t, c, f), nil)
		if a := <-syncing(t, c, f); string(a.Assignment) != "for "+f.MemberID {
			t.Fatalf("%+v", a)
		}
		want(t, c.Commit(t.Context(), "g", group.MemberRequest{MemberID: f.MemberID, Generation: f.Generation}, s.offset(0, 5)), nil)
		if j := <-joining(t, c, f.MemberID); j.Err != nil || j.Generation != f.Generation {
			t.Fatalf("%+v", j)
		}
		restart() // nothing was stored since, and all the same
		want(t, beat(t, c, l), nil)
		want(t, c.Close(t.Context()), nil)
	})
}

func TestRestartBetweenJoinAndSync(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		j := <-joining(t, c, "")
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		c = New(s, quick())
		want(t, beat(t, c, j), nil)
		if a := <-syncing(t, c, j); a.Err != nil || string(a.Assignment) != "for "+j.MemberID {
			t.Fatalf("%+v", a)
		}
		want(t, c.Close(t.Context()), nil)
	})
}

func TestMemberThatDiedWithTheGatewayIsDropped(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		l, _ := two(t, c)
		want(t, c.Close(t.Context()), nil)
		c = New(s, quick())
		want(t, beat(t, c, l), nil)
		time.Sleep(9 * time.Second)
		want(t, beat(t, c, l), nil)
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, beat(t, c, l), kerr.RebalanceInProgress)
		want(t, c.Close(t.Context()), nil)
	})
}

func TestAnswersWaitForTheRecord(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		a := one(t, c)
		release := s.hold()
		j := joining(t, c, a.MemberID)
		pending(t, j)
		// Heartbeats don't wait for storage, and an answer that tells of the new
		// generation by another way waits too.
		want(t, beat(t, c, a), kerr.IllegalGeneration)
		again := joining(t, c, a.MemberID)
		pending(t, again)
		release()
		if x, y := <-j, <-again; x.Generation != 2 || y.Generation != 2 {
			t.Fatalf("%+v %+v", x, y)
		}
	})
}

func TestCommitsComeBeforeTheNextGeneration(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		a := one(t, c)
		s.taken()
		release := s.hold()
		commit := func(p int32) <-chan error {
			return later(func() error {
				return c.Commit(t.Context(), "g", group.MemberRequest{MemberID: a.MemberID, Generation: 1}, s.offset(p, 7))
			})
		}
		first := commit(0)
		synctest.Wait()
		second, third := commit(1), commit(2)
		synctest.Wait()
		j := joining(t, c, a.MemberID)
		pending(t, j)
		late := commit(3)
		want(t, <-late, kerr.IllegalGeneration)
		release()
		for _, ch := range []<-chan error{first, second, third} {
			want(t, <-ch, nil)
		}
		if got := (<-j).Generation; got != 2 {
			t.Fatalf("generation %d", got)
		}
		// The two that waited went out in one call.
		if got := s.taken(); !slices.Equal(got, []string{"commit 1", "commit 2", "group/g 3"}) {
			t.Fatalf("writes %v", got)
		}
	})
}

func TestOneBadCommitDoesNotFailOthers(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		release := s.hold()
		simple := group.MemberRequest{Generation: -1}
		commit := func(p int32) <-chan error {
			return later(func() error { return c.Commit(t.Context(), "g", simple, s.offset(p, 7)) })
		}
		first := commit(0)
		synctest.Wait()
		good, bad := commit(1), commit(1000)
		synctest.Wait()
		release()
		want(t, <-first, nil)
		want(t, <-good, nil)
		want(t, <-bad, backend.ErrUnknownTopic)
	})
}

func TestCommitRules(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		ctx := t.Context()
		simple := group.MemberRequest{Generation: -1}
		want(t, c.Commit(ctx, "g", group.MemberRequest{MemberID: "x", Generation: 5}, s.offset(0, 1)), kerr.GroupIDNotFound)
		want(t, c.Commit(ctx, "", simple, s.offset(0, 1)), nil)
		want(t, c.Commit(ctx, "g", simple, s.offset(0, 1)), nil)
		want(t, c.Commit(ctx, "g", simple, nil), nil)
		a := one(t, c)
		want(t, c.Commit(ctx, "g", simple, s.offset(0, 1)), kerr.UnknownMemberID)
		want(t, c.Commit(ctx, "g", group.MemberRequest{MemberID: a.MemberID, Generation: 2}, s.offset(0, 1)), kerr.IllegalGeneration)
		want(t, c.Commit(ctx, "g", group.MemberRequest{MemberID: a.MemberID, Generation: 2}, nil), kerr.IllegalGeneration)
		s.failWith(backend.ErrUnavailable)
		m := group.MemberRequest{MemberID: a.MemberID, Generation: 1}
		want(t, c.Commit(ctx, "g", m, s.offset(0, 1)), backend.ErrUnavailable)
		s.failWith(nil)
		want(t, beat(t, c, a), nil) // a commit that failed is no reason to give the group up
		want(t, c.Commit(ctx, "g", m, s.offset(0, 2)), nil)
	})
}

func TestCommitQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		o := quick()
		o.CommitsMax = 2
		c := New(s, o)
		release := s.hold()
		var waiting []<-chan error
		for i := range int32(4) {
			ch := later(func() error {
				return c.Commit(t.Context(), "g", group.MemberRequest{Generation: -1}, s.offset(i, 1))
			})
			synctest.Wait()
			waiting = append(waiting, ch)
		}
		// One is with the backend, two wait.
		want(t, <-waiting[3], kerr.CoordinatorLoadInProgress)
		release()
		for _, ch := range waiting[:3] {
			want(t, <-ch, nil)
		}
		want(t, c.Close(t.Context()), nil)
	})
}

func TestConnectionsGoAway(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		l, f := two(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		j := later(func() group.JoinReply { return c.Join(ctx, "g", request(""), nothing) })
		pending(t, j)
		cancel()
		want(t, (<-j).Err, context.Canceled)
		// The newcomer never learned its id and is gone; the others go on.
		jl := joining(t, c, l.MemberID)
		jf := <-joining(t, c, f.MemberID)
		leader := <-jl
		if len(leader.Members) != 2 {
			t.Fatalf("%+v", leader)
		}
		ctx, cancel = context.WithCancel(t.Context())
		sf := later(func() group.SyncReply {
			return c.Sync(ctx, "g", group.SyncRequest{MemberID: jf.MemberID, Generation: jf.Generation}, nothing)
		})
		pending(t, sf)
		cancel()
		want(t, (<-sf).Err, context.Canceled)
		again := syncing(t, c, jf)
		pending(t, again)
		want(t, (<-syncing(t, c, leader)).Err, nil)
		want(t, (<-again).Err, nil)
	})
}

func TestParkIsCalledAfterTheEffect(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		a := one(t, c)
		parked := make(chan error, 1)
		j := later(func() group.JoinReply {
			return c.Join(t.Context(), "g", request(""), func() { parked <- beat(t, c, a) })
		})
		want(t, <-parked, kerr.RebalanceInProgress)
		want(t, (<-joining(t, c, a.MemberID)).Err, nil)
		want(t, (<-j).Err, nil)
		r := c.Join(t.Context(), "g", request("x"), func() { t.Error("parked a request that is answered at once") })
		want(t, r.Err, kerr.UnknownMemberID)
	})
}

func TestEmptyGroupID(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		ctx := t.Context()
		want(t, c.Join(ctx, "", request(""), nothing).Err, kerr.InvalidGroupID)
		want(t, c.Sync(ctx, "", group.SyncRequest{}, nothing).Err, kerr.InvalidGroupID)
		want(t, c.Heartbeat(ctx, "", group.MemberRequest{}), kerr.InvalidGroupID)
		_, err := c.Leave(ctx, "", nil)
		want(t, err, kerr.InvalidGroupID)
	})
}

func TestCloseAnswersWaitersAndFinishesCommits(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		one(t, c)
		j := joining(t, c, "")
		pending(t, j)
		release := s.hold()
		commit := later(func() error {
			return c.Commit(t.Context(), "other", group.MemberRequest{Generation: -1}, s.offset(0, 9))
		})
		synctest.Wait()
		closed := later(func() error { return c.Close(t.Context()) })
		want(t, (<-j).Err, kerr.NotCoordinator)
		pending(t, closed)
		want(t, c.Join(t.Context(), "g", request(""), nothing).Err, kerr.NotCoordinator)
		release()
		want(t, <-commit, nil)
		want(t, <-closed, nil)
		if o, err := s.GroupOffsets(t.Context(), "other"); err != nil || len(o) != 1 {
			t.Fatal(o, err)
		}
	})
}

func TestCloseGivesUpOnStalledStorage(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		release := s.hold()
		defer release()
		commit := later(func() error {
			return c.Commit(t.Context(), "g", group.MemberRequest{Generation: -1}, s.offset(0, 9))
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		want(t, c.Close(ctx), context.DeadlineExceeded)
		if d := time.Since(start); d != time.Second {
			t.Fatalf("closed after %v", d)
		}
		want(t, <-commit, context.Canceled)
	})
}

func TestGroupsAreForgottenAndFound(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		ctx := t.Context()
		for range 3 { // unknown groups leave nothing behind
			want(t, beat(t, c, group.JoinReply{MemberID: "x"}), kerr.UnknownMemberID)
			_, err := c.Describe(ctx, "g")
			want(t, err, kerr.GroupIDNotFound)
		}
		if c.Loaded() != 0 {
			t.Fatalf("%d loaded", c.Loaded())
		}
		a := one(t, c)
		if _, err := c.Leave(ctx, "g", []group.LeaveMember{{MemberID: a.MemberID}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if c.Loaded() != 1 {
			t.Fatal("forgotten too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if c.Loaded() != 0 {
			t.Fatal("not forgotten")
		}
		if j := <-joining(t, c, ""); j.Generation != 3 {
			t.Fatalf("generation %d after an empty group came back", j.Generation)
		}
	})
}

func TestGroupsMax(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := quick()
		o.GroupsMax = 1
		c := New(newStore(t), o)
		one(t, c)
		want(t, c.Join(t.Context(), "h", request(""), nothing).Err, kerr.CoordinatorNotAvailable)
		want(t, c.Close(t.Context()), nil)
	})
}

func TestNewMemberID(t *testing.T) {
	uuid := regexp.MustCompile(`^client-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, b := newMemberID("client"), newMemberID("client")
	if !uuid.MatchString(a) || a == b {
		t.Fatal(a, b)
	}
	if id := newMemberID(strings.Repeat("é", 20000)); len(id) > 240 || !utf8.ValidString(id) {
		t.Fatalf("%d bytes, valid %v", len(id), utf8.ValidString(id))
	}
}

func TestJoinWithoutIDEchoesNothingButTheNewOne(t *testing.T) {
	bubble(t, func(t *testing.T, s *store, c *Coordinator) {
		r := request("")
		r.IDFirst = true
		j := c.Join(t.Context(), "g", r, nothing)
		if !errors.Is(j.Err, kerr.MemberIDRequired) || !strings.HasPrefix(j.MemberID, "client-") {
			t.Fatalf("%+v", j)
		}
		want(t, (<-joining(t, c, j.MemberID)).Err, nil)
	})
}
