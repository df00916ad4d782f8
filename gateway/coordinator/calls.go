package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/backend"
	"milena/gateway/group"
)

// Errors of all calls are those of kerr, of package backend or the context's,
// wrapped or not.

// Join handles a JoinGroup and returns when it can be answered: after seconds or
// minutes, for it waits for other members. Ticket and FreshID are set here. When
// ctx ends the answer is lost and the group goes on. If the answer isn't there at
// once, park is called after the request has taken effect and before the wait.
func (c *Coordinator) Join(ctx context.Context, id string, r group.JoinRequest, park func()) group.JoinReply {
	refused := func(err error) group.JoinReply {
		return group.JoinReply{Err: err, MemberID: r.MemberID, Generation: -1}
	}
	if id == "" {
		return refused(kerr.InvalidGroupID)
	}
	r.FreshID = c.opts.NewMemberID(r.ClientID)
	answer := make(chan group.JoinReply, 1)
	var at *entry
	err := c.with(ctx, id, func(e *entry, now time.Time) {
		at = e
		r.Ticket = e.ticket()
		e.joins[r.Ticket] = answer
		e.observed(func() { e.settle(e.machine.Join(now, r)) })
	})
	if err != nil {
		return refused(err)
	}
	reply, ok := wait(ctx, answer, park)
	switch {
	case !ok:
		at.abandon(r.Ticket)
		return refused(fmt.Errorf("wait for the group to join: %w", context.Cause(ctx)))
	case reply.MemberID == "":
		reply.MemberID = r.MemberID
	}
	return reply
}

// wait returns the answer; false if ctx ended before it.
func wait[T any](ctx context.Context, answer <-chan T, park func()) (T, bool) {
	if len(answer) == 0 {
		park()
	}
	select {
	case reply := <-answer:
		return reply, true
	case <-ctx.Done():
		var none T
		return none, false
	}
}

// Sync handles a SyncGroup and returns when the leader's assignment is there.
// Ticket is set here; ctx and park are as for Join.
func (c *Coordinator) Sync(ctx context.Context, id string, r group.SyncRequest, park func()) group.SyncReply {
	if id == "" {
		return group.SyncReply{Err: kerr.InvalidGroupID}
	}
	answer := make(chan group.SyncReply, 1)
	var at *entry
	err := c.with(ctx, id, func(e *entry, now time.Time) {
		at = e
		r.Ticket = e.ticket()
		e.syncs[r.Ticket] = answer
		e.observed(func() { e.settle(e.machine.Sync(now, r)) })
	})
	if err != nil {
		return group.SyncReply{Err: err}
	}
	reply, ok := wait(ctx, answer, park)
	if !ok {
		at.abandon(r.Ticket)
		return group.SyncReply{Err: fmt.Errorf("wait for the leader's assignment: %w", context.Cause(ctx))}
	}
	return reply
}

// Heartbeat handles a Heartbeat.
func (c *Coordinator) Heartbeat(ctx context.Context, id string, r group.MemberRequest) error {
	if id == "" {
		return kerr.InvalidGroupID
	}
	var answer error
	err := c.with(ctx, id, func(e *entry, now time.Time) {
		answer = e.machine.Heartbeat(now, r)
	})
	if err != nil {
		return err
	}
	return answer
}

// Leave removes members and returns an error or nil for each, in order; or an
// error for the call as a whole.
func (c *Coordinator) Leave(ctx context.Context, id string, leaving []group.LeaveMember) ([]error, error) {
	if id == "" {
		return nil, kerr.InvalidGroupID
	}
	var errs []error
	err := c.with(ctx, id, func(e *entry, now time.Time) {
		e.observed(func() {
			var eff group.Effects
			errs, eff = e.machine.Leave(now, leaving)
			e.settle(eff)
		})
	})
	return errs, err
}

// Commit stores offsets durably if the member may commit them. A generation for a
// group that doesn't exist is GROUP_ID_NOT_FOUND. The empty group id is allowed
// here, as in Kafka.
func (c *Coordinator) Commit(ctx context.Context, id string, r group.MemberRequest, offsets []backend.GroupOffset) error {
	var refused error
	w := &commit{offsets: offsets, done: make(chan error, 1)}
	err := c.with(ctx, id, func(e *entry, now time.Time) {
		switch {
		case e.version == 0 && e.machine.Generation() == 0 && e.machine.Idle() && r.Generation >= 0:
			refused = kerr.GroupIDNotFound
		case e.commits >= c.opts.CommitsMax:
			refused = fmt.Errorf("%d commits wait: %w", e.commits, kerr.CoordinatorLoadInProgress)
		default:
			refused = e.machine.Commit(now, r)
		}
		switch {
		case refused != nil:
		case len(offsets) == 0:
			w.done <- nil
		default:
			e.kept = true
			e.enqueue(write{commit: w})
		}
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the commit: %w", context.Cause(ctx))
	}
}
