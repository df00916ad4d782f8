package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// queue makes entries as the reader would; true is an API that overlaps.
func queue(overlaps ...bool) []*entry {
	c := &conn{server: &Server{requests: newRequestMemory(100), responses: newMemory(100)}}
	last := over()
	var out []*entry
	for _, o := range overlaps {
		e := &entry{conn: c, prev: last, own: newSignals(o), done: make(chan struct{})}
		last = e.own
		out = append(out, e)
	}
	return out
}

func closedChan(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// began starts the entry's wait and says whether it ended.
func began(t *testing.T, e *entry) bool {
	t.Helper()
	go func() {
		if err := e.awaitStart(t.Context()); err != nil {
			t.Errorf("await start: %v", err)
		}
	}()
	synctest.Wait()
	return closedChan(e.own.started)
}

func TestRequestsRunOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue(false, false)
		if !began(t, q[0]) || began(t, q[1]) {
			t.Fatal("the second request didn't wait for the first")
		}
		q[0].finish()
		if synctest.Wait(); !closedChan(q[1].own.started) {
			t.Fatal("the second request didn't start after the first")
		}
	})
}

func TestOverlappingRequestsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue(true, true, false)
		if !began(t, q[0]) || !began(t, q[1]) || began(t, q[2]) {
			t.Fatal("want the first two to start, and the third to wait")
		}
		turn := make(chan error, 1)
		go func() { turn <- q[1].Turn(t.Context()) }()
		go q[1].finish() // even a handler that gives up early keeps the order
		synctest.Wait()
		if len(turn) > 0 || closedChan(q[1].done) || closedChan(q[1].own.freed) {
			t.Fatal("the second request didn't wait for its turn")
		}
		if err := q[0].Turn(t.Context()); err != nil {
			t.Fatalf("turn of the first: %v", err)
		}
		q[0].finish()
		synctest.Wait()
		if err := <-turn; err != nil || !closedChan(q[1].done) || !closedChan(q[2].own.started) {
			t.Fatalf("after the first finished: %v", err)
		}
	})
}

// TestPassLetsOnlyOverlappingRequestsGoOn: what doesn't overlap sees the end of
// all before it.
func TestPassLetsOnlyOverlappingRequestsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue(true, true, true, false)
		for _, e := range q {
			began(t, e)
		}
		q[1].Pass() // before its turn: nothing happens
		if closedChan(q[1].own.passed) {
			t.Fatal("the second request passed a turn on that it never had")
		}
		turn := make(chan error, 2)
		go func() { turn <- q[2].Turn(t.Context()) }()
		for _, e := range q[:2] {
			if synctest.Wait(); len(turn) > 0 {
				t.Fatal("the third request's turn came too early")
			}
			if err := e.Turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			e.Pass()
			e.Pass() // harmless
		}
		if err := <-turn; err != nil {
			t.Fatal(err)
		}
		q[2].Pass()
		go q[2].finish()
		go q[1].finish()
		if synctest.Wait(); closedChan(q[2].done) || closedChan(q[1].done) || closedChan(q[3].own.started) {
			t.Fatal("something ended before the first request")
		}
		q[0].finish()
		if synctest.Wait(); !closedChan(q[2].done) || !closedChan(q[3].own.started) {
			t.Fatal("the rest didn't follow the first")
		}
	})
}

func TestParkLetsOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue(false, false)
		held, err := q[0].conn.server.requests.acquire(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		q[0].requestHeld = held
		if !began(t, q[0]) {
			t.Fatal("the first request didn't start")
		}
		q[0].Park()
		q[0].Park() // harmless
		if !began(t, q[1]) || closedChan(q[0].done) {
			t.Fatal("the second request doesn't run beside the parked one")
		}
		if held, err := q[0].conn.server.requests.acquire(t.Context(), 100); err != nil || held.bytes != 75 {
			t.Fatalf("memory of the parked request: %d, %v", held.bytes, err)
		}
		q[0].finish()
		q[1].finish()
	})
}

// TestReserveWaitsForTheAnswerBefore: only the next answer takes memory.
func TestReserveWaitsForTheAnswerBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue(false, false)
		if err := q[0].Reserve(t.Context(), 1000); err != nil || q[0].responseHeld != 100 {
			t.Fatalf("more than there is: %v, holds %d", err, q[0].responseHeld)
		}
		if err := q[0].Reserve(t.Context(), 10); err != nil || q[0].responseHeld != 10 {
			t.Fatalf("again: %v, holds %d", err, q[0].responseHeld)
		}
		got := make(chan error, 1)
		go func() { got <- q[1].Reserve(t.Context(), 5) }()
		synctest.Wait()
		if len(got) > 0 {
			t.Fatal("the second didn't wait")
		}
		close(q[0].own.written)
		if err := <-got; err != nil || q[1].responseHeld != 5 {
			t.Fatalf("the second: %v, holds %d", err, q[1].responseHeld)
		}
	})
}

func TestWaitsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := queue(false, false)[1]
	for name, err := range map[string]error{
		"start": e.awaitStart(ctx), "turn": e.Turn(ctx), "reserve": e.Reserve(ctx, 1),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := newMemory(10)
	if _, err := m.acquire(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	if held, err := m.acquire(ctx, 1); held != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("memory: %d, %v", held, err)
	}
	m.release(10)
	if held, err := m.acquire(t.Context(), -5); held != 0 || err != nil {
		t.Errorf("a negative demand: %d, %v", held, err)
	}
}
