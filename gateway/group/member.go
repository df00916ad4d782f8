package group

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Heartbeat handles a Heartbeat and returns its answer.
func (g *Group) Heartbeat(now time.Time, r MemberRequest) error {
	if g.state == Dead {
		return kerr.CoordinatorNotAvailable
	}
	m, err := g.find(r.MemberID, r.InstanceID)
	if err != nil {
		return err
	}
	if r.Generation != g.generation {
		return kerr.IllegalGeneration
	}
	g.touch(m, now)
	if g.state == PreparingRebalance {
		return kerr.RebalanceInProgress
	}
	return nil
}

// Commit says whether an OffsetCommit may be made, and counts as a sign of life.
// Commits are accepted in PreparingRebalance: consumers commit when partitions
// are taken from them.
func (g *Group) Commit(now time.Time, r MemberRequest) error {
	if g.state == Dead {
		return kerr.CoordinatorNotAvailable
	}
	if r.Generation < 0 && r.MemberID == "" && r.InstanceID == "" {
		// A consumer outside the group protocol, or an administrator, who must
		// not move offsets under a running consumer.
		if len(g.members) > 0 {
			return kerr.UnknownMemberID
		}
		return nil
	}
	m, err := g.find(r.MemberID, r.InstanceID)
	if err != nil {
		if r.Generation < 0 && len(g.members) == 0 {
			return nil
		}
		return err
	}
	if r.Generation != g.generation {
		return kerr.IllegalGeneration
	}
	g.touch(m, now)
	if g.state == CompletingRebalance {
		return kerr.RebalanceInProgress
	}
	return nil
}

// Leave removes members: all of them first, then one transition. It returns an
// error or nil for each, in order.
func (g *Group) Leave(now time.Time, leaving []LeaveMember) ([]error, Effects) {
	var eff Effects
	errs := make([]error, len(leaving))
	membersGone, promiseGone := false, false
	for i, l := range leaving {
		if g.state == Dead {
			errs[i] = kerr.CoordinatorNotAvailable
			continue
		}
		if _, ok := g.promised[l.MemberID]; ok && l.InstanceID == "" {
			delete(g.promised, l.MemberID)
			promiseGone = true
			continue
		}
		id := l.MemberID
		if m := g.instances[l.InstanceID]; m != nil && id == "" {
			id = m.id // an administrator knows the instance only
		}
		m, err := g.find(id, l.InstanceID)
		if err != nil {
			errs[i] = err
			continue
		}
		g.drop(m, &eff)
		membersGone = true
	}
	g.afterRemoval(now, removed{members: membersGone, promises: promiseGone}, &eff)
	return errs, eff
}

// removed says what a step took away.
type removed struct{ members, promises bool }

// afterRemoval is the transition after members have gone, or promised ids, which
// matter only to a join phase that waits for them.
func (g *Group) afterRemoval(now time.Time, r removed, eff *Effects) {
	if r.members && (g.state == CompletingRebalance || g.state == Stable) {
		g.prepare(now, eff)
	}
	if r.members || r.promises {
		g.completeJoinIfAll(now, eff)
	}
}

// Abandon takes back a ticket whose connection has gone. The member stays, until
// its session ends, for it may come back over another connection; but one that
// never learned its id can't.
func (g *Group) Abandon(now time.Time, t Ticket) Effects {
	var eff Effects
	for _, m := range g.members {
		if t == 0 || m.join != t && m.sync != t {
			continue
		}
		if m.join == t {
			m.join = 0
		} else {
			m.sync = 0
		}
		g.touch(m, now)
		if m.unseen && m.instance == "" {
			g.drop(m, &eff)
			g.afterRemoval(now, removed{members: true}, &eff)
		}
		break
	}
	return eff
}

// Tick does what is due: it ends sessions, promises and phases. A second call at
// the same time does nothing.
func (g *Group) Tick(now time.Time) Effects {
	var eff Effects
	due := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	var gone removed
	for id, t := range g.promised {
		if due(t) {
			delete(g.promised, id)
			gone.promises = true
		}
	}
	syncUp := due(g.syncDeadline)
	var late []*member
	for _, m := range g.members {
		if !m.waits() && due(m.expires) || syncUp && m.syncDue {
			late = append(late, m)
		}
	}
	if syncUp {
		g.syncDeadline = time.Time{}
	}
	for _, m := range late {
		g.drop(m, &eff)
		gone.members = true
	}
	g.afterRemoval(now, gone, &eff)
	if g.state == PreparingRebalance && due(g.joinDeadline) {
		g.joinTimeUp(now, &eff)
	}
	return eff
}

// Delete makes an Empty group Dead; NON_EMPTY_GROUP if it has members.
func (g *Group) Delete() error {
	if g.state == Dead {
		return kerr.GroupIDNotFound
	}
	if g.state != Empty {
		return kerr.NonEmptyGroup
	}
	g.state = Dead
	clear(g.promised)
	return nil
}

// Dismiss makes the group Dead and answers everyone who waits with err.
func (g *Group) Dismiss(err error) Effects {
	var eff Effects
	for _, m := range g.members {
		g.answer(m, err, &eff)
	}
	g.members, g.leader, g.metadataBytes = nil, "", 0
	clear(g.byID)
	clear(g.instances)
	clear(g.promised)
	g.state = Dead
	g.joinDeadline, g.syncDeadline = time.Time{}, time.Time{}
	return eff
}
