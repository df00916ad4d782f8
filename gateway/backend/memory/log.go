package memory

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"milena/broker/stored"
	"milena/gateway/backend"
)

// leaderEpoch of every partition.
const leaderEpoch = 0

// partition is a log and what it remembers of producers.
type partition struct {
	end       int64
	batches   []batch
	producers map[int64]*producer
}

// batch is a stored batch at its place.
type batch struct {
	base, last int64
	appended   int64 // milliseconds since the epoch
	appendTime bool  // consumers see appended as the records' timestamp
	header     stored.Header
	bytes      []byte
}

// Enqueue implements backend.Log. What it returns is already answered.
func (b *Broker) Enqueue(ctx context.Context, _ backend.Durability, batches []backend.Append) (backend.Pending, error) {
	if err := b.lock(ctx, "append"); err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	if len(batches) == 0 {
		return nil, fmt.Errorf("append: %w: no batches", backend.ErrInvalid)
	}
	out := make([]backend.Appended, len(batches))
	for i := range batches {
		var err error
		if out[i], err = b.append(&batches[i]); err != nil {
			out[i] = backend.Appended{Err: err, BaseOffset: -1, LogStart: -1, LeaderEpoch: -1, Timestamp: -1}
		}
	}
	b.wake()
	return answered(out), nil
}

// answered is an append with its outcomes.
type answered []backend.Appended

// Wait implements backend.Pending.
func (a answered) Wait(context.Context) ([]backend.Appended, error) { return a, nil }

func (b *Broker) append(a *backend.Append) (backend.Appended, error) {
	h, err := stored.ParseHeader(a.Batch)
	if err == nil {
		err = stored.Verify(a.Batch)
	}
	if err != nil {
		return backend.Appended{}, fmt.Errorf("append: %w: %w", backend.ErrInvalid, err)
	}
	if h.Transactional || h.Control {
		return backend.Appended{}, fmt.Errorf("append: %w: no transactions here", backend.ErrInvalid)
	}
	for _, s := range a.Schemas {
		if sha256.Sum256(s.Encoded) != s.Key {
			return backend.Appended{}, fmt.Errorf("append: %w: schema key is not that of its content", backend.ErrInvalid)
		}
	}
	t, p := b.partition(a.Partition)
	if p == nil {
		return backend.Appended{}, fmt.Errorf("append: %w", backend.ErrUnknownTopic)
	}
	done := backend.Appended{BaseOffset: p.end, LeaderEpoch: leaderEpoch, Timestamp: -1}
	now := b.now().UnixMilli()
	appendTime := t.Configs["message.timestamp.type"] == "LogAppendTime"
	if appendTime {
		done.Timestamp = now
	}
	if h.ProducerID >= 0 {
		known, err := p.producer(h)
		if err != nil {
			return backend.Appended{}, fmt.Errorf("append: %w", err)
		}
		if known != nil {
			done.BaseOffset, done.Timestamp, done.Duplicate = known.base, known.timestamp, true
			return done, nil
		}
		p.remember(h, window{base: p.end, timestamp: done.Timestamp})
	}
	for _, s := range a.Schemas {
		b.schemas[s.Key] = s
	}
	p.batches = append(p.batches, batch{
		base: p.end, last: p.end + int64(h.LastOffsetDelta), appended: now, appendTime: appendTime, header: h, bytes: a.Batch,
	})
	p.end += int64(h.LastOffsetDelta) + 1
	return done, nil
}

// Read implements backend.Log.
func (b *Broker) Read(ctx context.Context, r backend.Read) ([]backend.ReadResult, error) {
	deadline := time.NewTimer(r.MaxWait)
	defer deadline.Stop()
	for {
		if err := b.lock(ctx, "read"); err != nil {
			return nil, err
		}
		results, bytes, failed := b.read(r)
		changed := b.changed
		b.mu.Unlock()
		if failed || bytes >= int64(r.BytesMin) || r.MaxWait <= 0 {
			return results, reserve(ctx, &r, results, bytes)
		}
		select {
		case <-changed:
		case <-deadline.C:
			r.MaxWait = 0
		case <-ctx.Done():
			return nil, fmt.Errorf("read: %w", ctx.Err())
		}
	}
}

// reserve asks for the memory of an answer, which here is there already.
func reserve(ctx context.Context, r *backend.Read, results []backend.ReadResult, encoded int64) error {
	var bytes int64
	for i := range results {
		for _, b := range results[i].Batches {
			bytes += int64(len(b.Bytes))
		}
	}
	if r.Reserve == nil || bytes == 0 {
		return nil
	}
	if err := r.Reserve(ctx, encoded+bytes); err != nil {
		return fmt.Errorf("read: reserve memory: %w", err)
	}
	return nil
}

