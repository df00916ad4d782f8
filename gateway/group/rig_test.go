package group

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// rig drives a group with a clock of its own and keeps what it answered.
type rig struct {
	t     testing.TB
	g     *Group
	now   time.Time
	last  Ticket
	fresh int
	// joins and syncs hold answers; asked holds every ticket ever used.
	joins    map[Ticket]JoinReply
	syncs    map[Ticket]SyncReply
	asked    map[Ticket]bool
	given    map[Ticket]bool // answered or abandoned
	persists int
}

var noDelay = Config{InitialRebalanceDelay: -1}

func newRig(t testing.TB, cfg Config) *rig {
	return &rig{
		t: t, g: New(cfg), now: time.Unix(1_000_000, 0),
		joins: map[Ticket]JoinReply{}, syncs: map[Ticket]SyncReply{},
		asked: map[Ticket]bool{}, given: map[Ticket]bool{},
	}
}

// take files the effects of a step and checks what must hold after each.
func (r *rig) take(eff Effects) {
	r.t.Helper()
	for _, j := range eff.Joins {
		r.settleTicket(j.Ticket)
		r.joins[j.Ticket] = j
	}
	for _, s := range eff.Syncs {
		r.settleTicket(s.Ticket)
		r.syncs[s.Ticket] = s
	}
	if eff.Persist {
		r.persists++
		if s := r.g.Snapshot(); r.g.state != PreparingRebalance {
			if err := s.check(); err != nil {
				r.t.Fatalf("stored snapshot: %v", err)
			}
		} else {
			r.t.Fatalf("state %v is to be stored", r.g.state)
		}
	}
	r.check()
}

func (r *rig) settleTicket(t Ticket) {
	r.t.Helper()
	if !r.asked[t] || r.given[t] {
		r.t.Fatalf("ticket %d is answered, asked %v, settled before %v", t, r.asked[t], r.given[t])
	}
	r.given[t] = true
}

// check holds the group's inner invariants.
func (r *rig) check() {
	r.t.Helper()
	g := r.g
	bad := func(format string, args ...any) { r.t.Helper(); r.t.Fatalf("invariant: "+format, args...) }
	if len(g.byID) != len(g.members) {
		bad("%d members, %d by id", len(g.members), len(g.byID))
	}
	size := 0
	for _, m := range g.members {
		if g.byID[m.id] != m {
			bad("member %s is not found by its id", m.id)
		}
		if m.instance != "" && g.instances[m.instance] != m {
			bad("member %s is not found by its instance", m.id)
		}
		if m.join != 0 && (g.state != PreparingRebalance || !m.joined) {
			bad("%s waits for a join in %v, joined %v", m.id, g.state, m.joined)
		}
		if m.sync != 0 && g.state != CompletingRebalance {
			bad("%s waits for a sync in %v", m.id, g.state)
		}
		if m.joined && g.state != PreparingRebalance {
			bad("%s counts as joined in %v", m.id, g.state)
		}
		if !m.waits() && m.expires.IsZero() {
			bad("%s never expires", m.id)
		}
		size += protocolBytes(m.protocols)
	}
	if size != g.metadataBytes {
		bad("metadata of %d bytes is counted as %d", size, g.metadataBytes)
	}
	switch g.state {
	case Empty, Dead:
		if len(g.members) > 0 || g.leader != "" {
			bad("%v with %d members, leader %q", g.state, len(g.members), g.leader)
		}
	case CompletingRebalance, Stable:
		if g.byID[g.leader] == nil {
			bad("leader %q is no member", g.leader)
		}
	}
	if g.state == PreparingRebalance != !g.joinDeadline.IsZero() {
		bad("join deadline %v in %v", g.joinDeadline, g.state)
	}
}

// proto lists protocols of one mark: "a" knows "range", "a:sticky,range" both.
func proto(mark string) []Protocol {
	name, list, ok := strings.Cut(mark, ":")
	if !ok {
		list = "range"
	}
	var out []Protocol
	for _, p := range strings.Split(list, ",") {
		out = append(out, Protocol{Name: p, Metadata: []byte(name + "/" + p)})
	}
	return out
}

func (r *rig) ticket() Ticket {
	r.last++
	r.asked[r.last] = true
	return r.last
}

// request makes a JoinGroup of version 3.
func (r *rig) request(mark, id string) JoinRequest {
	r.fresh++
	return JoinRequest{
		MemberID: id, ClientID: "c", SessionTimeout: 10 * time.Second, RebalanceTimeout: 60 * time.Second,
		ProtocolType: "consumer", Protocols: proto(mark), FreshID: fmt.Sprintf("m%d", r.fresh),
	}
}

