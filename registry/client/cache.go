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

// cache keeps answers by what was asked, bounded by entries and bytes, each for
// a time. Those who miss the same one at the same time share one question. mu
// guards lru, bytes, generation and counts.
type cache[V any] struct {
	name       string
	ttl        time.Duration // 0: for ever
	unknownTTL time.Duration // 0: errors are not kept
	bytesMax   int
	clock      func() time.Time
	timeout    time.Duration // of a shared question
	size       func(V) int
	flight     singleflight.Group

	mu         sync.Mutex
	lru        *simplelru.LRU[string, entry[V]]
	bytes      int
	generation generation
	counts     CacheStats
}

// generation tells answers to questions from before entries were dropped from
// those after it. Both numbers only go up.
type generation struct {
	all     uint64 // with everything
	unknown uint64 // with what says that there is none
}

// entry is an answer, or the error that there is none.
type entry[V any] struct {
	value V
	err   error
	bytes int
	at    time.Time
}

func newCache[V any](name string, o *Options, ttl, unknownTTL, attempt time.Duration, size func(V) int) *cache[V] {
	c := &cache[V]{
		name: name, ttl: ttl, unknownTTL: unknownTTL, bytesMax: o.CacheBytesMax, clock: o.Clock,
		timeout: waitMax(o, attempt), size: size,
	}
	// simplelru calls back while mu is held. It fails for sizes below one only,
	// which the defaults exclude.
	c.lru, _ = simplelru.NewLRU(o.CacheEntriesMax, func(_ string, e entry[V]) { c.bytes -= e.bytes })
	return c
}

// get returns what is kept under the key, or what load returns. Load has a
// context of its own, as others may wait for it when the caller has gone.
func (c *cache[V]) get(ctx context.Context, key string, load func(context.Context) (V, error)) (V, error) {
	var none V
	e, asked, ok := c.kept(key, true)
	if ok {
		return e.value, e.err
	}
	// A question from before entries were dropped may bring what is outdated.
	results := c.flight.DoChan(fmt.Sprintf("%d %d %s", asked.all, asked.unknown, key), func() (any, error) {
		if e, now, ok := c.kept(key, false); ok && now == asked {
			return e.value, e.err // by a question that ended just now
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
		defer cancel()
		v, err := load(ctx)
		c.keep(key, asked, v, err)
		return v, err
	})
	select {
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", schema.ErrUnavailable, context.Cause(ctx))
	case r := <-results:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(V), nil
	}
}

// kept returns what is kept under the key and still fresh.
func (c *cache[V]) kept(key string, count bool) (entry[V], generation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.lru.Get(key)
	ttl := c.ttl
	if e.err != nil {
		ttl = c.unknownTTL
	}
	if ok && ttl > 0 && c.clock().Sub(e.at) >= ttl {
		ok = false
	}
	switch {
	case !count:
	case !ok:
		c.counts.Misses++
	case e.err != nil:
		c.counts.UnknownHits++
	default:
		c.counts.Hits++
	}
	return e, c.generation, ok
}

// keep keeps an answer that was asked for in a generation, unless entries of its
// kind were dropped since.
func (c *cache[V]) keep(key string, asked generation, v V, err error) {
	e := entry[V]{value: v, err: err, bytes: len(key) + referenceBytes, at: c.clock()}
	switch {
	case err == nil:
		e.bytes += c.size(v)
	case c.unknownTTL == 0 || !unknown(err):
		return
	}
	if e.bytes > c.bytesMax {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked.all != c.generation.all || err != nil && asked.unknown != c.generation.unknown {
		return
	}
	c.lru.Remove(key) // so that its bytes don't count twice
	if c.lru.Add(key, e) {
		c.counts.Evictions++
	}
	c.bytes += e.bytes
	for c.bytes > c.bytesMax {
		c.lru.RemoveOldest()
		c.counts.Evictions++
	}
}

// put keeps a value that nobody asked for.
func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	now := c.generation
	c.mu.Unlock()
	c.keep(key, now, v, nil)
}

// flush drops everything.
func (c *cache[V]) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation.all++
	c.lru.Purge()
	c.bytes = 0
}

// forgetUnknown drops the answers that there is none.
func (c *cache[V]) forgetUnknown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation.unknown++
	for _, key := range c.lru.Keys() {
		if e, ok := c.lru.Peek(key); ok && e.err != nil {
			c.lru.Remove(key)
		}
	}
}

func (c *cache[V]) stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.counts
	s.Name, s.Entries, s.Bytes = c.name, c.lru.Len(), c.bytes
	return s
}
