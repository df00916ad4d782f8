package group

import (
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// State of a group.
type State uint8

// States, as DescribeGroups names them.
const (
	// Empty: no members; offsets may exist.
	Empty State = iota
	// PreparingRebalance: the join phase, waiting for members to join.
	PreparingRebalance
	// CompletingRebalance: joined, waiting for the leader's assignment.
	CompletingRebalance
	// Stable: every member has its assignment.
	Stable
	// Dead: this instance no longer speaks for the group.
	Dead
)

// String returns Kafka's name of the state.
func (s State) String() string {
	switch s {
	case Empty:
		return "Empty"
	case PreparingRebalance:
		return "PreparingRebalance"
	case CompletingRebalance:
		return "CompletingRebalance"
	case Stable:
		return "Stable"
	case Dead:
		return "Dead"
	default:
		return "Unknown"
	}
}

// member is one member of the group.
type member struct {
	id         string
	instance   string // empty for a dynamic member
	clientID   string
	clientHost string
	session    time.Duration
	rebalance  time.Duration
	protocols  []Protocol
	assignment []byte

	// join and sync are the requests that wait for an answer, 0 for none.
	join, sync Ticket
	// joined: it has joined in the present join phase. It stays set when the
	// connection of its request goes away.
	joined bool
	// unseen: no answer has told the client this member's id yet, so that it
	// can't come back after its connection has gone.
	unseen bool
	// syncDue: it has not yet sent SyncGroup for the present generation.
	syncDue bool
	// expires is when its session ends unless it is heard of before. It doesn't
	// count while a request of it waits for an answer.
	expires time.Time
}

func (m *member) waits() bool { return m.join != 0 || m.sync != 0 }

func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

// Group is the state machine of one group.
type Group struct {
	cfg Config

	state        State
	generation   int32
	protocolType string // that of the members, kept when the last one goes
	protocol     string // chosen; empty while Empty and before the first choice
	leader       string // member id; empty without members

	// members in the order in which they came; byID and instances index them.
	members   []*member
	byID      map[string]*member
	instances map[string]*member
	// promised are the member ids that were given out and not yet used, with
	// the time until which they can be.
	promised map[string]time.Time
	// metadataBytes is the size of all members' protocols.
	metadataBytes int

	// joinDeadline ends the join phase (PreparingRebalance). While initial is
	// set it is the end of a waiting period instead: joinLeft is what is left of
	// the rebalance timeout after it, and newcomers says whether anyone joined
	// during it.
	joinDeadline time.Time
	initial      bool
	joinLeft     time.Duration
	newcomers    bool
	// syncDeadline removes members with syncDue; zero if there is none.
	syncDeadline time.Time
}

// New returns an empty group that nobody has heard of.
func New(cfg Config) *Group {
	return &Group{
		cfg:       cfg.withDefaults(),
		byID:      map[string]*member{},
		instances: map[string]*member{},
		promised:  map[string]time.Time{},
	}
}

// State returns the present state.
func (g *Group) State() State { return g.state }

// Generation returns the present generation, 0 before the first one.
func (g *Group) Generation() int32 { return g.generation }

// Idle reports that nobody is in the group or about to be, so that it can be
// forgotten and restored when it is next asked for.
func (g *Group) Idle() bool {
	return (g.state == Empty || g.state == Dead) && len(g.members) == 0 && len(g.promised) == 0
}

// Vacant reports that nobody is in the group. Someone may have been promised a
// member id, and joins anew if the group is deleted meanwhile.
func (g *Group) Vacant() bool { return len(g.members) == 0 }

// Deadline returns the time at which Tick has something to do, unless other
// events come first; false if nothing is due ever.
func (g *Group) Deadline() (time.Time, bool) {
	var first time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if g.state == PreparingRebalance {
		earlier(g.joinDeadline)
	}
	earlier(g.syncDeadline)
	for _, m := range g.members {
		if !m.waits() {
			earlier(m.expires)
		}
	}
	for _, t := range g.promised {
		earlier(t)
	}
	return first, !first.IsZero()
}

// find returns the member of a request that must come from one, or the error.
func (g *Group) find(memberID, instanceID string) (*member, error) {
	if instanceID != "" {
		known := g.instances[instanceID]
		if known == nil {
			return nil, kerr.UnknownMemberID
		}
		if known.id != memberID {
			return nil, kerr.FencedInstanceID
		}
		return known, nil
	}
	if m := g.byID[memberID]; m != nil {
		return m, nil
	}
	return nil, kerr.UnknownMemberID
}

func (g *Group) touch(m *member, now time.Time) { m.expires = now.Add(m.session) }

func (g *Group) add(m *member) {
	if len(g.members) == 0 {
		g.leader = ""
	}
	if g.leader == "" {
		g.leader = m.id
	}
	g.members = append(g.members, m)
	g.byID[m.id] = m
	if m.instance != "" {
		g.instances[m.instance] = m
	}
	g.metadataBytes += protocolBytes(m.protocols)
}

// drop removes a member and answers what it waits for.
func (g *Group) drop(m *member, eff *Effects) {
	g.answer(m, kerr.UnknownMemberID, eff)
	g.members = slices.DeleteFunc(g.members, func(x *member) bool { return x == m })
	delete(g.byID, m.id)
	if m.instance != "" {
		delete(g.instances, m.instance)
	}
	g.metadataBytes -= protocolBytes(m.protocols)
	if g.leader == m.id {
		g.leader = ""
		if len(g.members) > 0 {
			g.leader = g.members[0].id
		}
	}
}

// answer refuses whatever the member waits for.
func (g *Group) answer(m *member, err error, eff *Effects) {
	if m.join != 0 {
		eff.refuseJoin(m.join, m.id, err)
		m.join = 0
	}
	if m.sync != 0 {
		eff.refuseSync(m.sync, err)
		m.sync = 0
	}
}

// rebalanceTimeout is the longest of the members'.
func (g *Group) rebalanceTimeout() time.Duration {
	var longest time.Duration
	for _, m := range g.members {
		longest = max(longest, m.rebalance)
	}
	return longest
}

func protocolBytes(ps []Protocol) int {
	n := 0
	for _, p := range ps {
		n += len(p.Name) + len(p.Metadata)
	}
	return n
}

func cloneProtocols(ps []Protocol) []Protocol {
	out := make([]Protocol, len(ps))
	for i, p := range ps {
		out[i] = Protocol{Name: p.Name, Metadata: slices.Clone(p.Metadata)}
	}
	return out
}

// nextGeneration counts on and, after two billion rebalances, from 1 again.
func nextGeneration(g int32) int32 {
	if g == math.MaxInt32 {
		return 1
	}
	return g + 1
}
