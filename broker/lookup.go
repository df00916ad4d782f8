package broker

import (
	"context"
	"fmt"
	"slices"

	"milena/broker/api"
	"milena/broker/stored"
)

// ListOffsets answers each query, in order. Offsets are durable ones; to count
// what was answered as written before the call it waits for the sync under way.
func (b *Broker) ListOffsets(ctx context.Context, queries []api.OffsetQuery) ([]api.OffsetAnswer, error) {
	out := make([]api.OffsetAnswer, len(queries))
	if slices.ContainsFunc(queries, dependsOnEnd) {
		if err := b.awaitWritten(ctx); err != nil {
			return nil, fmt.Errorf("list offsets: %w", err)
		}
	}
	for i := range queries {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("list offsets: %w", err)
		}
		out[i] = b.listOffset(&queries[i])
	}
	return out, nil
}

// dependsOnEnd says that batches which become durable may change the answer.
// For a time that holds unless a record is found; most that are asked for are
// recent, so that looking twice would rarely save the wait.
func dependsOnEnd(q api.OffsetQuery) bool {
	return q.Timestamp == api.Latest || q.Timestamp == api.MaxTimestamp || q.Timestamp >= 0
}

func noOffset(err error) api.OffsetAnswer {
	return api.OffsetAnswer{Err: err, Offset: -1, Timestamp: -1, LeaderEpoch: -1}
}

func (b *Broker) listOffset(q *api.OffsetQuery) api.OffsetAnswer {
	p := b.state.topics.partition(q.Partition)
	if p == nil {
		return noOffset(api.ErrUnknownTopic)
	}
	v := p.current.Load()
	limit := v.limit(q.Isolation == api.ReadCommitted)
	switch q.Timestamp {
	case api.Latest:
		return api.OffsetAnswer{Offset: limit, Timestamp: -1, LeaderEpoch: leaderEpoch}
	case api.Earliest, api.EarliestLocal:
		return api.OffsetAnswer{Offset: v.start, Timestamp: -1, LeaderEpoch: leaderEpoch}
	case api.LatestTiered:
		return noOffset(nil)
	case api.MaxTimestamp:
		return b.newestRecord(p.id, v, limit)
	}
	if q.Timestamp < 0 {
		return noOffset(fmt.Errorf("%w: timestamp %d", api.ErrInvalid, q.Timestamp))
	}
	return b.firstRecord(p.id, v, limit, q.Timestamp)
}

// firstRecord returns the first record at or behind the log start and below
// limit whose timestamp is at least t. Timestamps are unordered: a batch that
// claims a late maximum is opened, and if no record of it fits (it may have
// been left out) the search goes on.
func (b *Broker) firstRecord(p api.Partition, v *view, limit, t int64) api.OffsetAnswer {
	for i := v.findTime(v.find(v.start), t); i < v.len() && v.end(i) <= limit; i = v.findTime(i+1, t) {
		a := b.recordIn(p, v.at(i), v.start, t)
		if a.Err != nil || a.Offset >= 0 {
			return a
		}
	}
	return noOffset(nil)
}

// newestRecord returns the first record with the greatest timestamp below
// limit (KIP-734).
func (b *Broker) newestRecord(p api.Partition, v *view, limit int64) api.OffsetAnswer {
	end := v.find(limit) // a batch that crosses the limit is not seen
	first := v.find(v.start)
	if end == first {
		return noOffset(nil)
	}
	// A claimed maximum whose record was left out is not a record: then the
	// greatest timestamp is that of what is there.
	best := noOffset(nil)
	t, _ := v.newest(end)
	if a := b.firstRecord(p, v, limit, t); a.Err != nil || a.Offset >= 0 {
		return a
	}
	for i := first; i < end; i++ {
		if v.at(i).maxTimestamp <= best.Timestamp && best.Offset >= 0 {
			continue
		}
		a := b.newestIn(p, v.at(i), v.start)
		if a.Err != nil {
			return a
		}
		if a.Offset >= 0 && (best.Offset < 0 || a.Timestamp > best.Timestamp) {
			best = a
		}
	}
	return best
}

// recordIn returns the first record of a batch at or behind start whose
// timestamp is at least t; no offset if there is none.
func (b *Broker) recordIn(p api.Partition, ref *batchRef, start, t int64) api.OffsetAnswer {
	found := noOffset(nil)
	err := b.eachRecord(p, ref, func(offset, timestamp int64) bool {
		if offset < start || timestamp < t {
			return true
		}
		found = api.OffsetAnswer{Offset: offset, Timestamp: timestamp, LeaderEpoch: leaderEpoch}
		return false
	})
	if err != nil {
		return noOffset(err)
	}
	return found
}

// newestIn returns the first record with a batch's greatest timestamp.
func (b *Broker) newestIn(p api.Partition, ref *batchRef, start int64) api.OffsetAnswer {
	found := noOffset(nil)
	err := b.eachRecord(p, ref, func(offset, timestamp int64) bool {
		if offset >= start && (found.Offset < 0 || timestamp > found.Timestamp) {
			found = api.OffsetAnswer{Offset: offset, Timestamp: timestamp, LeaderEpoch: leaderEpoch}
		}
		return true
	})
	if err != nil {
		return noOffset(err)
	}
	return found
}

// eachRecord calls fn for each record of a batch until it returns false.
func (b *Broker) eachRecord(p api.Partition, ref *batchRef, fn func(offset, timestamp int64) bool) error {
	bytes, err := b.batch(p, ref)
	if err != nil {
		return err
	}
	batch, err := stored.Open(bytes)
	if err != nil {
		return fmt.Errorf("batch at offset %d: %w: %w", ref.baseOffset, api.ErrCorrupt, err)
	}
	records := batch.Records()
	var r stored.Record
	for records.Next(&r) {
		t := batch.Header.FirstTimestamp + r.TimestampDelta
		if ref.flags&flagAppendTime != 0 {
			t = ref.appendTime
		}
		if !fn(ref.baseOffset+int64(r.OffsetDelta), t) {
			return nil
		}
	}
	if err := records.Err(); err != nil {
		return fmt.Errorf("batch at offset %d: %w: %w", ref.baseOffset, api.ErrCorrupt, err)
	}
	return nil
}
