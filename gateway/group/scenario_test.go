package group

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestFirstJoinWaitsForMore(t *testing.T) {
	r := newRig(t, Config{})
	a := r.join("a", "")
	r.pass(2 * time.Second)
	b := r.join("b", "") // extends the wait by another period
	r.pass(1500 * time.Millisecond)
	r.waiting(a)
	r.waiting(b)
	r.pass(2500 * time.Millisecond)
	ja, jb := r.joined(a), r.joined(b)
	if ja.Generation != 1 || jb.Generation != 1 || ja.Leader != "m1" || jb.Leader != "m1" {
		t.Fatalf("%+v %+v", ja, jb)
	}
	if len(ja.Members) != 2 || len(jb.Members) != 0 {
		t.Fatalf("the leader sees %d members, the follower %d", len(ja.Members), len(jb.Members))
	}
	if string(ja.Members[1].Metadata) != "b/range" || ja.ProtocolType != "consumer" || ja.Protocol != "range" {
		t.Fatalf("%+v", ja)
	}
}

func TestFirstJoinDoesNotWaitBeyondRebalanceTimeout(t *testing.T) {
	r := newRig(t, Config{InitialRebalanceDelay: 3 * time.Second})
	var first Ticket
	for i := range 8 { // somebody new every second
		req := r.request(fmt.Sprint(i), "")
		req.RebalanceTimeout = 5 * time.Second
		tk := r.send(req)
		if i == 0 {
			first = tk
		}
		if i < 5 {
			r.waiting(first)
		}
		r.pass(time.Second)
	}
	if r.joined(first).Generation != 1 {
		t.Fatal("not generation 1")
	}
}

func TestSameClientIDIsTwoMembers(t *testing.T) {
	r := newRig(t, Config{})
	a, b := r.join("x", ""), r.join("x", "")
	r.pass(10 * time.Second)
	if r.joined(a).MemberID == r.joined(b).MemberID {
		t.Fatal("two joins without id became one member")
	}
}

func TestIDFirst(t *testing.T) {
	r := newRig(t, noDelay)
	req := r.request("a", "")
	req.IDFirst = true
	tk := r.send(req)
	r.refused(tk, kerr.MemberIDRequired)
	if got := r.joins[tk]; got.MemberID != "m1" || got.Generation != -1 {
		t.Fatalf("%+v", got)
	}
	r.state(Empty, 0)
	r.want(r.heartbeat("m1"), kerr.UnknownMemberID) // not a member yet
	if got := r.joined(r.join("a", "m1")); got.MemberID != "m1" {
		t.Fatalf("%+v", got)
	}
	r.sync("m1", 1)
	// A promise holds up a join phase until it is used or its time is up.
	req = r.request("b", "")
	req.IDFirst = true
	r.send(req)
	again := r.join("a", "m1")
	r.waiting(again)
	r.pass(10 * time.Second)
	if got := r.joined(again); got.Generation != 2 {
		t.Fatalf("%+v", got)
	}
	r.refused(r.join("b", "m3"), kerr.UnknownMemberID)
}

func TestFollowerRejoinKeepsAssignment(t *testing.T) {
	r := stable(t, noDelay, 2)
	got := r.joined(r.join("b", "m2"))
	if got.Generation != 1 || len(got.Members) != 0 {
		t.Fatalf("%+v", got)
	}
	if a := r.synced(r.sync("m2", 1)); a != "for m2" {
		t.Fatalf("assignment %q", a)
	}
	r.want(r.heartbeat("m1"), nil)
}

func TestFollowerSyncWaitsForLeader(t *testing.T) {
	r := stable(t, noDelay, 2)
	r.join("b2", "m2")
	r.join("a", "m1")
	r.state(CompletingRebalance, 2)
	f := r.sync("m2", 2)
	r.waiting(f)
	r.want(r.heartbeat("m2"), nil) // not 27: it has joined
	l := r.sync("m1", 2, Assignment{"m2", []byte("new")}, Assignment{"nobody", []byte("x")})
	if a := r.synced(f); a != "new" {
		t.Fatalf("assignment %q", a)
	}
	if a := r.synced(l); a != "" {
		t.Fatalf("assignment of the one left out %q", a)
	}
}

