package coordinator

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/backend"
	"milena/gateway/group"
)

// Backend is what a Coordinator needs of a broker.
type Backend interface {
	backend.Offsets
	backend.Coordination
}

// Options of a Coordinator. The zero value works.
type Options struct {
	// Group bounds each group and holds its times.
	Group group.Config
	// GroupsMax bounds the groups loaded at a time, 100,000 if zero.
	GroupsMax int
	// CommitsMax bounds the commits of a group that wait to be stored, 1,024 if
	// zero.
	CommitsMax int
	// StorageTimeout bounds one call to the backend, 10 s if zero: less than the
	// session timeouts that clients choose, so that a stall shows as an error.
	StorageTimeout time.Duration
	// IdleTimeout is how long a group without members stays loaded, 1 min if zero.
	IdleTimeout time.Duration
	// NewMemberID makes a member id that was never used before; client id and a
	// random UUID if nil. Called concurrently.
	NewMemberID func(clientID string) string
	// Logger gets what no client can be told; discarded if nil.
	Logger *slog.Logger
	// Observer is told what happens.
	Observer Observer
}

// Observer is a set of optional functions. They are called with a lock held and
// must return at once without calling the Coordinator.
type Observer struct {
	// Rebalanced: a join phase was completed.
	Rebalanced func()
	// StorageFailed: a group was given up because a record couldn't be stored or
	// loaded.
	StorageFailed func()
}

func (o Options) withDefaults() Options {
	if o.GroupsMax == 0 {
		o.GroupsMax = 100_000
	}
	if o.CommitsMax == 0 {
		o.CommitsMax = 1024
	}
	if o.StorageTimeout == 0 {
		o.StorageTimeout = 10 * time.Second
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = time.Minute
	}
	if o.NewMemberID == nil {
		o.NewMemberID = newMemberID
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observer.Rebalanced == nil {
		o.Observer.Rebalanced = func() {}
	}
	if o.Observer.StorageFailed == nil {
		o.Observer.StorageFailed = func() {}
	}
	return o
}

// Coordinator coordinates all groups of this gateway. It is safe for concurrent
// use.
type Coordinator struct {
	opts    Options
	backend Backend
	log     *slog.Logger

	// ctx ends when Close gives up waiting for storage.
	ctx    context.Context
	cancel context.CancelFunc
	// work counts loaders, writers and timer calls; see enter.
	work sync.WaitGroup

	// mu guards what follows. It is a leaf.
	mu     sync.Mutex
	groups map[string]*entry
	closed bool
}

// New returns a Coordinator. It starts nothing before the first request.
func New(b Backend, o Options) *Coordinator {
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	return &Coordinator{
		opts: o, backend: b, log: o.Logger,
		ctx: ctx, cancel: cancel,
		groups: map[string]*entry{},
	}
}

// Loaded returns the number of groups in memory.
func (c *Coordinator) Loaded() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.groups)
}

// Close answers everyone who waits for others with NOT_COORDINATOR, refuses what
// comes after, and waits for storage calls that are under way and for commits that
// were accepted: until they are done or ctx ends, when they are cancelled. It
// returns ctx's error in that case. A second Close does the same again.
func (c *Coordinator) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	all := make([]*entry, 0, len(c.groups))
	for _, e := range c.groups {
		all = append(all, e)
	}
	c.mu.Unlock()
	for _, e := range all {
		e.close()
	}
	stop := context.AfterFunc(ctx, c.cancel)
	c.work.Wait()
	c.cancel()
	if !stop() {
		return fmt.Errorf("close group coordinator: %w", context.Cause(ctx))
	}
	return nil
}

// enter counts a goroutine that Close waits for; false once closed.
func (c *Coordinator) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.work.Add(1)
	return true
}

// find returns the group's entry, and has it loaded if it isn't.
func (c *Coordinator) find(id string) (*entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, kerr.NotCoordinator
	}
	if e := c.groups[id]; e != nil {
		return e, nil
	}
	if len(c.groups) >= c.opts.GroupsMax {
		return nil, fmt.Errorf("%d groups are loaded: %w", len(c.groups), kerr.CoordinatorNotAvailable)
	}
	e := newEntry(c, id)
	c.groups[id] = e
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		e.load()
	}()
	return e, nil
}

// forget takes an entry off the map.
func (c *Coordinator) forget(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groups[e.id] == e {
		delete(c.groups, e.id)
	}
}

// with calls step with the group's entry loaded and locked. Its error is the
// context's, or one that says why the group can't be had; step didn't run then.
func (c *Coordinator) with(ctx context.Context, id string, step func(e *entry, now time.Time)) error {
	for {
		e, err := c.find(id)
		if err != nil {
			return err
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return fmt.Errorf("load group: %w", context.Cause(ctx))
		}
		done, err := e.try(step)
		if done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("find group: %w", err)
		}
	}
}

// clientIDBytesMax cuts client ids in member ids, whose length is an int16 on the
// wire.
const clientIDBytesMax = 200

// newMemberID is the client id, for people who read logs, and a random UUID.
func newMemberID(clientID string) string {
	if len(clientID) > clientIDBytesMax {
		clientID = strings.ToValidUTF8(clientID[:clientIDBytesMax], "")
	}
	var b [16]byte
	rand.Read(b[:]) // never fails, as documented
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%s-%x-%x-%x-%x-%x", clientID, b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