func (r *rig) send(req JoinRequest) Ticket {
	r.t.Helper()
	req.Ticket = r.ticket()
	r.take(r.g.Join(r.now, req))
	return req.Ticket
}

// join sends a join; its member id is m1, m2 … for newcomers.
func (r *rig) join(mark, id string) Ticket { r.t.Helper(); return r.send(r.request(mark, id)) }

func (r *rig) sync(id string, generation int32, as ...Assignment) Ticket {
	r.t.Helper()
	t := r.ticket()
	r.take(r.g.Sync(r.now, SyncRequest{Ticket: t, MemberID: id, Generation: generation, Assignments: as}))
	return t
}

func (r *rig) leave(ids ...string) []error {
	r.t.Helper()
	var ls []LeaveMember
	for _, id := range ids {
		ls = append(ls, LeaveMember{MemberID: id})
	}
	errs, eff := r.g.Leave(r.now, ls)
	r.take(eff)
	return errs
}

func (r *rig) abandon(t Ticket) {
	r.t.Helper()
	if r.given[t] {
		r.t.Fatalf("ticket %d is answered already", t)
	}
	eff := r.g.Abandon(r.now, t)
	r.given[t] = true
	r.take(eff)
}

func (r *rig) heartbeat(id string) error {
	return r.g.Heartbeat(r.now, MemberRequest{MemberID: id, Generation: r.g.generation})
}

// pass lets time pass, ticking at each deadline.
func (r *rig) pass(d time.Duration) {
	r.t.Helper()
	end := r.now.Add(d)
	for i := 0; ; i++ {
		next, ok := r.g.Deadline()
		if !ok || next.After(end) {
			break
		}
		if i > 10_000 {
			r.t.Fatalf("deadlines do not move on: %v", next)
		}
		if next.After(r.now) {
			r.now = next
		}
		r.take(r.g.Tick(r.now))
	}
	r.now = end
}

// joined is the answer to a join, which must be there and without error.
func (r *rig) joined(t Ticket) JoinReply {
	r.t.Helper()
	j, ok := r.joins[t]
	if !ok || j.Err != nil {
		r.t.Fatalf("join %d: answered %v, %v", t, ok, j.Err)
	}
	return j
}

func (r *rig) synced(t Ticket) string {
	r.t.Helper()
	s, ok := r.syncs[t]
	if !ok || s.Err != nil {
		r.t.Fatalf("sync %d: answered %v, %v", t, ok, s.Err)
	}
	return string(s.Assignment)
}

func (r *rig) waiting(t Ticket) {
	r.t.Helper()
	if r.given[t] {
		r.t.Fatalf("ticket %d has an answer: %+v %+v", t, r.joins[t], r.syncs[t])
	}
}

func (r *rig) refused(t Ticket, want *kerr.Error) {
	r.t.Helper()
	err := r.joins[t].Err
	if err == nil {
		err = r.syncs[t].Err
	}
	if !errors.Is(err, want) {
		r.t.Fatalf("ticket %d: %v, want %v", t, err, want)
	}
}

func (r *rig) state(want State, generation int32) {
	r.t.Helper()
	if r.g.state != want || r.g.generation != generation {
		r.t.Fatalf("state %v, generation %d, want %v, %d", r.g.state, r.g.generation, want, generation)
	}
}

func (r *rig) want(err error, want *kerr.Error) {
	r.t.Helper()
	if want == nil && err != nil || want != nil && !errors.Is(err, want) {
		r.t.Fatalf("got %v, want %v", err, want)
	}
}

// assignAll gives each member "for <id>".
func (r *rig) assignAll() []Assignment {
	var as []Assignment
	for _, m := range r.g.members {
		as = append(as, Assignment{MemberID: m.id, Bytes: []byte("for " + m.id)})
	}
	return as
}

// stable makes a Stable group of n members m1 … mn, led by m1, generation 1.
func stable(t testing.TB, cfg Config, n int) *rig {
	t.Helper()
	r := newRig(t, cfg)
	if n > 1 {
		r.g.cfg.InitialRebalanceDelay = time.Second
	}
	var tickets []Ticket
	for i := range n {
		tickets = append(tickets, r.join(string(rune('a'+i)), ""))
	}
	if n > 1 {
		r.pass(2 * time.Second)
		r.g.cfg = cfg.withDefaults()
	}
	var ids []string
	for _, tk := range tickets {
		ids = append(ids, r.joined(tk).MemberID)
	}
	gen := r.g.generation
	for _, id := range slices.Backward(ids) { // the leader comes last
		var as []Assignment
		if id == r.g.leader {
			as = r.assignAll()
		}
		r.sync(id, gen, as...)
	}
	r.state(Stable, 1)
	return r
}
