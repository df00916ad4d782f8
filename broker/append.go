package broker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"milena/broker/api"
	"milena/broker/stored"
)

// Append is Enqueue and Wait.
func (b *Broker) Append(ctx context.Context, d api.Durability, batches []api.Append) ([]api.Appended, error) {
	pending, err := b.Enqueue(ctx, d, batches)
	if err != nil {
		return nil, err
	}
	return pending.Wait(ctx)
}

// Enqueue stores each batch whole or not at all, one outcome each, in order,
// and returns once they have their place in the order: batches of one call,
// and of calls one after the other, keep it. An error means that nothing of the
// call will be stored. The batches' bytes belong to the broker from the call
// on. Calls that wait for the same sync share it.
func (b *Broker) Enqueue(ctx context.Context, d api.Durability, batches []api.Append) (api.Pending, error) {
	p := make(pendingAppend, 1)
	if err := b.AppendAsync(ctx, d, batches, p.answer); err != nil {
		return nil, err
	}
	return p, nil
}

// pendingAppend has room for the outcomes, so that the committer never waits.
type pendingAppend chan []api.Appended

func (p pendingAppend) answer(out []api.Appended) { p <- out }

// Wait implements api.Pending.
func (p pendingAppend) Wait(ctx context.Context) ([]api.Appended, error) {
	select {
	case out := <-p:
		return out, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("append: %w", ctx.Err())
	}
}

// AppendAsync is Enqueue with a call instead of a Pending: done is called
// later, once, on the broker's own goroutine, and must not block. If it returns
// an error done is never called.
func (b *Broker) AppendAsync(ctx context.Context, d api.Durability, batches []api.Append, done func([]api.Appended)) error {
	if len(batches) == 0 {
		return fmt.Errorf("append: %w: no batches", api.ErrInvalid)
	}
	op := &appendOp{
		durability: d, batches: batches, done: done,
		headers: make([]stored.Header, len(batches)),
		out:     make([]api.Appended, len(batches)),
	}
	op.bytes = int64(len(batches)) * 64
	for i := range batches {
		op.bytes += int64(len(batches[i].Batch))
		for j := range batches[i].Schemas {
			op.bytes += int64(len(batches[i].Schemas[j].Encoded))
		}
		op.headers[i], op.out[i].Err = b.checkBatch(&batches[i])
	}
	if err := b.submit(ctx, op); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	return nil
}

// checkBatch checks what needs no state, on the caller's goroutine.
func (b *Broker) checkBatch(a *api.Append) (stored.Header, error) {
	if len(a.Batch) > b.opts.BatchBytesMax {
		return stored.Header{}, fmt.Errorf("batch of %d bytes: %w", len(a.Batch), api.ErrTooLarge)
	}
	h, err := stored.ParseHeader(a.Batch)
	if err == nil {
		err = stored.Verify(a.Batch)
	}
	if err != nil {
		return h, fmt.Errorf("%w: %w", api.ErrInvalid, err)
	}
	if h.ProducerID >= 0 && (h.ProducerEpoch < 0 || h.BaseSequence < 0 && !h.Control) ||
		h.ProducerID < 0 && (h.Transactional || h.Control) {
		return h, fmt.Errorf("%w: producer id, epoch and sequence", api.ErrInvalid)
	}
	for i := range a.Schemas {
		s := &a.Schemas[i]
		if len(s.Encoded) > b.opts.SchemaBytesMax {
			return h, fmt.Errorf("schema of %d bytes: %w", len(s.Encoded), api.ErrTooLarge)
		}
		if !b.state.schemas.has(s.Key) && sha256.Sum256(s.Encoded) != s.Key {
			return h, fmt.Errorf("%w: schema key is not that of its content", api.ErrInvalid)
		}
	}
	return h, nil
}

// appendOp is one Append call.
type appendOp struct {
	durability api.Durability
	batches    []api.Append
	headers    []stored.Header
	out        []api.Appended
	bytes      int64 // in the queue
	done       func([]api.Appended)
	// answered once done was called.
	answered bool
}

func (op *appendOp) size() int64 { return op.bytes }

func (op *appendOp) stage(s *staging) {
	for i := range op.batches {
		o := &op.out[i]
		if o.Err == nil {
			o.Err = op.stageBatch(s, i)
		}
		if o.Err != nil {
			*o = failedAppend(o.Err)
		}
	}
}

