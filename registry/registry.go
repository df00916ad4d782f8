package registry

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"milena/evolution"
	"milena/registry/errcode"
	"milena/registry/state"
)

// Registry is a schema registry over a log. Its methods may be called
// concurrently. Errors carry an *errcode.Error, but for those of the context.
type Registry struct {
	opt     Options
	level   evolution.Level // where no config sets one
	checker *evolution.Checker
	parsed  *parsedCache
	bodies  *bodies
	meaning *meanings
	view    atomic.Pointer[state.View] // stored by the writer only
	trouble atomic.Pointer[error]      // why the log can't be used, nil if it can; stored by the writer only

	queue  chan *proposal
	closed chan struct{} // closed by Close; the writer then ends
	ended  chan struct{} // closed by the writer as its last act
	once   sync.Once

	turns [64]chan struct{} // held by a write that starts over, by name
	seed  maphash.Seed
}

// Open replays the log and starts the writer. Close must be called in the end.
func Open(ctx context.Context, o Options) (*Registry, error) {
	if o.Log == nil {
		return nil, errors.New("open registry: no log")
	}
	o = o.withDefaults()
	level := evolution.Backward
	if o.CompatibilityLevel != "" {
		var ok bool
		if level, ok = evolution.ParseLevel(o.CompatibilityLevel); !ok {
			return nil, fmt.Errorf("open registry: unknown compatibility level %q", o.CompatibilityLevel)
		}
	}
	checker, err := evolution.New(evolution.Options{})
	if err != nil {
		return nil, fmt.Errorf("open registry: %w", err)
	}
	r := &Registry{
		opt:     o,
		level:   level,
		checker: checker,
		parsed:  newParsedCache(o.Limits.ParsedCacheBytesMax, &o.Observer),
		meaning: newMeanings(),
		bodies:  newBodies(o.Limits.BodyCacheBytesMax),
		queue:   make(chan *proposal, o.Limits.QueuedWritesMax),
		closed:  make(chan struct{}),
		ended:   make(chan struct{}),
		seed:    maphash.MakeSeed(),
	}
	for i := range r.turns {
		r.turns[i] = make(chan struct{}, 1)
	}
	w := &writer{r: r, log: o.Log, replayer: &replayer{log: o.Log, logger: o.Logger}}
	w.snapshots = newSnapshots(o.Log, o.SnapshotEvery)
	view, err := w.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("open registry: %w", err)
	}
	r.view.Store(view)
	go w.run()
	return r, nil
}

// Close stops the writer and waits for it. Writes that wait are refused; reads
// still work. It does not close the log.
func (r *Registry) Close() error {
	r.once.Do(func() { close(r.closed) })
	<-r.ended
	return nil
}

// Ready returns nil if the registry can take writes, else why not.
func (r *Registry) Ready() error {
	select {
	case <-r.closed:
		return errClosed
	default:
	}
	if err := r.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// QueuedWrites returns how many writes wait for the writer.
func (r *Registry) QueuedWrites() int { return len(r.queue) }

// errClosed is the reason of what a closed Registry refuses.
var errClosed = errors.New("registry is closed")

// unavailable is the answer to a write that can't be taken now.
func unavailable(cause error) error { return errcode.Unavailable.New().Because(cause) }
