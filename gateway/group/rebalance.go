package group

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// prepare begins a join phase unless one is running. Members that wait for an
// assignment are told to join again.
func (g *Group) prepare(now time.Time, eff *Effects) {
	if g.state == PreparingRebalance {
		return
	}
	fromEmpty := g.state == Empty
	for _, m := range g.members {
		if m.sync != 0 {
			eff.refuseSync(m.sync, kerr.RebalanceInProgress)
			m.sync = 0
			g.touch(m, now)
		}
		m.syncDue = false
	}
	g.state = PreparingRebalance
	g.syncDeadline = time.Time{}
	g.initial, g.newcomers, g.joinLeft = false, false, 0
	timeout := g.rebalanceTimeout()
	if fromEmpty && g.cfg.InitialRebalanceDelay > 0 {
		delay := min(g.cfg.InitialRebalanceDelay, timeout)
		g.initial = true
		g.joinLeft = timeout - delay
		timeout = delay
	}
	g.joinDeadline = now.Add(timeout)
}

// completeJoinIfAll ends the join phase if nobody is waited for.
func (g *Group) completeJoinIfAll(now time.Time, eff *Effects) {
	if g.state != PreparingRebalance {
		return
	}
	if len(g.members) > 0 {
		if g.initial || len(g.promised) > 0 {
			return
		}
		for _, m := range g.members {
			if !m.joined {
				return
			}
		}
	}
	g.completeJoin(now, eff)
}

// joinTimeUp is what the join deadline does: extend the waiting period of a new
// group while newcomers arrive, or go on without those who are missing.
func (g *Group) joinTimeUp(now time.Time, eff *Effects) {
	if g.initial && g.newcomers && g.joinLeft > 0 {
		delay := min(g.cfg.InitialRebalanceDelay, g.joinLeft)
		g.joinLeft -= delay
		g.newcomers = false
		g.joinDeadline = now.Add(delay)
		return
	}
	g.completeJoin(now, eff)
}

// completeJoin ends the join phase: the one place where the generation grows.
func (g *Group) completeJoin(now time.Time, eff *Effects) {
	g.dropMissing(eff)
	g.initial = false
	var leader *member
	if m := g.byID[g.leader]; m != nil && m.joined {
		leader = m
	}
	for _, m := range g.members {
		// Better one that is there than one whose connection went away.
		if m.joined && (leader == nil || leader.join == 0 && m.join != 0) {
			leader = m
		}
	}
	if leader == nil && len(g.members) > 0 {
		// Only static members that stay until their sessions end: wait again,
		// never for so short a time that the owner would spin.
		g.joinDeadline = now.Add(max(g.rebalanceTimeout(), time.Second))
		return
	}
	g.generation = nextGeneration(g.generation)
	g.joinDeadline = time.Time{}
	eff.Persist = true
	if leader == nil {
		g.state, g.protocol, g.leader = Empty, "", ""
		return
	}
	g.state, g.leader, g.protocol = CompletingRebalance, leader.id, g.choose()
	g.syncDeadline = now.Add(g.rebalanceTimeout())
	for _, m := range g.members {
		m.assignment = nil
		if !m.joined {
			continue
		}
		g.touch(m, now)
		m.joined, m.syncDue, m.unseen = false, true, false
		if m.join != 0 {
			eff.Joins = append(eff.Joins, g.joinReply(m, m.join, true))
			m.join = 0
		}
	}
}

// dropMissing removes dynamic members that have not joined.
func (g *Group) dropMissing(eff *Effects) {
	var missing []*member
	for _, m := range g.members {
		if !m.joined && m.instance == "" {
			missing = append(missing, m)
		}
	}
	for _, m := range missing {
		g.drop(m, eff)
	}
}

// shares reports whether all members support one of the protocols.
func (g *Group) shares(ps []Protocol) bool {
	common := g.common()
	for _, p := range ps {
		if common[p.Name] {
			return true
		}
	}
	return false
}

// common holds the names of the protocols that all members support.
func (g *Group) common() map[string]bool {
	count := map[string]int{}
	for _, m := range g.members {
		for i, p := range m.protocols {
			if !named(m.protocols[:i], p.Name) {
				count[p.Name]++
			}
		}
	}
	all := map[string]bool{}
	for name, n := range count {
		if n == len(g.members) {
			all[name] = true
		}
	}
	return all
}

func named(ps []Protocol, name string) bool {
	for _, p := range ps {
		if p.Name == name {
			return true
		}
	}
	return false
}

// choose returns the protocol with most votes: each member votes for the first
// of its protocols that all support. Among equals the first member's wins.
func (g *Group) choose() string {
	common := g.common()
	votes := map[string]int{}
	var order []string
	for _, m := range g.members {
		for _, p := range m.protocols {
			if common[p.Name] {
				if votes[p.Name] == 0 {
					order = append(order, p.Name)
				}
				votes[p.Name]++
				break
			}
		}
	}
	best := ""
	for _, name := range order {
		if votes[name] > votes[best] {
			best = name
		}
	}
	return best
}
