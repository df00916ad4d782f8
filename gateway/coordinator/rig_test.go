package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/group"
)

// store is a broker in memory whose writes can be held up or fail.
type store struct {
	*memory.Broker
	topic backend.Topic

	mu    sync.Mutex // guards the fields below
	gate  chan struct{}
	fail  error
	lose  error // writes are made and seem to fail with it
	loads int
	calls []string // writes, as they ended
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{Broker: memory.New(nil)}
	var err error
	if s.topic, err = s.CreateTopic(t.Context(), backend.TopicSpec{Name: "t", Partitions: 100}); err != nil {
		t.Fatal(err)
	}
	return s
}

// hold stops writes until the returned function is called.
func (s *store) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := make(chan struct{})
	s.gate = gate
	return func() {
		s.mu.Lock()
		s.gate = nil
		s.mu.Unlock()
		close(gate)
	}
}

func (s *store) failWith(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *store) loseWith(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = err
}

func (s *store) lost(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.lose
	}
	return err
}

func (s *store) wait(ctx context.Context) error {
	s.mu.Lock()
	gate, fail := s.gate, s.fail
	s.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fail
}

func (s *store) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *store) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls
	s.calls = nil
	return c
}

func (s *store) Load(ctx context.Context, key string) (backend.Record, error) {
	s.mu.Lock()
	s.loads++
	s.mu.Unlock()
	return s.Broker.Load(ctx, key)
}

func (s *store) CompareAndAppend(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	if err := s.wait(ctx); err != nil {
		return 0, err
	}
	v, err := s.Broker.CompareAndAppend(ctx, key, expected, value)
	s.note("%s %d", key, v)
	return v, s.lost(err)
}

func (s *store) CommitOffsets(ctx context.Context, id string, offsets []backend.GroupOffset) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	err := s.Broker.CommitOffsets(ctx, id, offsets)
	s.note("commit %d", len(offsets))
	return s.lost(err)
}

func (s *store) offset(partition int32, offset int64) []backend.GroupOffset {
	return []backend.GroupOffset{{Topic: "t", TopicID: s.topic.ID, Partition: partition, Offset: offset, LeaderEpoch: -1, ExpireTime: -1}}
}

// bubble runs a test with time of its own, on a coordinator without initial delay.
func bubble(t *testing.T, test func(t *testing.T, s *store, c *Coordinator)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		c := New(s, quick())
		test(t, s, c)
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		if n := len(c.groups); n > 0 {
			for _, e := range c.groups {
				if len(e.joins)+len(e.syncs)+len(e.queue) > 0 {
					t.Errorf("group %s is left with %d joins, %d syncs, %d writes", e.id, len(e.joins), len(e.syncs), len(e.queue))
				}
			}
		}
	})
}

func quick() Options {
	return Options{Group: group.Config{InitialRebalanceDelay: -1}}
}

func request(id string) group.JoinRequest {
	return group.JoinRequest{
		MemberID: id, ClientID: "client", ClientHost: "/127.0.0.1",
		SessionTimeout: 10 * time.Second, RebalanceTimeout: 60 * time.Second,
		ProtocolType: "consumer", Protocols: []group.Protocol{{Name: "range", Metadata: []byte("m")}},
	}
}

func nothing() {}

// later runs a call that may wait; wait for its result with <-.
func later[T any](call func() T) <-chan T {
	ch := make(chan T, 1)
	go func() { ch <- call() }()
	return ch
}

func pending[T any](t *testing.T, ch <-chan T) {
	t.Helper()
	synctest.Wait()
	if len(ch) > 0 {
		t.Fatalf("answered: %+v", <-ch)
	}
}

func joining(t *testing.T, c *Coordinator, id string) <-chan group.JoinReply {
	ctx := t.Context()
	return later(func() group.JoinReply { return c.Join(ctx, "g", request(id), nothing) })
}

func syncing(t *testing.T, c *Coordinator, j group.JoinReply) <-chan group.SyncReply {
	ctx := t.Context()
	r := group.SyncRequest{MemberID: j.MemberID, Generation: j.Generation}
	for _, m := range j.Members {
		r.Assignments = append(r.Assignments, group.Assignment{MemberID: m.MemberID, Bytes: []byte("for " + m.MemberID)})
	}
	return later(func() group.SyncReply { return c.Sync(ctx, "g", r, nothing) })
}

func beat(t *testing.T, c *Coordinator, j group.JoinReply) error {
	return c.Heartbeat(t.Context(), "g", group.MemberRequest{MemberID: j.MemberID, Generation: j.Generation})
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got %v, want %v", err, target)
	}
}

// one makes a Stable group "g" of one member.
func one(t *testing.T, c *Coordinator) group.JoinReply {
	t.Helper()
	j := <-joining(t, c, "")
	want(t, j.Err, nil)
	s := <-syncing(t, c, j)
	want(t, s.Err, nil)
	if string(s.Assignment) != "for "+j.MemberID {
		t.Fatalf("assignment %q", s.Assignment)
	}
	return j
}

// two makes a Stable group "g" of two members, the leader first.
func two(t *testing.T, c *Coordinator) (leader, follower group.JoinReply) {
	t.Helper()
	a := one(t, c)
	jb := joining(t, c, "")
	pending(t, jb)
	want(t, beat(t, c, a), kerr.RebalanceInProgress)
	leader, follower = <-joining(t, c, a.MemberID), <-jb
	sf := syncing(t, c, follower)
	pending(t, sf)
	want(t, (<-syncing(t, c, leader)).Err, nil)
	if s := <-sf; s.Err != nil || string(s.Assignment) != "for "+follower.MemberID {
		t.Fatalf("%+v", s)
	}
	return leader, follower
}
