package envelope

import (
	"context"
	"errors"
	"fmt"
)

// ErrLarge says that a batch grows to more than there is memory for at once. It
// can be stored with Produced.Large.
var ErrLarge = errors.New("batch needs a place for large ones")

// allowance is the memory of one Store call beside the frame that its batch came
// in, for which the caller has answered: that once more for the stored batch and
// once for the tail cache. A batch can grow a thousandfold, by its codec and by
// schemas whose values are short to write and long to keep, and it may then wait,
// for a registry, its turn or the broker. What it grows to is taken from a budget
// that nobody waits for, since whoever has some of it may be waiting for one who
// has none yet; else the batch takes one of few places, or all of them, with nothing
// else held.
type allowance struct {
	engine *Engine
	// limit bounds the section, if it was compressed, and all that is decoded.
	limit int
	// grown is what is needed so far, free what the caller answers for, held what
	// was taken.
	grown, free, held int
	// places of a large batch.
	places int64
	// full: a value had no room below the last limit; no further one is tried.
	full bool
}

// growthStep is in what parts the budget is taken, in bytes.
const growthStep = 64 << 10

// begin sets the limit, and waits for the places of a large batch. Nothing is
// held yet.
func (a *allowance) begin(ctx context.Context, p *Produced, places int64) error {
	o := &a.engine.opts
	*a = allowance{engine: a.engine, limit: min(o.SmallBatchBytes, o.BatchBytesMax), free: 2 * len(p.Batch)}
	if places == 0 {
		return nil
	}
	if err := a.engine.large.Acquire(ctx, places); err != nil {
		return fmt.Errorf("store large batch: %w", err)
	}
	a.places = places
	a.limit = max(a.limit, o.BatchBytesMax/o.LargeBatchesMax*int(places))
	if places == int64(o.LargeBatchesMax) {
		a.limit = o.BatchBytesMax
	}
	return nil
}

// grow accounts for n bytes more. ErrLarge if there is no memory for them.
func (a *allowance) grow(n int) error {
	if a.grown += n; a.places > 0 || a.grown <= a.free+a.held {
		return nil
	}
	step := (a.grown - a.free - a.held + growthStep - 1) / growthStep * growthStep
	if !a.engine.growth.TryAcquire(int64(step)) {
		return ErrLarge
	}
	a.held += step
	return nil
}

// beyond is the error for what exceeds the limit, nil if the limit is the last
// one.
func (a *allowance) beyond() error {
	if a.limit >= a.engine.opts.BatchBytesMax {
		return nil
	}
	return ErrLarge
}

// hand passes on to the caller what the stored batch needs.
func (a *allowance) hand(stored, produced int) Hold {
	h := Hold{engine: a.engine, bytes: min(a.held, max(0, stored-produced)), places: a.places}
	if h.bytes == 0 && h.places == 0 {
		return Hold{}
	}
	a.held -= h.bytes
	a.places = 0
	return h
}

// end gives back what wasn't handed on.
func (a *allowance) end() {
	h := Hold{engine: a.engine, bytes: a.held, places: a.places}
	h.Release()
	a.held, a.places = 0, 0
}

// Hold is memory that a stored batch takes. The zero value holds none.
type Hold struct {
	engine *Engine
	bytes  int
	places int64
}

// Release gives the memory back; again does no harm.
func (h *Hold) Release() {
	if h.bytes > 0 {
		h.engine.growth.Release(int64(h.bytes))
	}
	if h.places > 0 {
		h.engine.large.Release(h.places)
	}
	*h = Hold{}
}
