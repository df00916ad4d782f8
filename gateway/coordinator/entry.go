package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/group"
)

// recordPrefix starts the keys of group records.
const recordPrefix = "group/"

// entry is one loaded group. It is used after ready is closed, with mu held.
type entry struct {
	c  *Coordinator
	id string
	// ready is closed when loading has ended, well or not.
	ready chan struct{}

	// mu guards what follows; held for steps only, never during IO.
	mu      sync.Mutex
	machine *group.Group
	// gone: forgotten; whoever still holds the entry looks for the next one.
	gone bool
	// err is why it is gone, nil if there is no reason to tell.
	err error
	// closing: answers nobody any more, but still writes.
	closing bool
	// kept: something was stored for this group since it was loaded.
	kept bool
	// version of the stored record, 0 if there is none.
	version int64

	// Requests that wait, by ticket. Channels have room for their one answer.
	joins      map[group.Ticket]chan<- group.JoinReply
	syncs      map[group.Ticket]chan<- group.SyncReply
	lastTicket group.Ticket

	// queue is what waits to be written, first one first; see writer.go.
	queue   []write
	commits int  // of the queue
	writing bool // a writer is running

	// timer calls wake at wakeAt or earlier; nil and zero before the first use.
	timer  *time.Timer
	wakeAt time.Time
	// idleSince is when the group became idle, zero if it isn't.
	idleSince time.Time
}

func newEntry(c *Coordinator, id string) *entry {
	return &entry{
		c: c, id: id, ready: make(chan struct{}),
		joins: map[group.Ticket]chan<- group.JoinReply{},
		syncs: map[group.Ticket]chan<- group.SyncReply{},
	}
}

// load reads the group's record. It runs in a goroutine of the coordinator, so
// that it doesn't fail with the first of several callers.
func (e *entry) load() {
	defer close(e.ready)
	ctx, cancel := context.WithTimeout(e.c.ctx, e.c.opts.StorageTimeout)
	defer cancel()
	rec, err := e.c.backend.Load(ctx, recordPrefix+e.id)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	machine := group.New(e.c.opts.Group)
	if err == nil && rec.Version > 0 && rec.Value != nil {
		machine, err = restore(e.c.opts.Group, rec.Value, now)
	}
	if err != nil {
		e.giveUp(fmt.Errorf("load group: %w", err))
		return
	}
	e.machine, e.version = machine, rec.Version
	e.arm(now)
}

func restore(cfg group.Config, value []byte, now time.Time) (*group.Group, error) {
	s, err := decodeRecord(value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kerr.CoordinatorNotAvailable, err)
	}
	g, err := group.Restore(cfg, s, now)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kerr.CoordinatorNotAvailable, err)
	}
	return g, nil
}

// try runs one step; false if the entry is gone without a reason to tell.
func (e *entry) try(step func(*entry, time.Time)) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.gone:
		return false, e.err
	case e.closing:
		return false, kerr.NotCoordinator
	}
	now := time.Now()
	step(e, now)
	if e.version == 0 && !e.kept && e.quiet() {
		e.leave(nil) // nobody has heard of this group
		return true, nil
	}
	e.arm(now)
	return true, nil
}

// ticket returns a new one.
func (e *entry) ticket() group.Ticket {
	e.lastTicket++
	return e.lastTicket
}

// settle carries out the effects of a step: answers at once, or after the record
// that they depend on.
func (e *entry) settle(eff group.Effects) {
	if eff.Persist {
		value, err := appendRecord(nil, e.machine.Snapshot())
		if err != nil {
			e.giveUp(err)
			return
		}
		e.kept = true
		e.enqueue(write{record: value, replies: eff})
		return
	}
	for i := len(e.queue) - 1; i >= 0; i-- {
		if e.queue[i].record != nil {
			// What is answered now may tell of a state that isn't durable yet.
			r := &e.queue[i].replies
			r.Joins = append(r.Joins, eff.Joins...)
			r.Syncs = append(r.Syncs, eff.Syncs...)
			return
		}
	}
	e.deliver(eff)
}

