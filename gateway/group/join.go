package group

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Join handles a JoinGroup. Its ticket is answered in these effects, or later.
func (g *Group) Join(now time.Time, r JoinRequest) Effects {
	var eff Effects
	if err := g.checkJoin(r); err != nil {
		eff.refuseJoin(r.Ticket, r.MemberID, err)
		return eff
	}
	if r.RebalanceTimeout <= 0 {
		// JoinGroup 0 has no such field; with 0 every rebalance would drop the
		// member at once (KAFKA-8653).
		r.RebalanceTimeout = r.SessionTimeout
	}
	r.RebalanceTimeout = min(r.RebalanceTimeout, g.cfg.RebalanceTimeoutMax)
	if r.MemberID == "" {
		g.joinWithoutID(now, r, &eff)
	} else {
		g.joinWithID(now, r, &eff)
	}
	return eff
}

// checkJoin makes the checks that don't depend on the member, in Kafka's order.
func (g *Group) checkJoin(r JoinRequest) error {
	if r.SessionTimeout < g.cfg.SessionTimeoutMin || r.SessionTimeout > g.cfg.SessionTimeoutMax {
		return kerr.InvalidSessionTimeout
	}
	if g.state == Dead {
		return kerr.CoordinatorNotAvailable
	}
	known, err := g.present(r)
	if err != nil {
		return err
	}
	if known == nil && len(g.members) >= g.cfg.MembersMax {
		return kerr.GroupMaxSizeReached
	}
	if r.ProtocolType == "" || len(r.Protocols) == 0 {
		return kerr.InconsistentGroupProtocol
	}
	if len(r.Protocols) > g.cfg.ProtocolsMax {
		return kerr.InvalidRequest
	}
	bytes := g.metadataBytes + protocolBytes(r.Protocols)
	if known != nil {
		bytes -= protocolBytes(known.protocols)
	}
	if bytes > g.cfg.MetadataBytesMax {
		return kerr.GroupMaxSizeReached
	}
	if len(g.members) > 0 && (r.ProtocolType != g.protocolType || !g.shares(r.Protocols)) {
		return kerr.InconsistentGroupProtocol
	}
	return nil
}

// present is the member whose place the request takes; nil for a newcomer. An id
// that was never given out, or that is fenced, is an error.
func (g *Group) present(r JoinRequest) (*member, error) {
	if r.MemberID == "" {
		return g.instances[r.InstanceID], nil // none has an empty instance id
	}
	if g.promisedTo(r) {
		return nil, nil
	}
	return g.find(r.MemberID, r.InstanceID)
}

// promisedTo: a newcomer returns with the id that it was given.
func (g *Group) promisedTo(r JoinRequest) bool {
	_, ok := g.promised[r.MemberID]
	return ok && r.InstanceID == ""
}

func (g *Group) joinWithoutID(now time.Time, r JoinRequest, eff *Effects) {
	if r.InstanceID != "" {
		if m := g.instances[r.InstanceID]; m != nil {
			g.replace(now, m, r, eff)
			return
		}
	} else if r.IDFirst {
		if len(g.promised) >= g.cfg.MembersMax {
			eff.refuseJoin(r.Ticket, "", kerr.GroupMaxSizeReached)
			return
		}
		g.promised[r.FreshID] = now.Add(r.SessionTimeout)
		eff.refuseJoin(r.Ticket, r.FreshID, kerr.MemberIDRequired)
		return
	}
	r.MemberID = r.FreshID
	g.admit(now, r, true, eff)
}

// admit adds a new member, which always takes a rebalance.
func (g *Group) admit(now time.Time, r JoinRequest, unseen bool, eff *Effects) {
	m := &member{id: r.MemberID, instance: r.InstanceID, unseen: unseen}
	if len(g.members) == 0 {
		g.protocolType = r.ProtocolType
	}
	m.update(r)
	g.add(m)
	if g.state == PreparingRebalance {
		g.newcomers = true
	}
	g.park(now, m, r.Ticket, eff)
}

func (g *Group) joinWithID(now time.Time, r JoinRequest, eff *Effects) {
	if g.promisedTo(r) {
		delete(g.promised, r.MemberID)
		g.admit(now, r, false, eff)
		return
	}
	m, err := g.find(r.MemberID, r.InstanceID)
	if err != nil {
		eff.refuseJoin(r.Ticket, r.MemberID, err)
		return
	}
	m.unseen = false
	same := sameProtocols(m.protocols, r.Protocols)
	switch {
	case g.state == CompletingRebalance && same,
		g.state == Stable && same && m.id != g.leader:
		// The answer was lost, or a follower looks in: nothing has changed.
		if m.sync != 0 {
			eff.refuseSync(m.sync, kerr.RebalanceInProgress)
			m.sync = 0
			m.syncDue = true
		}
		g.touch(m, now)
		eff.Joins = append(eff.Joins, g.joinReply(m, r.Ticket, g.state == CompletingRebalance))
	default:
		g.revise(m, r)
		g.park(now, m, r.Ticket, eff)
	}
}

// replace gives a static member's place to its next incarnation (KIP-345). The
// old member id is fenced from here on.
func (g *Group) replace(now time.Time, m *member, r JoinRequest, eff *Effects) {
	old := m.id
	g.answer(m, kerr.FencedInstanceID, eff)
	delete(g.byID, old)
	m.id = r.FreshID
	g.byID[m.id] = m
	led := g.leader == old
	if led {
		g.leader = m.id
	}
	g.revise(m, r)
	if g.state != Stable || g.choose() != g.protocol {
		g.park(now, m, r.Ticket, eff)
		return
	}
	g.touch(m, now)
	reply := g.joinReply(m, r.Ticket, false)
	switch {
	case led && r.CanSkipAssignment:
		reply.SkipAssignment = true
		reply.Members = g.joinedMembers()
	case led:
		// A client that can't skip must not believe that it leads: it would
		// assign from an old view.
		reply.Leader = old
	}
	eff.Joins = append(eff.Joins, reply)
	eff.Persist = true
}

// update takes over what the request says about the member.
func (m *member) update(r JoinRequest) {
	m.clientID, m.clientHost = r.ClientID, r.ClientHost
	m.session, m.rebalance = r.SessionTimeout, r.RebalanceTimeout
	m.protocols = cloneProtocols(r.Protocols)
}

// revise is update for a member of the group.
func (g *Group) revise(m *member, r JoinRequest) {
	g.metadataBytes -= protocolBytes(m.protocols)
	m.update(r)
	g.metadataBytes += protocolBytes(m.protocols)
}

// park has a member's join wait for the end of the join phase, which begins now
// if it hasn't before.
func (g *Group) park(now time.Time, m *member, t Ticket, eff *Effects) {
	g.prepare(now, eff)
	g.answer(m, kerr.RebalanceInProgress, eff)
	m.join, m.joined = t, true
	g.touch(m, now)
	g.completeJoinIfAll(now, eff)
}

// joinReply tells a member about the present generation.
func (g *Group) joinReply(m *member, t Ticket, list bool) JoinReply {
	r := JoinReply{
		Ticket:       t,
		MemberID:     m.id,
		Generation:   g.generation,
		ProtocolType: g.protocolType,
		Protocol:     g.protocol,
		Leader:       g.leader,
	}
	if list && m.id == g.leader {
		r.Members = g.joinedMembers()
	}
	return r
}

func (g *Group) joinedMembers() []JoinedMember {
	out := make([]JoinedMember, len(g.members))
	for i, m := range g.members {
		out[i] = JoinedMember{MemberID: m.id, InstanceID: m.instance, Metadata: m.metadata(g.protocol)}
	}
	return out
}
