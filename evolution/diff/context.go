package diff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrTooComplex says that a comparison took more steps, or went deeper, than
// its Limits allow.
var ErrTooComplex = errors.New("schemas are too complex to compare")

// cancelEvery is how many steps pass between two looks at the context.
const cancelEvery = 1024

// changesPerStep is how many changes are copied for one step.
const changesPerStep = 16

// Paths of up to pathBytesFree bytes cost nothing beyond their step; the rest of
// all longer ones together is bounded: one long name would else be copied for
// each of thousands of changes below it.
const (
	pathBytesFree = 1 << 10
	pathBytesMax  = 16 << 20
)

// Limits bound one comparison. The zero value means the defaults.
type Limits struct {
	StepsMax   int // compared pairs, fields, branches and symbols; default 1,000,000
	DepthMax   int // pairs inside each other; default 2,000
	ChangesMax int // changes kept of one pair; default 1,000; more are dropped
}

// WithDefaults returns l with zero fields replaced by the defaults.
func (l Limits) WithDefaults() Limits {
	if l.StepsMax == 0 {
		l.StepsMax = 1_000_000
	}
	if l.DepthMax == 0 {
		l.DepthMax = 2_000
	}
	if l.ChangesMax == 0 {
		l.ChangesMax = 1_000
	}
	return l
}

// Context is the state of one comparison: place, what it may still cost, and
// the first error. Once there is an error, walkers return as soon as they can
// and what they return counts for nothing. It is not safe for concurrent use.
type Context struct {
	ctx    context.Context
	limits Limits
	table  *Table
	path   []string
	steps  int
	depth  int
	bytes  int // of paths beyond pathBytesFree each
	err    error
}

// NewContext starts a comparison that ends early when ctx does.
func NewContext(ctx context.Context, table *Table, limits Limits) *Context {
	return &Context{ctx: ctx, table: table, limits: limits.WithDefaults()}
}

// Step counts n steps and reports whether the comparison goes on.
func (c *Context) Step(n int) bool {
	if c.err != nil {
		return false
	}
	before := c.steps
	c.steps += n
	if c.steps > c.limits.StepsMax {
		c.err = fmt.Errorf("%w: more than %d steps", ErrTooComplex, c.limits.StepsMax)
		return false
	}
	if before/cancelEvery != c.steps/cancelEvery || before == 0 {
		if err := c.ctx.Err(); err != nil {
			c.err = fmt.Errorf("compare schemas: %w", err)
			return false
		}
	}
	return true
}

// Fail ends the comparison with err unless it has ended before.
func (c *Context) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Err returns why the comparison ended early, or nil. It wraps ErrTooComplex
// or the context's error, or is what a walker gave to Fail.
func (c *Context) Err() error { return c.err }

// Enter goes down into a pair and reports whether that is not too deep. Each
// Enter has its Leave.
func (c *Context) Enter() bool {
	c.depth++
	if c.depth > c.limits.DepthMax {
		c.Fail(fmt.Errorf("%w: more than %d levels", ErrTooComplex, c.limits.DepthMax))
	}
	return c.err == nil
}

// Leave goes back up.
func (c *Context) Leave() { c.depth-- }

// Push adds steps to the path.
func (c *Context) Push(parts ...string) { c.path = append(c.path, parts...) }

// Pop removes the last n steps from the path.
func (c *Context) Pop(n int) { c.path = c.path[:len(c.path)-n] }

// Rebase makes steps the whole path, as where a type of another file is
// compared, and returns what takes it back.
func (c *Context) Rebase(parts ...string) func() {
	before := c.path
	c.path = slices.Clone(parts)
	return func() { c.path = before }
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// PathBytes counts a path of n bytes that is about to be made, and reports
// whether the comparison goes on. Path does so itself.
func (c *Context) PathBytes(n int) bool {
	if c.bytes += max(n-pathBytesFree, 0); c.bytes > pathBytesMax {
		c.Fail(fmt.Errorf("%w: the paths of changes take more than %d bytes", ErrTooComplex, pathBytesMax))
	}
	return c.err == nil
}

// Path returns the place with more steps behind it as a JSON pointer; the root
// is "/". It is the root also when the comparison is over.
func (c *Context) Path(more ...string) string {
	n := 0
	for _, list := range [2][]string{c.path, more} {
		for _, part := range list {
			n += 1 + len(part)
		}
	}
	if !c.PathBytes(n) {
		return "/"
	}
	var b strings.Builder
	for _, list := range [2][]string{c.path, more} {
		for _, part := range list {
			b.WriteByte('/')
			b.WriteString(pointerEscapes.Replace(part))
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// Merge appends changes to dst up to the limit on changes, keeping first what
// came first. Long lists count as steps.
func (c *Context) Merge(dst, changes []Change) []Change {
	c.Step(len(changes) / changesPerStep)
	if room := c.limits.ChangesMax - len(dst); len(changes) > room {
		changes = changes[:max(room, 0)]
	}
	return append(dst, changes...)
}

// Fits reports whether no change breaks: it is how a walker picks the branch
// of a union that can be read.
func (c *Context) Fits(changes []Change) bool { return !c.table.AnyBreaks(changes, false) }

// Pairs remembers the pairs of one comparison by identity. A pair met inside
// itself counts as unchanged, which is what recursive types need; a pair met
// again gives the changes, with the paths, of its first occurrence.
type Pairs[T comparable] struct {
	seen map[[2]T][]Change
}

// Visit returns the changes of a pair, which compare finds the first time.
func (p *Pairs[T]) Visit(c *Context, reader, writer T, compare func() []Change) []Change {
	key := [2]T{reader, writer}
	if known, ok := p.seen[key]; ok {
		return known
	}
	if !c.Step(1) {
		return nil
	}
	if p.seen == nil {
		p.seen = make(map[[2]T][]Change)
	}
	p.seen[key] = nil
	var found []Change
	if c.Enter() {
		found = compare()
	}
	c.Leave()
	p.seen[key] = found
	return found
}
