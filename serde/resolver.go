package serde

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"milena/serde/schema"
)

// ResolverOptions configure a Resolver; Lookup and Programs are required.
type ResolverOptions struct {
	// Lookup is the registry.
	Lookup schema.Lookup
	// Programs holds the compiled schemas; shared with other resolvers.
	Programs *Programs
	// TTL is for how long an id is taken to mean what it meant; default 5 min.
	TTL time.Duration
	// StaleMax is for how long after that it still is while the registry can't
	// be reached; default 1 h.
	StaleMax time.Duration
	// LookupTimeout bounds one look-up, whatever its callers' contexts say;
	// default 10 s.
	LookupTimeout time.Duration
	// EntriesMax is the greatest number of ids and GUIDs kept; default 65,536.
	EntriesMax int
	// Clock returns the present time; time.Now if nil.
	Clock func() time.Time
}

func (o ResolverOptions) withDefaults() ResolverOptions {
	if o.TTL <= 0 {
		o.TTL = 5 * time.Minute
	}
	if o.StaleMax <= 0 {
		o.StaleMax = time.Hour
	}
	if o.LookupTimeout <= 0 {
		o.LookupTimeout = 10 * time.Second
	}
	if o.EntriesMax <= 0 {
		o.EntriesMax = 65_536
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// name is what a registry is asked for: a context and an id, or a GUID.
type name struct {
	context string
	id      int32
	guid    string
}

// key is a text that no two names share.
func (n name) key() string { return strconv.Itoa(int(n.id)) + " " + n.guid + " " + n.context }

// resolved is what a name meant at a time. It keeps the content, so that a
// schema which fell out of Programs is compiled again without a look-up.
type resolved struct {
	compiled *Compiled
	at       time.Time
}

// Resolver maps the ids of one registry to compiled schemas. mu guards lru.
//
// Unknown ids are not remembered: a schema may have been registered a moment
// before its first record, so "unknown" always comes from the registry. Callers
// that meet many unknown ids bound how often they ask.
type Resolver struct {
	opts   ResolverOptions
	flight singleflight.Group

	mu  sync.Mutex
	lru *simplelru.LRU[name, resolved]
}

// NewResolver returns a Resolver with an empty cache.
func NewResolver(o ResolverOptions) (*Resolver, error) {
	if o.Lookup == nil || o.Programs == nil {
		return nil, errors.New("new resolver: a look-up and a program cache are required")
	}
	o = o.withDefaults()
	lru, err := simplelru.NewLRU[name, resolved](o.EntriesMax, nil)
	if err != nil {
		return nil, fmt.Errorf("new resolver: %w", err)
	}
	return &Resolver{opts: o, lru: lru}, nil
}

// CachedID returns what the id is known to mean without asking the registry.
func (r *Resolver) CachedID(registryContext string, id int32) (*Compiled, bool) {
	return r.cached(name{context: registryContext, id: id})
}

// CachedGUID is CachedID for a GUID.
func (r *Resolver) CachedGUID(guid string) (*Compiled, bool) { return r.cached(name{guid: guid}) }

// ByID returns the schema with the id in one context. Errors wrap
// schema.ErrUnknown (the registry was asked and has none), schema.ErrUnavailable,
// or the context's.
func (r *Resolver) ByID(ctx context.Context, registryContext string, id int32) (*Compiled, error) {
	return r.resolve(ctx, name{context: registryContext, id: id})
}

// ByGUID returns the schema with the GUID in its text form of 36 characters.
func (r *Resolver) ByGUID(ctx context.Context, guid string) (*Compiled, error) {
	return r.resolve(ctx, name{guid: guid})
}

func (r *Resolver) cached(n name) (*Compiled, bool) {
	if e, ok := r.entry(n); ok && r.opts.Clock().Sub(e.at) < r.opts.TTL {
		return e.compiled, true
	}
	return nil, false
}

func (r *Resolver) entry(n name) (resolved, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lru.Get(n)
}

func (r *Resolver) resolve(ctx context.Context, n name) (*Compiled, error) {
	if c, ok := r.cached(n); ok {
		return c, nil
	}
	c, shared, err := r.ask(ctx, n)
	if shared && errors.Is(err, schema.ErrUnknown) {
		// The question that we joined may be older than the schema.
		c, _, err = r.ask(ctx, n)
	}
	if errors.Is(err, schema.ErrUnavailable) {
		if e, ok := r.entry(n); ok && r.opts.Clock().Sub(e.at) < r.opts.TTL+r.opts.StaleMax {
			return e.compiled, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// ask has the registry asked once for all who wait for the same name. shared
// says that others did, so that the question may have been asked before this
// call.
func (r *Resolver) ask(ctx context.Context, n name) (c *Compiled, shared bool, err error) {
	started := false
	results := r.flight.DoChan(n.key(), func() (any, error) {
		started = true
		return r.load(context.WithoutCancel(ctx), n)
	})
	select {
	case <-ctx.Done():
		return nil, false, fmt.Errorf("look up schema: %w", context.Cause(ctx))
	case res := <-results:
		// started is written before the result is sent, if by our function.
		if res.Err != nil {
			return nil, !started, res.Err
		}
		return res.Val.(*Compiled), !started, nil
	}
}

func (r *Resolver) load(ctx context.Context, n name) (*Compiled, error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.LookupTimeout)
	defer cancel()
	var s schema.Resolved
	var err error
	if n.guid != "" {
		s, err = r.opts.Lookup.ByGUID(ctx, n.guid)
	} else {
		s, err = r.opts.Lookup.ByID(ctx, n.context, n.id)
	}
	switch {
	case errors.Is(err, schema.ErrUnknown):
		r.mu.Lock()
		r.lru.Remove(n)
		r.mu.Unlock()
		return nil, err
	case err != nil && !errors.Is(err, schema.ErrUnavailable):
		// Whatever else went wrong, the registry did not say that there is no
		// such schema.
		return nil, fmt.Errorf("look up schema: %w: %w", schema.ErrUnavailable, err)
	case err != nil:
		return nil, err
	}
	c := r.opts.Programs.Load(s)
	r.mu.Lock()
	r.lru.Add(n, resolved{compiled: c, at: r.opts.Clock()})
	r.mu.Unlock()
	return c, nil
}
