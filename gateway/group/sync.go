package group

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Sync handles a SyncGroup. A follower's ticket is held until the leader's call
// brings the assignment.
func (g *Group) Sync(now time.Time, r SyncRequest) Effects {
	var eff Effects
	m, err := g.checkSync(r)
	if err != nil {
		eff.refuseSync(r.Ticket, err)
		return eff
	}
	g.touch(m, now)
	switch g.state {
	case PreparingRebalance:
		eff.refuseSync(r.Ticket, kerr.RebalanceInProgress)
	case CompletingRebalance:
		if m.sync != 0 { // sent again over another connection
			eff.refuseSync(m.sync, kerr.RebalanceInProgress)
		}
		m.sync, m.syncDue = r.Ticket, false
		if m.id == g.leader {
			g.assign(now, r.Assignments, &eff)
		}
	case Stable:
		m.syncDue = false
		g.syncDone()
		eff.Syncs = append(eff.Syncs, g.syncReply(m, r.Ticket))
	default: // Empty and Dead have no members
		eff.refuseSync(r.Ticket, kerr.UnknownMemberID)
	}
	return eff
}

func (g *Group) checkSync(r SyncRequest) (*member, error) {
	if g.state == Dead {
		return nil, kerr.CoordinatorNotAvailable
	}
	m, err := g.find(r.MemberID, r.InstanceID)
	if err != nil {
		return nil, err
	}
	if r.Generation != g.generation {
		return nil, kerr.IllegalGeneration
	}
	if r.HasProtocol && (r.ProtocolType != g.protocolType || r.Protocol != g.protocol) {
		return nil, kerr.InconsistentGroupProtocol
	}
	size := 0
	for _, a := range r.Assignments {
		size += len(a.Bytes)
	}
	if size > g.cfg.AssignmentBytesMax {
		return nil, kerr.InvalidRequest
	}
	return m, nil
}

// assign takes the leader's assignment and answers everyone who waits for it.
// Members that the leader left out get empty bytes, names it invented nothing.
func (g *Group) assign(now time.Time, as []Assignment, eff *Effects) {
	for _, a := range as {
		if m := g.byID[a.MemberID]; m != nil {
			m.assignment = slices.Clone(a.Bytes)
		}
	}
	g.state = Stable
	eff.Persist = true
	for _, m := range g.members {
		if m.sync != 0 {
			eff.Syncs = append(eff.Syncs, g.syncReply(m, m.sync))
			m.sync = 0
			g.touch(m, now)
		}
	}
	g.syncDone()
}

// syncDone stops the clock for SyncGroup once every member has sent it.
func (g *Group) syncDone() {
	for _, m := range g.members {
		if m.syncDue {
			return
		}
	}
	g.syncDeadline = time.Time{}
}

func (g *Group) syncReply(m *member, t Ticket) SyncReply {
	return SyncReply{Ticket: t, ProtocolType: g.protocolType, Protocol: g.protocol, Assignment: m.assignment}
}