// read looks once. The lock is held.
func (b *Broker) read(r backend.Read) (results []backend.ReadResult, bytes int64, failed bool) {
	results = make([]backend.ReadResult, len(r.Partitions))
	for i, asked := range r.Partitions {
		_, p := b.partition(asked.Partition)
		if p == nil {
			results[i] = failedRead(backend.ErrUnknownTopic)
			failed = true
			continue
		}
		if asked.Offset < 0 || asked.Offset > p.end {
			results[i] = failedRead(backend.ErrOffsetOutOfRange)
			failed = true
			continue
		}
		results[i] = backend.ReadResult{HighWatermark: p.end, LastStableOffset: p.end}
		var taken int64
		for _, bt := range p.from(asked.Offset) {
			size := int64(bt.header.EncodedSize)
			if bytes > 0 && (taken+size > int64(asked.BytesMax) || bytes+size > int64(r.BytesMax)) {
				break
			}
			results[i].Batches = append(results[i].Batches, backend.StoredBatch{
				BaseOffset: bt.base, LeaderEpoch: leaderEpoch, AppendTime: bt.appended, Bytes: bt.bytes,
			})
			bytes, taken = bytes+size, taken+size
		}
	}
	return results, bytes, failed
}

func failedRead(err error) backend.ReadResult {
	return backend.ReadResult{Err: fmt.Errorf("read: %w", err), HighWatermark: -1, LastStableOffset: -1, LogStart: -1}
}

// from returns the batches from the one that holds offset.
func (p *partition) from(offset int64) []batch {
	lo, hi := 0, len(p.batches)
	for lo < hi {
		mid := (lo + hi) / 2
		if p.batches[mid].last < offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return p.batches[lo:]
}

// ListOffsets implements backend.Log.
func (b *Broker) ListOffsets(ctx context.Context, queries []backend.OffsetQuery) ([]backend.OffsetAnswer, error) {
	if err := b.lock(ctx, "list offsets"); err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	out := make([]backend.OffsetAnswer, len(queries))
	for i, q := range queries {
		answer, err := b.listOffset(q)
		if err != nil {
			answer = backend.OffsetAnswer{Err: fmt.Errorf("list offsets: %w", err), Offset: -1, Timestamp: -1, LeaderEpoch: -1}
		}
		out[i] = answer
	}
	return out, nil
}

func (b *Broker) listOffset(q backend.OffsetQuery) (backend.OffsetAnswer, error) {
	_, p := b.partition(q.Partition)
	if p == nil {
		return backend.OffsetAnswer{}, backend.ErrUnknownTopic
	}
	nothing := backend.OffsetAnswer{Offset: -1, Timestamp: -1, LeaderEpoch: -1}
	switch q.Timestamp {
	case -1:
		return backend.OffsetAnswer{Offset: p.end, Timestamp: -1, LeaderEpoch: leaderEpoch}, nil
	case -2, -4:
		return backend.OffsetAnswer{Offset: 0, Timestamp: -1, LeaderEpoch: leaderEpoch}, nil
	case -3:
		best := nothing
		err := p.each(func(offset, timestamp int64) bool {
			if best.Offset < 0 || timestamp > best.Timestamp {
				best = backend.OffsetAnswer{Offset: offset, Timestamp: timestamp, LeaderEpoch: leaderEpoch}
			}
			return true
		})
		return best, err
	case -5:
		return nothing, nil
	}
	if q.Timestamp < 0 {
		return nothing, backend.ErrInvalid
	}
	found := nothing
	err := p.each(func(offset, timestamp int64) bool {
		if timestamp < q.Timestamp {
			return true
		}
		found = backend.OffsetAnswer{Offset: offset, Timestamp: timestamp, LeaderEpoch: leaderEpoch}
		return false
	})
	return found, err
}

// each calls f with offset and timestamp of every record until it says no.
func (p *partition) each(f func(offset, timestamp int64) bool) error {
	for _, bt := range p.batches {
		opened, err := stored.Open(bt.bytes)
		if err != nil {
			return fmt.Errorf("%w: %w", backend.ErrCorrupt, err)
		}
		records := opened.Records()
		var r stored.Record
		for records.Next(&r) {
			timestamp := bt.header.FirstTimestamp + r.TimestampDelta
			if bt.appendTime {
				timestamp = bt.appended
			}
			if !f(bt.base+int64(r.OffsetDelta), timestamp) {
				return nil
			}
		}
		if err := records.Err(); err != nil {
			return fmt.Errorf("%w: %w", backend.ErrCorrupt, err)
		}
	}
	return nil
}