func failedAppend(err error) api.Appended {
	return api.Appended{Err: err, BaseOffset: -1, LogStart: -1, LeaderEpoch: -1, Timestamp: -1}
}

func (op *appendOp) stageBatch(s *staging, i int) error {
	a, h, o := &op.batches[i], &op.headers[i], &op.out[i]
	top, p := s.partition(a.Partition)
	if p == nil {
		return api.ErrUnknownTopic
	}
	st := p.stage(s.group)
	o.LogStart, o.LeaderEpoch, o.Timestamp = p.draft.start, leaderEpoch, -1
	it := batchItem{
		partition: a.Partition, baseOffset: st.next,
		lastOffsetDelta: h.LastOffsetDelta, maxTimestamp: h.MaxTimestamp, encodedSize: h.EncodedSize,
		producerID: h.ProducerID, producerEpoch: h.ProducerEpoch, baseSequence: h.BaseSequence,
	}
	if err := setFlags(&it, h, top, a.Batch); err != nil {
		return err
	}
	if it.flags&flagAppendTime != 0 {
		o.Timestamp, it.maxTimestamp = s.timeMillis, s.timeMillis
	}
	if it.flags&flagProducer != 0 {
		known := p.producer(it.producerID, s.timeMillis, s.opts.ProducerExpiry.Milliseconds())
		v := known.check(&it)
		if v.err != nil {
			return v.err
		}
		if v.duplicate {
			o.BaseOffset, o.Timestamp, o.Duplicate = v.found.baseOffset, v.found.timestamp, true
			return nil
		}
		if err := s.stageSchemas(a); err != nil {
			return err
		}
		p.stageProducer(known, &it, s.timeMillis)
	} else if err := s.stageSchemas(a); err != nil {
		return err
	}
	o.BaseOffset = st.next
	st.next += int64(h.LastOffsetDelta) + 1
	s.addBatch(&it, a.Batch, a.Schemas)
	return nil
}

// setFlags fills in the flags that the index and the fold go by.
func setFlags(it *batchItem, h *stored.Header, top *topic, batch []byte) error {
	if h.ProducerID >= 0 {
		it.flags |= flagProducer
	}
	if h.Transactional {
		it.flags |= flagTransactional
	}
	// The batch says so where the gateway's default makes it so.
	if top.appendTime || h.LogAppendTime {
		it.flags |= flagAppendTime
	}
	if !h.Control {
		return nil
	}
	it.flags |= flagControl
	opened, err := stored.Open(batch)
	if err != nil {
		return fmt.Errorf("%w: %w", api.ErrInvalid, err)
	}
	marker, err := opened.Marker()
	if err != nil {
		return fmt.Errorf("%w: %w", api.ErrInvalid, err)
	}
	if !marker.Commit {
		it.flags |= flagAbort
	}
	return nil
}

// stageSchemas leaves in a.Schemas those that the batch's commit has to hold:
// the ones that neither the state nor the group has.
func (s *staging) stageSchemas(a *api.Append) error {
	fresh := make([]api.Schema, 0, len(a.Schemas))
	var bytes int64
	for _, sc := range a.Schemas {
		if s.schemas[sc.Key] || s.state.schemas.has(sc.Key) {
			continue
		}
		s.schemas[sc.Key] = true
		fresh = append(fresh, sc)
		bytes += int64(len(sc.Encoded))
	}
	if bytes > 0 && s.state.schemas.size()+s.schemaBytes+bytes > s.opts.SchemasBytesMax {
		for _, sc := range fresh {
			delete(s.schemas, sc.Key)
		}
		return fmt.Errorf("%w: no room for more schemas", api.ErrUnavailable)
	}
	s.schemaBytes += bytes
	a.Schemas = fresh
	return nil
}

func (op *appendOp) early() bool { return op.durability == api.Written }

func (op *appendOp) written() { op.answer() }

func (op *appendOp) finish(err error) {
	if err != nil && !op.answered {
		for i := range op.out {
			// What the broker refused stays refused; the rest is not stored.
			if op.out[i].Err == nil || errors.Is(op.out[i].Err, api.ErrUnavailable) {
				op.out[i] = failedAppend(err)
			}
		}
	}
	op.answer()
}

func (op *appendOp) answer() {
	if !op.answered {
		op.answered = true
		op.done(op.out)
		op.batches, op.done = nil, nil
	}
}
