package client

import (
	"context"
	"fmt"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// Append is Enqueue and Wait.
func (c *Client) Append(ctx context.Context, d api.Durability, batches []api.Append) ([]api.Appended, error) {
	pending, err := c.Enqueue(ctx, d, batches)
	if err != nil {
		return nil, err
	}
	return pending.Wait(ctx)
}

// Enqueue stores each batch whole or not at all, one outcome each, in order,
// and returns once they are written to the publish stream, which gives them
// their place in the order: batches of one call, and of calls one after the
// other, keep it. An error means that nothing of the call will be stored. Of
// Wait, ErrUnavailable and errors of the context mean that the outcome is
// unknown.
func (c *Client) Enqueue(ctx context.Context, d api.Durability, batches []api.Append) (api.Pending, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	if len(batches) == 0 {
		return nil, fmt.Errorf("append: %w: no batches", api.ErrInvalid)
	}
	l := c.link.Load()
	if l == nil {
		return nil, fmt.Errorf("append: %w: %w", api.ErrUnavailable, *c.linkErr.Load())
	}
	out, send := l.limits.check(batches)
	if len(send) == 0 {
		return &pendingAppend{refused: out}, nil
	}
	ch, err := l.start(d, send, c.opts.PieceBytes)
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	return &pendingAppend{reply: ch, sent: len(send), refused: out}, nil
}

// pendingAppend is a call on the publish stream.
type pendingAppend struct {
	reply <-chan reply // nil if nothing was sent
	sent  int          // batches
	// refused are the outcomes of those that were not sent, nil if all were.
	refused []api.Appended
}

// Wait implements api.Pending.
func (p *pendingAppend) Wait(ctx context.Context) ([]api.Appended, error) {
	if p.reply == nil {
		return p.refused, nil
	}
	select {
	case r := <-p.reply:
		if r.err == nil && len(r.appended) != p.sent {
			r.err = fmt.Errorf("%w: %d outcomes for %d batches", api.ErrUnavailable, len(r.appended), p.sent)
		}
		if r.err != nil {
			return nil, fmt.Errorf("append: %w", r.err)
		}
		return merge(p.refused, r.appended), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("append: %w", ctx.Err())
	}
}

// partBytes is what the broker adds for each batch and schema of a call.
const partBytes = 256

// check refuses what would end the stream. It returns the outcomes, and the
// batches that are to be sent; nil outcomes mean all of them.
func (l *limits) check(batches []api.Append) ([]api.Appended, []api.Append) {
	var total int64
	out := make([]api.Appended, len(batches))
	var send []api.Append
	for i := range batches {
		b := &batches[i]
		bytes := int64(len(b.Batch)) + partBytes
		fits := int64(len(b.Batch)) <= l.batch
		for _, s := range b.Schemas {
			bytes += int64(len(s.Encoded)) + partBytes
			fits = fits && int64(len(s.Encoded)) <= l.schema
		}
		if !fits || total+bytes > l.call {
			out[i] = api.Appended{
				Err:        fmt.Errorf("batch of %d bytes: %w", len(b.Batch), api.ErrTooLarge),
				BaseOffset: -1, LogStart: -1, LeaderEpoch: -1, Timestamp: -1,
			}
			continue
		}
		total += bytes
		send = append(send, *b)
	}
	if len(send) == len(batches) {
		return nil, batches
	}
	return out, send
}

// merge puts the outcomes of what was sent where no outcome is yet.
func merge(out, sent []api.Appended) []api.Appended {
	if out == nil {
		return sent
	}
	for i := range out {
		if out[i].Err == nil {
			out[i], sent = sent[0], sent[1:]
		}
	}
	return out
}

// start sends a call and returns where its reply will be. It sends all of it,
// whatever becomes of the caller: half a call would end the stream.
func (l *link) start(d api.Durability, batches []api.Append, pieceBytes int) (<-chan reply, error) {
	l.send.Lock()
	defer l.send.Unlock()
	l.lastCall++
	ch, err := l.register(l.lastCall)
	if err != nil {
		return nil, err
	}
	w := callWriter{link: l, pieceBytes: pieceBytes}
	w.message.Call = l.lastCall
	if d == api.Written {
		w.message.Durability = brokerpb.Durability_WRITTEN
	}
	for i := range batches {
		w.batch(&batches[i])
	}
	w.message.Last = true
	w.flush()
	// A failed send means that the stream has ended: the receiver finds out why
	// and answers all calls, this one too.
	return ch, nil
}

// callWriter cuts a call into messages of about pieceBytes.
type callWriter struct {
	link       *link
	pieceBytes int
	message    brokerpb.PublishRequest
	bytes      int
	failed     bool
}

func (w *callWriter) batch(b *api.Append) {
	head, rest := w.cut(b.Batch)
	w.part(&brokerpb.PublishPart{Part: &brokerpb.PublishPart_Batch{Batch: &brokerpb.PublishBatch{
		TopicId: b.Partition.Topic[:], Partition: b.Partition.Index, Size: int64(len(b.Batch)), Data: head,
	}}}, len(head))
	w.more(rest)
	for i := range b.Schemas {
		s := &b.Schemas[i]
		head, rest := w.cut(s.Encoded)
		w.part(&brokerpb.PublishPart{Part: &brokerpb.PublishPart_Schema{Schema: &brokerpb.PublishSchema{
			Key: s.Key[:], Size: int64(len(s.Encoded)), Data: head,
		}}}, len(head))
		w.more(rest)
	}
}

func (w *callWriter) cut(b []byte) (head, rest []byte) {
	n := min(len(b), w.pieceBytes)
	return b[:n], b[n:]
}

func (w *callWriter) more(rest []byte) {
	for len(rest) > 0 {
		var head []byte
		head, rest = w.cut(rest)
		w.part(&brokerpb.PublishPart{Part: &brokerpb.PublishPart_More{More: head}}, len(head))
	}
}

func (w *callWriter) part(p *brokerpb.PublishPart, bytes int) {
	w.message.Parts = append(w.message.Parts, p)
	if w.bytes += bytes + 64; w.bytes >= w.pieceBytes {
		w.flush()
	}
}

func (w *callWriter) flush() {
	if !w.failed {
		w.failed = w.link.publish.Send(&w.message) != nil
	}
	w.message.Parts, w.bytes = nil, 0
}

func appendedValues(messages []*brokerpb.Appended) []api.Appended {
	out := make([]api.Appended, len(messages))
	for i, m := range messages {
		out[i] = api.Appended{
			Err: failureError(m.Failure), BaseOffset: m.BaseOffset, LogStart: m.LogStart,
			LeaderEpoch: m.LeaderEpoch, Timestamp: m.TimestampMillis, Duplicate: m.Duplicate,
		}
	}
	return out
}
