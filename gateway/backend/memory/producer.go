package memory

import (
	"milena/broker/stored"
	"milena/gateway/backend"
)

// windowMax is how many batches of a producer are remembered (KIP-98: five in
// flight).
const windowMax = 5

// producer is what a partition remembers of one producer id.
type producer struct {
	epoch  int16
	recent []window // oldest first
	// run is the count of sequence numbers stored in this epoch.
	run int64
}

// window is one remembered batch.
type window struct {
	first, last     int32
	base, timestamp int64
}

// producer judges a batch: a window means that it is a duplicate of that one,
// nothing that it is to be stored. A producer that isn't known may begin
// anywhere (KIP-360).
func (p *partition) producer(h stored.Header) (*window, error) {
	if h.ProducerEpoch < 0 || h.BaseSequence < 0 {
		return nil, backend.ErrInvalid
	}
	known := p.producers[h.ProducerID]
	switch {
	case known == nil:
		return nil, nil
	case h.ProducerEpoch < known.epoch:
		return nil, backend.ErrProducerFenced
	case h.ProducerEpoch > known.epoch:
		if h.BaseSequence != 0 {
			return nil, backend.ErrOutOfOrderSequence
		}
		return nil, nil
	}
	last := advance(h.BaseSequence, h.LastOffsetDelta)
	for i, w := range known.recent {
		if w.first == h.BaseSequence && w.last == last {
			return &known.recent[i], nil
		}
	}
	newest := known.recent[len(known.recent)-1]
	if h.BaseSequence == advance(newest.last, 1) {
		return nil, nil
	}
	// Steps back from the newest sequence number to both ends of the batch.
	back, backLast := span(h.BaseSequence, newest.last), span(last, newest.last)
	oldest := span(known.recent[0].first, newest.last)
	if len(known.recent) == windowMax && int64(back) < known.run && backLast > oldest && backLast <= back {
		return nil, backend.ErrStaleDuplicate
	}
	return nil, backend.ErrOutOfOrderSequence
}

// remember records a batch that is stored.
func (p *partition) remember(h stored.Header, w window) {
	if p.producers == nil {
		p.producers = map[int64]*producer{}
	}
	known := p.producers[h.ProducerID]
	if known == nil || h.ProducerEpoch > known.epoch {
		known = &producer{epoch: h.ProducerEpoch}
		p.producers[h.ProducerID] = known
	}
	w.first, w.last = h.BaseSequence, advance(h.BaseSequence, h.LastOffsetDelta)
	known.recent = append(known.recent, w)
	if len(known.recent) > windowMax {
		known.recent = known.recent[1:]
	}
	known.run += int64(h.LastOffsetDelta) + 1
}

// advance adds to a sequence number, which goes from 2^31-1 to 0.
func advance(sequence, n int32) int32 { return int32((int64(sequence) + int64(n)) & (1<<31 - 1)) }

// span is the number of steps from one sequence number to another.
func span(from, to int32) int32 { return int32((int64(to) - int64(from)) & (1<<31 - 1)) }