func TestGenerationGrowsAtCompletion(t *testing.T) {
	r := stable(t, noDelay, 1)
	b := r.join("b", "")
	r.state(PreparingRebalance, 1)
	r.want(r.heartbeat("m1"), kerr.RebalanceInProgress)
	r.want(r.g.Heartbeat(r.now, MemberRequest{MemberID: "m1", Generation: 0}), kerr.IllegalGeneration)
	r.join("a", "m1")
	r.state(CompletingRebalance, 2)
	r.joined(b)
	r.want(r.g.Heartbeat(r.now, MemberRequest{MemberID: "m1", Generation: 1}), kerr.IllegalGeneration)
}

func TestLateJoinerStartsOver(t *testing.T) {
	r := stable(t, noDelay, 2)
	r.join("b2", "m2")
	r.join("a", "m1")
	f := r.sync("m2", 2)
	c := r.join("c", "")
	r.refused(f, kerr.RebalanceInProgress)
	r.refused(r.sync("m1", 2, r.assignAll()...), kerr.RebalanceInProgress)
	r.join("a", "m1")
	r.join("b2", "m2")
	r.state(CompletingRebalance, 3)
	r.joined(c)
	r.refused(r.sync("m1", 2, r.assignAll()...), kerr.IllegalGeneration)
}

func TestMissingMemberIsDroppedAtRebalanceTimeout(t *testing.T) {
	r := stable(t, noDelay, 2)
	b := r.join("b2", "m2")
	for range 11 { // m1 heartbeats but doesn't join
		r.pass(5 * time.Second)
		r.want(r.heartbeat("m1"), kerr.RebalanceInProgress)
	}
	r.waiting(b)
	r.pass(5 * time.Second)
	if got := r.joined(b); got.Leader != "m2" || len(got.Members) != 1 {
		t.Fatalf("%+v", got)
	}
	r.want(r.heartbeat("m1"), kerr.UnknownMemberID)
}

func TestSessionTimeout(t *testing.T) {
	r := stable(t, noDelay, 2)
	r.pass(6 * time.Second)
	r.want(r.heartbeat("m2"), nil)
	r.pass(6 * time.Second) // m1 was silent for 12 s of 10
	r.want(r.heartbeat("m2"), kerr.RebalanceInProgress)
	if got := r.joined(r.join("b", "m2")); got.Leader != "m2" || got.Generation != 2 {
		t.Fatalf("%+v", got)
	}
	r.sync("m2", 2)
	r.pass(10 * time.Second)
	r.state(Empty, 3)
	// Generations go on with the next member.
	if got := r.joined(r.join("c", "")); got.Generation != 4 {
		t.Fatalf("%+v", got)
	}
}

func TestMemberWithoutSyncIsDropped(t *testing.T) {
	r := stable(t, noDelay, 2)
	r.join("b2", "m2")
	r.join("a", "m1")
	f := r.sync("m2", 2)
	for range 12 { // the leader heartbeats and never syncs
		r.pass(5 * time.Second)
		r.g.Heartbeat(r.now, MemberRequest{MemberID: "m1", Generation: 2})
	}
	r.refused(f, kerr.RebalanceInProgress)
	r.want(r.heartbeat("m1"), kerr.UnknownMemberID)
}

func TestBatchLeaveIsOneTransition(t *testing.T) {
	r := stable(t, noDelay, 3)
	errs := r.leave("m1", "nobody", "m2", "m1")
	for i, want := range []*kerr.Error{nil, kerr.UnknownMemberID, nil, kerr.UnknownMemberID} {
		r.want(errs[i], want)
	}
	r.state(PreparingRebalance, 1)
	if got := r.joined(r.join("c", "m3")); got.Leader != "m3" || got.Generation != 2 {
		t.Fatalf("%+v", got)
	}
	r.leave("m3")
	r.state(Empty, 3)
}

