package broker

import (
	"slices"
	"sync"
	"sync/atomic"

	"milena/broker/api"
)

// leaderEpoch is that of every partition: there is one leader for ever until
// clustered mode.
const leaderEpoch = 0

// partition is one partition's state. The committer owns all fields but
// current, which everybody reads, and those of waiting, which has its lock.
type partition struct {
	id      api.Partition
	current atomic.Pointer[view]
	waiting waiting

	// draft is the view being built; publish makes it current.
	draft view
	// producers remembers idempotent producers by id.
	producers map[int64]*producer
	// open holds the first offset of each open transaction by producer id.
	open map[int64]int64

	// staged is what the group being staged would change; valid if
	// staged.group is the group's number.
	staged stagedPartition

	// What the next checkpoint has to save.
	dirty          bool
	dirtyProducers []int64
	savedRefs      int // index entries in full blocks that are saved
	// loading is the number of batches that a checkpoint says there are.
	loading int64
}

type stagedPartition struct {
	group     uint64
	next      int64
	producers map[int64]*producer
}

func newPartition(id api.Partition) *partition {
	p := &partition{id: id}
	p.publish()
	return p
}

// publish makes the draft what readers see.
func (p *partition) publish() {
	v := p.draft
	p.current.Store(&v)
}

// stage returns the staged part for the group, fresh at its first use.
func (p *partition) stage(group uint64) *stagedPartition {
	if p.staged.group != group {
		p.staged = stagedPartition{group: group, next: p.draft.high}
	}
	return &p.staged
}

// producer returns what is known of a producer at timeMillis, as staged; nil
// if nothing is.
func (p *partition) producer(id, timeMillis, expiryMillis int64) *producer {
	got := p.staged.producers[id]
	if got == nil {
		got = p.producers[id]
	}
	if got == nil || got.expired(timeMillis, expiryMillis) {
		return nil
	}
	return got
}

// stageProducer remembers an accepted batch in the staged part.
func (p *partition) stageProducer(known *producer, b *batchItem, timeMillis int64) {
	next := &producer{epoch: b.producerEpoch}
	if known != nil {
		*next = *known
	}
	next.record(b, timeMillis)
	if p.staged.producers == nil {
		p.staged.producers = make(map[int64]*producer, 4)
	}
	p.staged.producers[b.producerID] = next
}

// apply folds a committed batch into the draft.
func (p *partition) apply(b *batchItem, ref batchRef, o *Options) {
	p.draft.add(ref)
	p.draft.high = b.baseOffset + int64(b.lastOffsetDelta) + 1
	p.dirty = true
	if b.flags&flagProducer != 0 {
		p.applyProducer(b, ref.appendTime, o)
		p.applyTransaction(b)
	}
	p.draft.stable = p.draft.high
	for _, first := range p.open {
		p.draft.stable = min(p.draft.stable, first)
	}
}

func (p *partition) applyProducer(b *batchItem, timeMillis int64, o *Options) {
	if p.producers == nil {
		p.producers = make(map[int64]*producer, 1)
	}
	expiry := o.ProducerExpiry.Milliseconds()
	known := p.producers[b.producerID]
	if known == nil || known.expired(timeMillis, expiry) {
		wasDirty := known != nil && known.dirty
		known = &producer{epoch: b.producerEpoch, dirty: wasDirty}
		p.producers[b.producerID] = known
	}
	known.record(b, timeMillis)
	if !known.dirty {
		known.dirty = true
		p.dirtyProducers = append(p.dirtyProducers, b.producerID)
	}
	if len(p.producers) > o.ProducersMax {
		p.dirtyProducers = append(p.dirtyProducers,
			evictProducers(p.producers, o.ProducersMax, timeMillis, expiry)...)
	}
}

// applyTransaction opens and ends transactions; ranges that were aborted are
// what read_committed consumers skip (KIP-98).
func (p *partition) applyTransaction(b *batchItem) {
	first, isOpen := p.open[b.producerID]
	switch {
	case b.flags&flagControl != 0:
		if isOpen && b.flags&flagAbort != 0 {
			// A copy: readers hold the array, and the list is sorted by the end.
			p.draft.aborted = append(slices.Clip(p.draft.aborted), abortedRange{
				producerID: b.producerID, firstOffset: first, lastOffset: b.baseOffset,
			})
		}
		delete(p.open, b.producerID)
	case b.flags&flagTransactional != 0 && !isOpen:
		if p.open == nil {
			p.open = make(map[int64]int64, 1)
		}
		p.open[b.producerID] = b.baseOffset
	}
}

// waiting holds the reads that wait for a partition to grow.
type waiting struct {
	mu    sync.Mutex // guards reads
	reads map[*waiter]struct{}
}

// waiter is one read, registered with each of its partitions. Its channel has
// room for one notification: any number of them wake it once.
type waiter struct {
	ch chan struct{}
}

func newWaiter() *waiter { return &waiter{ch: make(chan struct{}, 1)} }

func (w *waiting) add(r *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reads == nil {
		w.reads = make(map[*waiter]struct{}, 1)
	}
	w.reads[r] = struct{}{}
}

func (w *waiting) remove(r *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.reads, r)
}

func (w *waiting) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.reads {
		select {
		case r.ch <- struct{}{}:
		default: // a notification is there already
		}
	}
}
