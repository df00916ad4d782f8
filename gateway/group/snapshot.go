package group

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrSnapshot is wrapped by Restore's errors.
var ErrSnapshot = errors.New("group snapshot contradicts itself")

// MemberSnapshot is one member of a Snapshot.
type MemberSnapshot struct {
	ID             string
	InstanceID     string
	ClientID       string
	ClientHost     string
	SessionTimeout time.Duration
	// RebalanceTimeout as cut by Config.
	RebalanceTimeout time.Duration
	Protocols        []Protocol
	// Assignment is nil unless the group is Stable.
	Assignment []byte
}

// Snapshot is what is worth keeping of a group: everything but who waits, who
// was promised an id, and timers, which start anew.
type Snapshot struct {
	State        State
	Generation   int32
	ProtocolType string
	Protocol     string
	Leader       string
	// Members in the order in which they came.
	Members []MemberSnapshot
}

// Snapshot returns the present state. Byte slices are shared with the group,
// which replaces them and never changes them.
func (g *Group) Snapshot() Snapshot {
	s := Snapshot{
		State:        g.state,
		Generation:   g.generation,
		ProtocolType: g.protocolType,
		Protocol:     g.protocol,
		Leader:       g.leader,
		Members:      make([]MemberSnapshot, len(g.members)),
	}
	for i, m := range g.members {
		s.Members[i] = MemberSnapshot{
			ID: m.id, InstanceID: m.instance, ClientID: m.clientID, ClientHost: m.clientHost,
			SessionTimeout: m.session, RebalanceTimeout: m.rebalance,
			Protocols: m.protocols,
		}
		if g.state == Stable {
			s.Members[i].Assignment = m.assignment
		}
	}
	return s
}

// Restore returns the group that a snapshot describes, with all sessions
// starting at now: its members go on as if nothing had happened. Snapshots are
// stored only in states Empty, CompletingRebalance and Stable, others are
// refused. The group owns the snapshot's slices from the call on.
func Restore(cfg Config, s Snapshot, now time.Time) (*Group, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("restore group: %w", err)
	}
	g := New(cfg)
	g.state, g.generation = s.State, s.Generation
	g.protocolType, g.protocol = s.ProtocolType, s.Protocol
	for _, ms := range s.Members {
		m := &member{
			id: ms.ID, instance: ms.InstanceID, clientID: ms.ClientID, clientHost: ms.ClientHost,
			session: ms.SessionTimeout, rebalance: ms.RebalanceTimeout,
			protocols: ms.Protocols, assignment: ms.Assignment,
			syncDue: s.State == CompletingRebalance,
		}
		g.add(m)
		g.touch(m, now)
	}
	g.leader = s.Leader
	if g.state == CompletingRebalance {
		g.syncDeadline = now.Add(g.rebalanceTimeout())
	}
	return g, nil
}

func (s Snapshot) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrSnapshot}, args...)...)
	}
	switch s.State {
	case Empty:
		if len(s.Members) > 0 || s.Leader != "" {
			return bad("empty with %d members", len(s.Members))
		}
	case CompletingRebalance, Stable:
		if len(s.Members) == 0 {
			return bad("%v without members", s.State)
		}
	default:
		return bad("state %v", s.State)
	}
	if s.Generation < 0 {
		return bad("generation %d", s.Generation)
	}
	ids, instances := map[string]bool{}, map[string]bool{}
	for _, m := range s.Members {
		switch {
		case m.ID == "" || ids[m.ID]:
			return bad("member id %q", m.ID)
		case m.InstanceID != "" && instances[m.InstanceID]:
			return bad("instance id %q twice", m.InstanceID)
		case m.SessionTimeout <= 0 || m.RebalanceTimeout <= 0:
			return bad("member %q without timeouts", m.ID)
		case !slices.ContainsFunc(m.Protocols, func(p Protocol) bool { return p.Name == s.Protocol }):
			return bad("member %q without protocol %q", m.ID, s.Protocol)
		}
		ids[m.ID], instances[m.InstanceID] = true, true
	}
	if len(s.Members) > 0 && !ids[s.Leader] {
		return bad("leader %q is no member", s.Leader)
	}
	return nil
}