func TestLeaveAnswersWhatWaits(t *testing.T) {
	r := stable(t, noDelay, 2)
	j := r.join("b2", "m2")
	r.leave("m2")
	r.refused(j, kerr.UnknownMemberID)
	r.join("a", "m1")
	r.state(CompletingRebalance, 2)
}

func TestConnectionGoesAway(t *testing.T) {
	t.Run("id unknown to the client", func(t *testing.T) {
		r := stable(t, noDelay, 1)
		j := r.join("b", "")
		r.abandon(j)
		if len(r.g.members) != 1 {
			t.Fatal("a member that can't come back is still there")
		}
		r.joined(r.join("a", "m1"))
		r.state(CompletingRebalance, 2)
	})
	t.Run("known id comes back", func(t *testing.T) {
		r := stable(t, noDelay, 2)
		j := r.join("b2", "m2")
		r.abandon(j)
		j = r.join("b2", "m2")
		r.join("a", "m1")
		r.joined(j)
		r.state(CompletingRebalance, 2)
	})
	t.Run("known id stays away", func(t *testing.T) {
		r := stable(t, noDelay, 2)
		r.abandon(r.join("b2", "m2"))
		r.join("a", "m1")
		r.state(CompletingRebalance, 2) // it counts as joined
		r.sync("m1", 2, r.assignAll()...)
		r.pass(9 * time.Second)
		r.want(r.heartbeat("m1"), nil)
		r.pass(time.Second)
		r.want(r.heartbeat("m1"), kerr.RebalanceInProgress)
	})
	t.Run("a leader that is there is preferred", func(t *testing.T) {
		r := stable(t, noDelay, 2)
		r.abandon(r.join("a2", "m1"))
		if got := r.joined(r.join("b", "m2")); got.Leader != "m2" {
			t.Fatalf("leader %s", got.Leader)
		}
	})
	t.Run("sync comes back", func(t *testing.T) {
		r := stable(t, noDelay, 2)
		r.join("b2", "m2")
		r.join("a", "m1")
		r.abandon(r.sync("m2", 2))
		again := r.sync("m2", 2)
		r.sync("m1", 2, r.assignAll()...)
		if a := r.synced(again); a != "for m2" {
			t.Fatalf("assignment %q", a)
		}
	})
	t.Run("request repeated before the old connection is seen to be gone", func(t *testing.T) {
		r := stable(t, noDelay, 2)
		old := r.join("b2", "m2")
		again := r.join("b2", "m2")
		r.refused(old, kerr.RebalanceInProgress)
		r.join("a", "m1")
		r.joined(again)
		oldSync := r.sync("m2", 2)
		s := r.sync("m2", 2)
		r.refused(oldSync, kerr.RebalanceInProgress)
		r.sync("m1", 2, r.assignAll()...)
		r.synced(s)
	})
}

func TestLostJoinAnswer(t *testing.T) {
	r := stable(t, noDelay, 2)
	r.join("b2", "m2")
	r.join("a", "m1")
	leader, follower := r.joined(r.join("a", "m1")), r.joined(r.join("b2", "m2"))
	if leader.Generation != 2 || len(leader.Members) != 2 || follower.Generation != 2 || len(follower.Members) != 0 {
		t.Fatalf("%+v %+v", leader, follower)
	}
	c := r.join("b3", "m2") // changed: starts over
	r.waiting(c)
	r.state(PreparingRebalance, 2)
}

func TestProtocolChoice(t *testing.T) {
	for _, c := range []struct {
		marks []string
		want  string
	}{
		{[]string{"a:range,sticky", "b:sticky,range", "c:sticky,range"}, "sticky"},
		{[]string{"a:coop,range", "b:range"}, "range"},
		{[]string{"a:x,y", "b:y,x"}, "x"}, // a tie goes to the first member
		{[]string{"a:x,x,y", "b:y,y"}, "y"},
	} {
		r := newRig(t, Config{})
		var tk Ticket
		for _, m := range c.marks {
			tk = r.join(m, "")
		}
		r.pass(60 * time.Second)
		if got := r.joined(tk).Protocol; got != c.want {
			t.Errorf("%v: %s, want %s", c.marks, got, c.want)
		}
	}
}

