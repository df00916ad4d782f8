package group

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// static makes a Stable group of two static members: i1 is m1 and leads, i2 is m2.
func static(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, Config{InitialRebalanceDelay: time.Second})
	for _, i := range []string{"i1", "i2"} {
		r.instance(i, i, "")
	}
	r.pass(2 * time.Second)
	r.syncInstance("m2", "i2", 1)
	r.syncInstance("m1", "i1", 1, r.assignAll()...)
	r.state(Stable, 1)
	return r
}

func (r *rig) instance(mark, instance, id string) Ticket {
	r.t.Helper()
	req := r.request(mark, id)
	req.InstanceID, req.IDFirst = instance, true
	return r.send(req)
}

func (r *rig) syncInstance(id, instance string, generation int32, as ...Assignment) Ticket {
	r.t.Helper()
	t := r.ticket()
	r.take(r.g.Sync(r.now, SyncRequest{Ticket: t, MemberID: id, InstanceID: instance, Generation: generation, Assignments: as}))
	return t
}

func TestStaticFollowerRestarts(t *testing.T) {
	r := static(t)
	persists := r.persists
	got := r.joined(r.instance("i2", "i2", ""))
	if got.MemberID != "m3" || got.Generation != 1 || got.Leader != "m1" {
		t.Fatalf("%+v", got)
	}
	if r.persists != persists+1 {
		t.Fatal("the new member id is not stored")
	}
	if a := r.synced(r.syncInstance("m3", "i2", 1)); a != "for m2" {
		t.Fatalf("assignment %q", a)
	}
	r.want(r.heartbeat("m1"), nil)
	// The old incarnation is fenced everywhere.
	old := MemberRequest{MemberID: "m2", InstanceID: "i2", Generation: 1}
	r.want(r.g.Heartbeat(r.now, old), kerr.FencedInstanceID)
	r.want(r.g.Commit(r.now, old), kerr.FencedInstanceID)
	r.refused(r.syncInstance("m2", "i2", 1), kerr.FencedInstanceID)
	r.refused(r.instance("i2", "i2", "m2"), kerr.FencedInstanceID)
	r.want(r.heartbeat("m2"), kerr.UnknownMemberID)
}

func TestStaticLeaderRestarts(t *testing.T) {
	r := static(t)
	got := r.joined(r.instance("i1", "i1", ""))
	if got.Leader != "m1" || got.MemberID != "m3" || len(got.Members) != 0 || got.SkipAssignment {
		t.Fatalf("before v9: %+v", got)
	}
	req := r.request("i1", "")
	req.InstanceID, req.CanSkipAssignment = "i1", true
	got = r.joined(r.send(req))
	if got.Leader != "m4" || got.MemberID != "m4" || len(got.Members) != 2 || !got.SkipAssignment {
		t.Fatalf("v9: %+v", got)
	}
	if got.Members[0].InstanceID != "i1" {
		t.Fatalf("members %+v", got.Members)
	}
	r.state(Stable, 1)
}

func TestStaticRestartThatChangesTheProtocol(t *testing.T) {
	r := newRig(t, noDelay)
	r.instance("a:range,sticky", "i1", "")
	r.syncInstance("m1", "i1", 1, r.assignAll()...)
	r.refused(r.instance("a:other", "i1", ""), kerr.InconsistentGroupProtocol)
	j := r.instance("a:sticky,range", "i1", "")
	if got := r.joined(j); got.Generation != 2 || got.Protocol != "sticky" {
		t.Fatalf("%+v", got)
	}
}

func TestStaticRestartDuringRebalance(t *testing.T) {
	r := static(t)
	parked := r.instance("i2x", "i2", "m2") // changed metadata: a rebalance
	r.state(PreparingRebalance, 1)
	next := r.instance("i2x", "i2", "")
	r.refused(parked, kerr.FencedInstanceID)
	r.instance("i1", "i1", "m1")
	r.state(CompletingRebalance, 2)
	r.joined(next)
	// And while the assignment is waited for: it starts over, for the leader has
	// seen the old id.
	r.instance("i2x", "i2", "")
	r.state(PreparingRebalance, 2)
}

func TestStaticMemberKeepsItsPlaceUntilItsSessionEnds(t *testing.T) {
	r := static(t)
	r.g.members[1].session = 5 * time.Minute
	r.g.touch(r.g.members[1], r.now)
	j := r.instance("i1", "i1", "m1") // a leader's join always rebalances
	r.pass(61 * time.Second)
	got := r.joined(j)
	if len(got.Members) != 2 {
		t.Fatalf("the absent static member was dropped: %+v", got)
	}
	r.syncInstance("m1", "i1", 2, r.assignAll()...)
	r.state(Stable, 2)
	for range 20 {
		r.want(r.heartbeat("m1"), nil)
		r.pass(9 * time.Second)
	}
	r.want(r.heartbeat("m1"), nil) // no SyncGroup was owed by the absent one
	for range 10 {
		r.g.Heartbeat(r.now, MemberRequest{MemberID: "m1", Generation: 2})
		r.pass(9 * time.Second)
	}
	r.state(PreparingRebalance, 2)
	if len(r.g.members) != 1 {
		t.Fatalf("%d members", len(r.g.members))
	}
}

func TestOnlyAbsentStaticMembersWaitOn(t *testing.T) {
	r := static(t)
	for _, m := range r.g.members {
		m.session = 10 * time.Minute
		r.g.touch(m, r.now)
	}
	r.abandon(r.join("n", "")) // starts a rebalance and goes
	r.state(PreparingRebalance, 1)
	r.pass(5 * time.Minute)
	r.state(PreparingRebalance, 1)
	r.pass(6 * time.Minute)
	r.state(Empty, 2)
}

func TestLeaveByInstance(t *testing.T) {
	r := static(t)
	errs, eff := r.g.Leave(r.now, []LeaveMember{{InstanceID: "i2"}, {MemberID: "m2", InstanceID: "i1"}, {InstanceID: "i9"}})
	r.take(eff)
	for i, want := range []*kerr.Error{nil, kerr.FencedInstanceID, kerr.UnknownMemberID} {
		r.want(errs[i], want)
	}
	r.state(PreparingRebalance, 1)
}