// deliver answers requests. Those given up by their clients have no entry.
func (e *entry) deliver(eff group.Effects) {
	for _, r := range eff.Joins {
		if ch := e.joins[r.Ticket]; ch != nil {
			ch <- r
			delete(e.joins, r.Ticket)
		}
	}
	for _, r := range eff.Syncs {
		if ch := e.syncs[r.Ticket]; ch != nil {
			ch <- r
			delete(e.syncs, r.Ticket)
		}
	}
}

// refuseAll answers everyone who waits for a join or a sync.
func (e *entry) refuseAll(err error) {
	for t, ch := range e.joins {
		ch <- group.JoinReply{Ticket: t, Err: err, Generation: -1}
	}
	for t, ch := range e.syncs {
		ch <- group.SyncReply{Ticket: t, Err: err}
	}
	clear(e.joins)
	clear(e.syncs)
}

// abandon takes back a request whose client has gone.
func (e *entry) abandon(t group.Ticket) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.joins, t)
	delete(e.syncs, t)
	if e.gone || e.closing {
		return
	}
	now := time.Now()
	e.observed(func() { e.settle(e.machine.Abandon(now, t)) })
	e.arm(now)
}

// observed runs a step and tells the observer if it completed a join phase.
func (e *entry) observed(step func()) {
	before := e.machine.Generation()
	step()
	if e.machine.Generation() != before {
		e.c.opts.Observer.Rebalanced()
	}
}

// quiet: nobody is in the group, and nothing is left to be written.
func (e *entry) quiet() bool {
	return e.machine.Idle() && len(e.queue) == 0 && !e.writing
}

// arm sets the timer to what comes next: a deadline of the group, or the end of
// the time that an idle one is kept. A timer that is due earlier is left alone,
// for most deadlines move on with every heartbeat.
func (e *entry) arm(now time.Time) {
	if e.gone || e.closing {
		return
	}
	next, ok := e.machine.Deadline()
	switch {
	case !e.quiet():
		e.idleSince = time.Time{}
	case e.idleSince.IsZero():
		e.idleSince = now
	}
	if !ok && !e.idleSince.IsZero() {
		next, ok = e.idleSince.Add(e.c.opts.IdleTimeout), true
	}
	if !ok || !e.wakeAt.IsZero() && !e.wakeAt.After(next) {
		return
	}
	e.wakeAt = next
	if e.timer == nil {
		e.timer = time.AfterFunc(next.Sub(now), e.wake)
		return
	}
	e.timer.Reset(next.Sub(now))
}

// wake is called by the timer.
func (e *entry) wake() {
	if !e.c.enter() {
		return
	}
	defer e.c.work.Done()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone || e.closing {
		return
	}
	now := time.Now()
	e.wakeAt = time.Time{}
	e.observed(func() { e.settle(e.machine.Tick(now)) })
	if !e.gone && e.quiet() && !e.idleSince.IsZero() && now.Sub(e.idleSince) >= e.c.opts.IdleTimeout {
		e.leave(nil)
		return
	}
	e.arm(now)
}

// close answers everyone and takes no further steps. The writer goes on.
func (e *entry) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closing = true
	if e.timer != nil {
		e.timer.Stop()
	}
	e.refuseAll(kerr.NotCoordinator)
}

// giveUp forgets a group that can't be stored or loaded: everyone who waits is
// told why, and the next request starts from what is stored.
func (e *entry) giveUp(err error) {
	e.c.opts.Observer.StorageFailed()
	if !errors.Is(err, context.Canceled) {
		e.c.log.Error("group given up", "group", e.id, "err", err)
	}
	e.leave(err)
}

// leave takes the entry out of use.
func (e *entry) leave(err error) {
	if e.gone {
		return
	}
	e.gone, e.err = true, err
	if e.timer != nil {
		e.timer.Stop()
	}
	if err == nil {
		err = kerr.NotCoordinator // nobody waits for an idle group
	}
	e.refuseAll(err)
	for _, w := range e.queue {
		if w.commit != nil {
			w.commit.done <- err
		}
		if w.deleted != nil {
			w.deleted <- err
		}
	}
	e.queue, e.commits = nil, 0
	e.c.forget(e)
}
