package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/backend"
	"milena/gateway/group"
)

// consumer is a client that goes through rebalances as real ones do.
type consumer struct {
	c    *Coordinator
	id   string
	rnd  *rand.Rand
	file func(generation int32, token, id string)
}

// round joins, syncs, heartbeats until the next rebalance; it returns on errors
// that make a client start over.
func (c *consumer) round(ctx context.Context) error {
	r := request(c.id)
	r.IDFirst = true
	j := c.c.Join(ctx, "g", r, nothing)
	if errors.Is(j.Err, kerr.MemberIDRequired) {
		c.id = j.MemberID
		return nil
	}
	if errors.Is(j.Err, kerr.UnknownMemberID) {
		c.id = ""
		return nil
	}
	if j.Err != nil {
		return j.Err
	}
	c.id = j.MemberID
	s := group.SyncRequest{MemberID: c.id, Generation: j.Generation}
	for i, m := range j.Members {
		s.Assignments = append(s.Assignments, group.Assignment{MemberID: m.MemberID, Bytes: fmt.Append(nil, i)})
	}
	a := c.c.Sync(ctx, "g", s, nothing)
	if a.Err != nil {
		return a.Err
	}
	c.file(j.Generation, string(a.Assignment), c.id)
	m := group.MemberRequest{MemberID: c.id, Generation: j.Generation}
	for range c.rnd.IntN(20) {
		if err := c.c.Heartbeat(ctx, "g", m); err != nil {
			return err
		}
		err := c.c.Commit(ctx, "g", m, []backend.GroupOffset{{Topic: "t", Partition: int32(c.rnd.IntN(100)), Offset: 1}})
		if err != nil {
			return err
		}
	}
	if c.rnd.IntN(3) == 0 {
		_, err := c.c.Leave(ctx, "g", []group.LeaveMember{{MemberID: c.id}})
		c.id = ""
		return err
	}
	return nil
}

// TestStress runs consumers that come, go, lose their connections and meet a
// failing broker, all at once. No partition has two owners in one generation, and
// in the end nobody is left waiting.
func TestStress(t *testing.T) {
	s := newStore(t)
	c := New(s, quick())
	var mu sync.Mutex
	owners := map[string]string{}
	rounds := 0
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var wait sync.WaitGroup
	for n := range 12 {
		wait.Go(func() {
			k := &consumer{c: c, rnd: rand.New(rand.NewPCG(uint64(n), 3))}
			k.file = func(generation int32, token, id string) {
				mu.Lock()
				defer mu.Unlock()
				rounds++
				key := fmt.Sprintf("%d/%s", generation, token)
				if o, ok := owners[key]; ok && o != id {
					t.Errorf("generation %d, assignment %s: %s and %s", generation, token, o, id)
				}
				owners[key] = id
			}
			for ctx.Err() == nil {
				// Some connections are lost while a request waits.
				own, stop := context.WithTimeout(ctx, time.Duration(1+k.rnd.IntN(50))*time.Millisecond)
				err := k.round(own)
				stop()
				if errors.Is(err, kerr.UnknownMemberID) || k.rnd.IntN(50) == 0 {
					k.id = ""
				}
			}
		})
	}
	wait.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			switch i % 10 {
			case 4:
				s.failWith(backend.ErrUnavailable)
			case 9:
				s.loseWith(backend.ErrUnavailable)
			}
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
			s.failWith(nil)
			s.loseWith(nil)
		}
	})
	wait.Wait()
	if rounds == 0 {
		t.Error("nobody ever got an assignment")
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.groups {
		if len(e.joins)+len(e.syncs)+len(e.queue) > 0 {
			t.Errorf("%d joins, %d syncs, %d writes are left", len(e.joins), len(e.syncs), len(e.queue))
		}
	}
}
