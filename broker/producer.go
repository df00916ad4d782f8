package broker

import (
	"cmp"
	"slices"

	"milena/broker/api"
)

// producerWindow is the number of batches remembered for each producer and
// partition: the most that an idempotent client has in flight (KIP-98).
const producerWindow = 5

// sequenced is one remembered batch.
type sequenced struct {
	first, last int32
	baseOffset  int64
	timestamp   int64 // append time where it was the batch's timestamp, else -1
}

// producer is what a partition remembers of one producer id. It is a plain
// value, so that the committer can try a group on a copy.
type producer struct {
	epoch int16
	// count of window entries, the newest last.
	count  uint8
	dirty  bool
	window [producerWindow]sequenced
	// run is the number of sequence numbers stored one after the other in this
	// epoch up to the newest, saturating: what is within the run but before the
	// window was stored and its offset is forgotten.
	run int32
	// seen is the time of the newest batch, milliseconds since the epoch.
	seen int64
}

// verdict of a producer's batch.
type verdict struct {
	duplicate bool
	found     sequenced // for a duplicate
	err       error
}

const sequenceMask = 1<<31 - 1

// sequenceAdd adds to a sequence number, which goes from 2^31-1 to 0.
func sequenceAdd(seq, n int32) int32 {
	return int32((int64(seq) + int64(n)) & sequenceMask)
}

// sequenceSpan is the number of steps from one sequence number to another.
func sequenceSpan(from, to int32) int32 {
	return int32((int64(to) - int64(from)) & sequenceMask)
}

// check judges the next batch of the producer; p may be nil: nothing is known,
// so that any sequence is accepted (KIP-360).
func (p *producer) check(b *batchItem) verdict {
	switch {
	case p == nil:
		return verdict{}
	case b.producerEpoch < p.epoch:
		return verdict{err: api.ErrProducerFenced}
	case b.flags&flagControl != 0:
		return verdict{} // markers have no sequence
	case b.producerEpoch > p.epoch:
		if b.baseSequence != 0 {
			return verdict{err: api.ErrOutOfOrderSequence}
		}
		return verdict{}
	case p.count == 0:
		return verdict{}
	}
	last := sequenceAdd(b.baseSequence, b.lastOffsetDelta)
	for _, w := range p.window[:p.count] {
		if w.first == b.baseSequence && w.last == last {
			return verdict{duplicate: true, found: w}
		}
	}
	newest := p.window[p.count-1].last
	if b.baseSequence == sequenceAdd(newest, 1) {
		return verdict{}
	}
	if back := sequenceSpan(b.baseSequence, newest); p.count == producerWindow &&
		back < p.run && sequenceSpan(last, newest) > sequenceSpan(p.window[0].first, newest) &&
		sequenceSpan(last, newest) <= back {
		return verdict{err: api.ErrStaleDuplicate}
	}
	return verdict{err: api.ErrOutOfOrderSequence}
}

// record remembers a batch that check accepted.
func (p *producer) record(b *batchItem, timeMillis int64) {
	if b.producerEpoch > p.epoch {
		*p = producer{epoch: b.producerEpoch, dirty: p.dirty}
	}
	p.seen = timeMillis
	if b.flags&flagControl != 0 {
		return
	}
	if p.count == producerWindow {
		copy(p.window[:], p.window[1:])
		p.count--
	}
	w := sequenced{
		first:      b.baseSequence,
		last:       sequenceAdd(b.baseSequence, b.lastOffsetDelta),
		baseOffset: b.baseOffset,
		timestamp:  -1,
	}
	if b.flags&flagAppendTime != 0 {
		w.timestamp = timeMillis
	}
	p.window[p.count] = w
	p.count++
	p.run = int32(min(int64(p.run)+int64(b.lastOffsetDelta)+1, sequenceMask))
}

// expired says whether the producer was silent for longer than expiryMillis.
func (p *producer) expired(timeMillis, expiryMillis int64) bool {
	return timeMillis-p.seen > expiryMillis
}

// evictProducers makes room: expired producers go, and if that is not enough a
// quarter of the longest silent. Forgetting one means that its next batch is
// accepted with any sequence. It returns the ids that went.
func evictProducers(producers map[int64]*producer, limit int, timeMillis, expiryMillis int64) []int64 {
	type entry struct{ id, seen int64 }
	var gone []int64
	kept := make([]entry, 0, len(producers))
	for id, p := range producers {
		if p.expired(timeMillis, expiryMillis) {
			gone = append(gone, id)
			continue
		}
		kept = append(kept, entry{id, p.seen})
	}
	if len(kept) > limit {
		slices.SortFunc(kept, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.seen, b.seen), cmp.Compare(a.id, b.id))
		})
		for _, e := range kept[:len(kept)-limit+limit/4] {
			gone = append(gone, e.id)
		}
	}
	for _, id := range gone {
		delete(producers, id)
	}
	return gone
}