func TestProtocolRefusals(t *testing.T) {
	r := stable(t, noDelay, 1)
	change := func(f func(*JoinRequest)) Ticket {
		req := r.request("b", "")
		f(&req)
		return r.send(req)
	}
	r.refused(change(func(q *JoinRequest) { q.ProtocolType = "connect" }), kerr.InconsistentGroupProtocol)
	r.refused(change(func(q *JoinRequest) { q.ProtocolType = "" }), kerr.InconsistentGroupProtocol)
	r.refused(change(func(q *JoinRequest) { q.Protocols = nil }), kerr.InconsistentGroupProtocol)
	r.refused(change(func(q *JoinRequest) { q.Protocols = proto("b:other") }), kerr.InconsistentGroupProtocol)
	r.refused(change(func(q *JoinRequest) { q.MemberID, q.Protocols = "m1", proto("a:other") }), kerr.InconsistentGroupProtocol)
	r.refused(change(func(q *JoinRequest) { q.SessionTimeout = time.Second }), kerr.InvalidSessionTimeout)
	r.refused(change(func(q *JoinRequest) { q.SessionTimeout = time.Hour }), kerr.InvalidSessionTimeout)
	r.state(Stable, 1)
	r.want(r.heartbeat("m1"), nil)
	sync := func(change func(*SyncRequest)) Ticket {
		s := SyncRequest{Ticket: r.ticket(), MemberID: "m1", Generation: 1, HasProtocol: true, ProtocolType: "consumer", Protocol: "range"}
		change(&s)
		r.take(r.g.Sync(r.now, s))
		return s.Ticket
	}
	r.synced(sync(func(*SyncRequest) {}))
	r.refused(sync(func(s *SyncRequest) { s.Protocol = "sticky" }), kerr.InconsistentGroupProtocol)
	r.refused(sync(func(s *SyncRequest) { s.ProtocolType = "sr" }), kerr.InconsistentGroupProtocol)
	r.refused(sync(func(s *SyncRequest) { s.Generation = 2 }), kerr.IllegalGeneration)
	r.refused(sync(func(s *SyncRequest) { s.MemberID = "x" }), kerr.UnknownMemberID)
}

func TestLimits(t *testing.T) {
	cfg := Config{InitialRebalanceDelay: -1, MembersMax: 2, ProtocolsMax: 2, MetadataBytesMax: 100, AssignmentBytesMax: 10}
	r := newRig(t, cfg)
	r.join("a", "")
	r.join("b", "")
	r.refused(r.join("c", ""), kerr.GroupMaxSizeReached)
	r.refused(r.join("a:range,x,y", "m1"), kerr.InvalidRequest)
	req := r.request("a", "m1")
	req.Protocols[0].Metadata = bytes.Repeat([]byte{1}, 100)
	r.refused(r.send(req), kerr.GroupMaxSizeReached)

	r = stable(t, cfg, 1)
	r.join("a", "m1")
	r.refused(r.sync("m1", 2, Assignment{"m1", make([]byte, 11)}), kerr.InvalidRequest)
	r.synced(r.sync("m1", 2, Assignment{"m1", make([]byte, 10)}))

	r = newRig(t, cfg)
	for i := range 3 {
		q := r.request("p", "")
		q.IDFirst = true
		want := kerr.MemberIDRequired
		if i == 2 {
			want = kerr.GroupMaxSizeReached
		}
		r.refused(r.send(q), want)
	}
}

func TestRebalanceTimeoutBounds(t *testing.T) {
	r := newRig(t, Config{InitialRebalanceDelay: -1, RebalanceTimeoutMax: time.Minute})
	req := r.request("a", "")
	req.RebalanceTimeout = 0
	r.send(req)
	if got := r.g.members[0].rebalance; got != req.SessionTimeout {
		t.Fatalf("rebalance timeout %v, want the session timeout", got)
	}
	req = r.request("a", "m1")
	req.RebalanceTimeout = 25 * 24 * time.Hour
	r.send(req)
	r.join("b", "")
	r.send(req)
	if got := r.g.members[0].rebalance; got != time.Minute {
		t.Fatalf("rebalance timeout %v", got)
	}
}

