package envelope

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"milena/gateway/backend"
	"milena/serde"
)

// budgetKey is one side of one topic.
type budgetKey struct {
	topic backend.TopicID
	value bool
}

// budget is a token bucket for look-ups of ids that turn out unknown, and what
// is known about the side.
type budget struct {
	tokens float64
	at     time.Time
	misses int
	framed bool
}

// Bounds of budgets.
const (
	// budgetsMax is how many sides are remembered.
	budgetsMax = 20_000
	// plainMisses is after how many unknown ids, without a single envelope, a
	// side counts as plain data.
	plainMisses = 16
	// plainPerSecond is how often an id is still looked for on such a side.
	plainPerSecond = 0.1
)

// budgets bounds look-ups of unknown ids per topic and side. mu guards lru and
// what is in it.
type budgets struct {
	burst     float64
	perSecond float64
	clock     func() time.Time

	mu  sync.Mutex
	lru *simplelru.LRU[budgetKey, *budget]
}

func newBudgets(o Options) (*budgets, error) {
	lru, err := simplelru.NewLRU[budgetKey, *budget](budgetsMax, nil)
	if err != nil {
		return nil, fmt.Errorf("new look-up budgets: %w", err)
	}
	return &budgets{burst: float64(o.UnknownBurst), perSecond: o.UnknownPerSecond, clock: o.Clock, lru: lru}, nil
}

// of returns the side's budget with what time has added. mu is held.
func (b *budgets) of(k budgetKey) *budget {
	now := b.clock()
	g, ok := b.lru.Get(k)
	if !ok {
		g = &budget{tokens: b.burst, at: now}
		b.lru.Add(k, g)
	}
	rate := b.perSecond
	if g.plain() {
		rate = plainPerSecond
	}
	if passed := now.Sub(g.at); passed > 0 {
		g.tokens = min(b.burst, g.tokens+passed.Seconds()*rate)
	}
	g.at = now
	return g
}

func (g *budget) plain() bool { return !g.framed && g.misses >= plainMisses }

// take spends a look-up if there is one left. plain says that the side has never
// carried an envelope although one was looked for often.
func (b *budgets) take(k budgetKey) (allowed, plain bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.of(k)
	if g.tokens < 1 {
		return false, g.plain()
	}
	g.tokens--
	return true, g.plain()
}

// refund gives a look-up back that didn't find an unknown id.
func (b *budgets) refund(k budgetKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.of(k)
	g.tokens = min(b.burst, g.tokens+1)
}

// missed notes an unknown id.
func (b *budgets) missed(k budgetKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of(k).misses++
}

// framed notes that the side carries envelopes.
func (b *budgets) framed(k budgetKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of(k).framed = true
}

// Bounds of acknowledged.
const (
	acknowledgedMax = 65_536
	// acknowledgedTTL is after how long a schema goes with a batch again. The
	// broker drops what it has, so this costs a text a minute, and a broker that
	// came back without its data is repaired.
	acknowledgedTTL = time.Minute
)

// acknowledged remembers which schemas the broker has. mu guards lru.
type acknowledged struct {
	clock func() time.Time

	mu  sync.Mutex
	lru *simplelru.LRU[backend.Key, time.Time]
}

func newAcknowledged(o Options) (*acknowledged, error) {
	lru, err := simplelru.NewLRU[backend.Key, time.Time](acknowledgedMax, nil)
	if err != nil {
		return nil, fmt.Errorf("new set of acknowledged schemas: %w", err)
	}
	return &acknowledged{clock: o.Clock, lru: lru}, nil
}

func (a *acknowledged) add(schemas []backend.Schema) {
	if len(schemas) == 0 {
		return
	}
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range schemas {
		a.lru.Add(s.Key, now)
	}
}

// missing returns the schemas that have to go with a batch, nil if none.
func (a *acknowledged) missing(used []*serde.Compiled) []backend.Schema {
	if len(used) == 0 {
		return nil
	}
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []backend.Schema
	for _, c := range used {
		if at, ok := a.lru.Get(backendKey(c)); ok && now.Sub(at) < acknowledgedTTL {
			continue
		}
		out = append(out, backend.Schema{Key: backendKey(c), Encoded: c.Encoded})
	}
	return out
}
