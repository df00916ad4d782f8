package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"milena/broker/api"
	"milena/broker/journal"
	"milena/broker/stored"
)

// readPartitionsMax bounds the partitions of one read.
const readPartitionsMax = 100_000

// Read answers each partition, in order; see api.Read for when. An error of
// the call as a whole is the context's, ErrInvalid or ErrUnavailable.
func (b *Broker) Read(ctx context.Context, r api.Read) ([]api.ReadResult, error) {
	if len(r.Partitions) > readPartitionsMax {
		return nil, fmt.Errorf("read: %w: %d partitions", api.ErrInvalid, len(r.Partitions))
	}
	r.BytesMax = min(r.BytesMax, b.opts.ReadBytesMax)
	pl := b.plan(&r)
	if pl.beyond {
		// A producer may know offsets from before their sync (acks=1).
		if err := b.awaitWritten(ctx); err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
		pl = b.plan(&r)
	}
	if !pl.enough && r.MaxWait > 0 {
		var err error
		if pl, err = b.wait(ctx, &r); err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
	}
	if r.Reserve != nil && pl.stored > 0 {
		if err := r.Reserve(ctx, pl.encoded+pl.stored); err != nil {
			return nil, fmt.Errorf("read: reserve memory: %w", err)
		}
	}
	out := make([]api.ReadResult, len(r.Partitions))
	for i := range pl.parts {
		out[i] = b.load1(&pl.parts[i], r.Isolation)
	}
	return out, nil
}

// plan is what a read would return, chosen by the index alone.
type plan struct {
	parts []planPart
	// enough: there is no reason to wait.
	enough bool
	// beyond: an offset is behind the high watermark.
	beyond bool
	// encoded and stored are the bytes of what was chosen.
	encoded, stored int64
}

type planPart struct {
	id       api.Partition
	err      error
	view     *view
	from, to int // batches
}

func (b *Broker) plan(r *api.Read) plan {
	pl := plan{parts: make([]planPart, len(r.Partitions))}
	for i := range r.Partitions {
		rp, part := &r.Partitions[i], &pl.parts[i]
		part.id = rp.Partition
		p := b.state.topics.partition(rp.Partition)
		if p == nil {
			part.err, pl.enough = api.ErrUnknownTopic, true
			continue
		}
		v := p.current.Load()
		part.view = v
		if rp.Offset < v.start || rp.Offset > v.high {
			part.err, pl.enough = api.ErrOffsetOutOfRange, true
			pl.beyond = pl.beyond || rp.Offset > v.high
			continue
		}
		pl.choose(part, rp, v.limit(r.Isolation == api.ReadCommitted), chooseLimits{
			encoded: int64(r.BytesMax), stored: int64(b.opts.ReadBytesMax)})
	}
	pl.enough = pl.enough || pl.encoded >= int64(min(r.BytesMin, r.BytesMax))
	return pl
}

// chooseLimits bound what is chosen for all partitions, in bytes. What batches
// take as they are stored can be far more than their encoded size.
type chooseLimits struct{ encoded, stored int64 }

// choose takes batches from the offset on, below the limit offset. The first one
// of all is taken whatever its size.
func (pl *plan) choose(part *planPart, rp *api.ReadPartition, limit int64, most chooseLimits) {
	v := part.view
	part.from = v.find(rp.Offset)
	part.to = part.from
	room := min(most.encoded, pl.encoded+int64(rp.BytesMax))
	for ; part.to < v.len(); part.to++ {
		ref := v.at(part.to)
		// A batch that a reader may not see to its end is not served.
		if v.end(part.to) > limit {
			return
		}
		if first := pl.stored == 0; !first {
			if pl.encoded+int64(ref.encodedSize) > room {
				return
			}
			if pl.stored+int64(ref.length) > most.stored {
				pl.enough = true // waiting would not bring more
				return
			}
		}
		pl.encoded += int64(ref.encodedSize)
		pl.stored += int64(ref.length)
	}
}