func TestCommit(t *testing.T) {
	simple := MemberRequest{Generation: -1}
	r := newRig(t, noDelay)
	r.want(r.g.Commit(r.now, simple), nil)
	r.join("a", "")
	m := MemberRequest{MemberID: "m1", Generation: 1}
	r.want(r.g.Commit(r.now, m), kerr.RebalanceInProgress) // no assignment yet
	r.sync("m1", 1, r.assignAll()...)
	r.want(r.g.Commit(r.now, m), nil)
	r.want(r.g.Commit(r.now, simple), kerr.UnknownMemberID)
	r.want(r.g.Commit(r.now, MemberRequest{MemberID: "m1", Generation: 2}), kerr.IllegalGeneration)
	r.want(r.g.Commit(r.now, MemberRequest{MemberID: "x", Generation: 1}), kerr.UnknownMemberID)
	r.join("b", "")
	r.state(PreparingRebalance, 1)
	r.want(r.g.Commit(r.now, m), nil)
	// A commit is a sign of life.
	r.pass(9 * time.Second)
	r.want(r.g.Commit(r.now, m), nil)
	r.pass(9 * time.Second)
	r.want(r.g.Commit(r.now, m), nil)
}

func TestOpaqueBytesAreCopied(t *testing.T) {
	r := newRig(t, noDelay)
	req := r.request("a", "")
	req.ProtocolType = "sr"
	junk := []byte{0, 255, 128}
	req.Protocols = []Protocol{{Name: "v0", Metadata: junk}}
	tk := r.send(req)
	as := []byte("assignment")
	s := r.sync("m1", 1, Assignment{"m1", as})
	junk[0], as[0] = 9, 'X'
	if got := r.joined(tk).Members[0].Metadata; got[0] != 0 {
		t.Fatalf("metadata aliases the request: %v", got)
	}
	if got := r.synced(s); got != "assignment" {
		t.Fatalf("assignment aliases the request: %q", got)
	}
}

func TestDeleteAndDismiss(t *testing.T) {
	r := stable(t, noDelay, 2)
	r.want(r.g.Delete(), kerr.NonEmptyGroup)
	j := r.join("b2", "m2")
	r.take(r.g.Dismiss(kerr.NotCoordinator))
	r.refused(j, kerr.NotCoordinator)
	r.state(Dead, 1)
	r.refused(r.join("a", ""), kerr.CoordinatorNotAvailable)
	r.want(r.heartbeat("m1"), kerr.CoordinatorNotAvailable)
	r.want(r.g.Commit(r.now, MemberRequest{Generation: -1}), kerr.CoordinatorNotAvailable)
	r.want(r.leave("m1")[0], kerr.CoordinatorNotAvailable)
	r.want(r.g.Delete(), kerr.GroupIDNotFound)
	if _, ok := r.g.Deadline(); ok {
		t.Fatal("a dead group has a deadline")
	}
	r = newRig(t, noDelay)
	r.want(r.g.Delete(), nil)
	r.state(Dead, 0)
}

func TestGenerationWraps(t *testing.T) {
	r := stable(t, noDelay, 1)
	r.g.generation = 1<<31 - 1
	if got := r.joined(r.join("a", "m1")); got.Generation != 1 {
		t.Fatalf("generation %d", got.Generation)
	}
}

func TestJoinStorm(t *testing.T) {
	r := newRig(t, Config{})
	var tickets []Ticket
	for i := range 50 {
		tickets = append(tickets, r.join(fmt.Sprint(i), ""))
		r.pass(20 * time.Millisecond)
	}
	r.pass(60 * time.Second)
	lists := 0
	for _, tk := range tickets {
		j := r.joined(tk)
		if j.Generation != 1 {
			t.Fatalf("generation %d", j.Generation)
		}
		if len(j.Members) > 0 {
			lists++
			if len(j.Members) != 50 {
				t.Fatalf("%d members", len(j.Members))
			}
		}
	}
	if lists != 1 {
		t.Fatalf("%d leaders", lists)
	}
}
