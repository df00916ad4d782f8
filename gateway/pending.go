package gateway

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/kapi"
)

// entry is one request's place in its connection's queue. The reader makes it,
// the request's goroutine fills in the answer and closes done, the writer
// takes it from there: fields below are owned by whoever has the entry in that
// order, and the channels pass it on.
type entry struct {
	head    frameHead
	api     *kapi.API
	req     *kapi.Request
	buf     []byte
	arrived time.Time

	// prev are the signals of the entry before; those of an entry that is over
	// for the first.
	prev, own signals

	conn *conn
	// requestHeld and responseHeld, in bytes, are of the two memories.
	requestHeld   grant
	responseHeld  int64
	passed, freed bool

	// resp is the answer, nil for none. A non-nil err closes the connection.
	resp kmsg.Response
	err  error
	done chan struct{}
}

// signals tell the following entry how far this one is.
type signals struct {
	// started: its handler may run.
	started chan struct{}
	// passed: it and all before it have finished, parked or passed their turn
	// on.
	passed chan struct{}
	// freed: it and all before it have finished or parked.
	freed chan struct{}
	// written: its answer has left.
	written  chan struct{}
	overlaps bool
}

func newSignals(overlaps bool) signals {
	return signals{make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{}), overlaps}
}

// over are the signals of an entry that is over: before the first one.
func over() signals {
	c := make(chan struct{})
	close(c)
	return signals{c, c, c, c, false}
}

// awaitStart waits until the handler may run.
func (e *entry) awaitStart(ctx context.Context) error {
	defer close(e.own.started)
	before := e.prev.freed
	if e.own.overlaps && e.prev.overlaps {
		before = e.prev.started
	}
	select {
	case <-before:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish marks the handler's end: it frees the following request once all
// before have been freed, and hands the entry to the writer.
func (e *entry) finish() {
	<-e.prev.freed
	e.free()
	close(e.done)
}

// free and pass are called when the entry before is as far.
func (e *entry) free() {
	e.pass()
	if !e.freed {
		e.freed = true
		close(e.own.freed)
	}
}

func (e *entry) pass() {
	if !e.passed {
		e.passed = true
		close(e.own.passed)
	}
}

// Park implements kapi.Flow.
func (e *entry) Park() {
	e.requestHeld.release()
	select {
	case <-e.prev.freed:
		e.free()
	default:
		// An overlapping request that hasn't had its turn frees nobody.
	}
}

// Turn implements kapi.Flow.
func (e *entry) Turn(ctx context.Context) error {
	select {
	case <-e.prev.passed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pass implements kapi.Flow.
func (e *entry) Pass() {
	select {
	case <-e.prev.passed:
		e.pass()
	default: // it hasn't had its turn
	}
}

// Reserve implements kapi.Flow. Only the entry whose answer is next takes
// answer memory, so that what it waits for can always be written.
func (e *entry) Reserve(ctx context.Context, bytes int64) error {
	e.conn.server.responses.release(e.responseHeld)
	e.responseHeld = 0
	select {
	case <-e.prev.written:
	case <-ctx.Done():
		return ctx.Err()
	}
	held, err := e.conn.server.responses.acquire(ctx, bytes)
	e.responseHeld = held
	return err
}