// wait plans again with each notification until there is enough, the time is
// over, or the context ends.
func (b *Broker) wait(ctx context.Context, r *api.Read) (plan, error) {
	w := newWaiter()
	for i := range r.Partitions {
		if p := b.state.topics.partition(r.Partitions[i].Partition); p != nil {
			p.waiting.add(w)
			defer p.waiting.remove(w)
		}
	}
	timer := time.NewTimer(r.MaxWait)
	defer timer.Stop()
	for {
		// After registering: what was published meanwhile is seen here.
		pl := b.plan(r)
		if pl.enough {
			return pl, nil
		}
		select {
		case <-w.ch:
		case <-timer.C:
			return b.plan(r), nil
		case <-ctx.Done():
			return plan{}, ctx.Err()
		case <-b.closing:
			return plan{}, errClosed
		}
	}
}

// load1 reads the chosen batches of one partition.
func (b *Broker) load1(part *planPart, isolation api.Isolation) api.ReadResult {
	if part.err != nil {
		return failedRead(part.err)
	}
	v := part.view
	out := api.ReadResult{
		HighWatermark: v.high, LastStableOffset: v.stable, LogStart: v.start,
		Batches: make([]api.StoredBatch, 0, part.to-part.from),
	}
	for i := part.from; i < part.to; i++ {
		ref := v.at(i)
		bytes, err := b.batch(part.id, ref)
		if err != nil {
			if i > part.from {
				break // the reader gets to the bad one with its next read
			}
			return failedRead(err)
		}
		out.Batches = append(out.Batches, api.StoredBatch{
			BaseOffset: ref.baseOffset, LeaderEpoch: leaderEpoch, AppendTime: ref.appendTime, Bytes: bytes,
		})
	}
	if n := len(out.Batches); n > 0 && isolation == api.ReadCommitted {
		out.Aborted = v.abortedIn(v.at(part.from).baseOffset, v.end(part.from+n-1))
	}
	return out
}

func failedRead(err error) api.ReadResult {
	return api.ReadResult{Err: err, HighWatermark: -1, LastStableOffset: -1, LogStart: -1}
}

// abortedIn returns the aborted transactions that overlap [from, to), sorted
// by first offset: Kafka lists them as they ended, and one client needed them
// sorted.
func (v *view) abortedIn(from, to int64) []api.AbortedTransaction {
	i, _ := slices.BinarySearchFunc(v.aborted, from, func(a abortedRange, from int64) int {
		if a.lastOffset < from {
			return -1
		}
		return 1
	})
	var out []api.AbortedTransaction
	for _, a := range v.aborted[i:] {
		if a.firstOffset < to {
			out = append(out, api.AbortedTransaction{ProducerID: a.producerID, FirstOffset: a.firstOffset})
		}
	}
	slices.SortFunc(out, func(a, b api.AbortedTransaction) int { return int(min(max(a.FirstOffset-b.FirstOffset, -1), 1)) })
	return out
}

// batch reads one stored batch, from memory or from the journal, and checks
// its CRC: damaged bytes are counted and never served.
func (b *Broker) batch(p api.Partition, ref *batchRef) ([]byte, error) {
	if bytes := b.tail.get(tailKey{ref.position, ref.chunkOffset}); bytes != nil {
		b.opts.Observer.tailRead(true)
		return bytes, nil
	}
	b.opts.Observer.tailRead(false)
	bytes, err := b.journal.ReadChunk(ref.position, int(ref.chunkOffset), int(ref.length), make([]byte, 0, ref.length))
	if err == nil {
		err = stored.Verify(bytes)
	}
	switch {
	case err == nil:
		return bytes, nil
	case errors.Is(err, stored.ErrCorrupt), errors.Is(err, stored.ErrVersion), errors.Is(err, journal.ErrCorrupt):
		b.opts.Observer.corrupt(p, ref.baseOffset)
		return nil, fmt.Errorf("batch at offset %d: %w: %w", ref.baseOffset, api.ErrCorrupt, err)
	case errors.Is(err, journal.ErrTrimmed):
		return nil, fmt.Errorf("batch at offset %d: %w", ref.baseOffset, api.ErrUnknownTopic)
	}
	return nil, fmt.Errorf("batch at offset %d: %w: %w", ref.baseOffset, api.ErrUnavailable, err)
}
