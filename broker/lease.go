package broker

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"milena/broker/api"
)

// SessionID names a lease. It is random, so that a late call of an earlier
// holder never passes for one of the present.
type SessionID [16]byte

// lease lets one gateway at a time append, commit offsets and write
// coordinator records, until clustered mode: two gateways that each believe to
// coordinate the same groups would give partitions away twice.
type lease struct {
	ttl      time.Duration
	now      func() time.Time
	observer *Observer

	mu      sync.Mutex // guards current
	current *Session
}

func (l *lease) init(o *Options) {
	l.ttl, l.now, l.observer = o.Lease, o.Now, &o.Observer
}

// Session is a held lease.
type Session struct {
	id     SessionID
	holder string
	lease  *lease
	// local sessions, of a gateway in this process, never expire.
	local bool
	// ended is closed when the session takes no more calls.
	ended chan struct{}
	end   sync.Once

	mu      sync.Mutex // guards everything below
	renewed time.Time
	// over: no further calls start.
	over bool
	// calls that run; idle is closed when over is set and the last one ends.
	calls int
	idle  chan struct{}
	// publish is the present publish stream: see server_publish.go.
	publish *publisher
}

// AcquireLease takes the lease for a gateway in this process; it lasts until
// Release. It fails with ErrLeaseHeld while another gateway holds it.
func (b *Broker) AcquireLease(holder string) (*Session, error) {
	return b.lease.acquire(holder, true)
}

// acquire makes a new session. One that ran out of time is ended first, which
// waits for its running calls.
func (l *lease) acquire(holder string, local bool) (*Session, error) {
	s := &Session{
		holder: holder, lease: l, local: local, renewed: l.now(),
		ended: make(chan struct{}), idle: make(chan struct{}),
	}
	if _, err := rand.Read(s.id[:]); err != nil {
		return nil, fmt.Errorf("session id: %w", err)
	}
	l.mu.Lock()
	old := l.current
	if old != nil && !old.expired(l.now()) {
		l.mu.Unlock()
		return nil, fmt.Errorf("%w: %q", api.ErrLeaseHeld, old.holder)
	}
	l.mu.Unlock()
	if old != nil {
		old.Release()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil {
		return nil, fmt.Errorf("%w: %q", api.ErrLeaseHeld, l.current.holder)
	}
	l.current = s
	l.observer.session(holder, true)
	return s, nil
}

// enter starts a call that needs the lease; leave ends it. It fails with
// ErrLeaseLost if id is not that of the present session.
func (l *lease) enter(id SessionID) (s *Session, err error) {
	l.mu.Lock()
	s = l.current
	l.mu.Unlock()
	if s == nil || s.id != id || s.expired(l.now()) {
		return nil, api.ErrLeaseLost
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, api.ErrLeaseLost
	}
	s.calls++
	return s, nil
}

func (s *Session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls--
	if s.over && s.calls == 0 {
		close(s.idle)
	}
}

// ID returns the id that calls over gRPC carry.
func (s *Session) ID() SessionID { return s.id }

// Ended is closed when the session takes no more calls.
func (s *Session) Ended() <-chan struct{} { return s.ended }

// Renew keeps the lease for another time to live; ErrLeaseLost if it is over.
func (s *Session) Renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return api.ErrLeaseLost
	}
	s.renewed = s.lease.now()
	return nil
}

func (s *Session) expired(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.local && now.Sub(s.renewed) > s.lease.ttl
}

// Release ends the session: no further call starts, running ones are waited
// for, and then another gateway can take the lease.
func (s *Session) Release() {
	s.end.Do(func() {
		s.mu.Lock()
		s.over = true
		if s.calls == 0 {
			close(s.idle)
		}
		s.mu.Unlock()
		close(s.ended)
	})
	<-s.idle
	s.lease.mu.Lock()
	defer s.lease.mu.Unlock()
	if s.lease.current == s {
		s.lease.current = nil
		s.lease.observer.session(s.holder, false)
	}
}

// keep waits until ctx ends or the session runs out of time, and ends it.
func (s *Session) keep(ctx context.Context) {
	defer s.Release()
	timer := time.NewTimer(s.lease.ttl)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ended:
			return
		case <-timer.C:
		}
		s.mu.Lock()
		left := s.lease.ttl - s.lease.now().Sub(s.renewed)
		s.mu.Unlock()
		if left < 0 {
			return
		}
		timer.Reset(left + time.Millisecond)
	}
}
