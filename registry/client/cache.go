package client

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"milena/serde/schema"
)

// cache keeps referenced versions by the path that they were asked for, bounded
// by entries and bytes, each for a time. Those who miss the same one at the
// same time share one question. mu guards lru and bytes.
type cache struct {
	ttl      time.Duration
	bytesMax int
	clock    func() time.Time
	timeout  time.Duration // of a shared question
	flight   singleflight.Group

	mu    sync.Mutex
	lru   *simplelru.LRU[string, entry]
	bytes int
}

type entry struct {
	found *found
	bytes int
	at    time.Time
}

func newCache(o Options) (*cache, error) {
	c := &cache{
		ttl: o.CacheTTL, bytesMax: o.CacheBytesMax, clock: o.Clock,
		timeout: time.Duration(o.AttemptsMax) * (o.AttemptTimeout + retryDelayMax),
	}
	// simplelru calls back while mu is held.
	lru, err := simplelru.NewLRU(o.CacheEntriesMax, func(_ string, e entry) { c.bytes -= e.bytes })
	if err != nil {
		return nil, fmt.Errorf("new registry client: %w", err)
	}
	c.lru = lru
	return c, nil
}

// get returns what is kept under the key, or what load returns. Load has a
// context of its own, as others may wait for it when the caller has gone.
func (c *cache) get(ctx context.Context, key string, load func(context.Context) (*found, error)) (*found, error) {
	if f := c.kept(key); f != nil {
		return f, nil
	}
	results := c.flight.DoChan(key, func() (any, error) {
		if f := c.kept(key); f != nil {
			return f, nil // by a question that ended just now
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
		defer cancel()
		f, err := load(ctx)
		if err != nil {
			return nil, err
		}
		c.keep(key, f)
		return f, nil
	})
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", schema.ErrUnavailable, context.Cause(ctx))
	case r := <-results:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*found), nil
	}
}

func (c *cache) kept(key string) *found {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.lru.Get(key)
	if !ok || c.clock().Sub(e.at) >= c.ttl {
		return nil
	}
	return e.found
}

func (c *cache) keep(key string, f *found) {
	size := len(key) + len(*f.Schema) + 64*(1+len(f.References))
	if size > c.bytesMax {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key) // so that its bytes don't count twice
	c.lru.Add(key, entry{found: f, bytes: size, at: c.clock()})
	c.bytes += size
	for c.bytes > c.bytesMax {
		c.lru.RemoveOldest()
	}
}
