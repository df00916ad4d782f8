package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"milena/broker/api"
	"milena/broker/journal"
)

// submit gives an operation its place in the order of commits. After nil,
// finish is called exactly once; after an error never.
func (b *Broker) submit(ctx context.Context, op operation) error {
	if err := b.usable(); err != nil {
		return err
	}
	// A request larger than the queue takes all of it, and so waits for it to
	// be empty.
	bytes := min(op.size(), b.opts.QueueBytesMax)
	if err := b.queueBytes.Acquire(ctx, bytes); err != nil {
		return fmt.Errorf("wait for room in the queue: %w", err)
	}
	b.gate.RLock()
	defer b.gate.RUnlock()
	if b.closed {
		b.queueBytes.Release(bytes)
		return errClosed
	}
	select {
	case b.queue <- op:
		return nil
	case <-ctx.Done():
		b.queueBytes.Release(bytes)
		return fmt.Errorf("wait for room in the queue: %w", ctx.Err())
	}
}

// do submits an operation and waits for it. If ctx ends first the outcome is
// unknown.
func (b *Broker) do(ctx context.Context, op operation, c *call) error {
	c.done = make(chan struct{})
	if err := b.submit(ctx, op); err != nil {
		return err
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run is the committer: the one goroutine that changes the state. It takes
// everything that was queued while the last sync ran as the next group.
func (b *Broker) run() {
	defer close(b.stopped)
	ticker := time.NewTicker(b.opts.CheckpointInterval)
	defer ticker.Stop()
	for {
		select {
		case op, ok := <-b.queue:
			if !ok {
				b.shutDown()
				return
			}
			b.commit(b.gather(op))
			if b.bytesSince >= b.opts.CheckpointBytes {
				b.startCheckpoint()
			}
		case <-ticker.C:
			b.probeDisk()
			b.startCheckpoint()
		case done := <-b.checkpoints:
			b.endCheckpoint(done)
		}
	}
}

// gather returns op and what else is queued, up to the limits of a group.
func (b *Broker) gather(op operation) []operation {
	group := append(b.group[:0], op)
	bytes := op.size()
	for len(group) < b.opts.GroupRequestsMax && bytes < int64(b.opts.GroupBytesMax) {
		select {
		case op, ok := <-b.queue:
			if !ok {
				return group // run sees the end next
			}
			group = append(group, op)
			bytes += op.size()
			continue
		default:
		}
		break
	}
	return group
}

// commit stages the group, appends it with one write, makes it durable with
// one sync, applies and publishes it, and answers.
func (b *Broker) commit(group []operation) {
	defer func() {
		for _, op := range group {
			b.queueBytes.Release(min(op.size(), b.opts.QueueBytesMax))
		}
		clear(group)
		b.group = group[:0]
	}()
	err := b.commitGroup(group)
	for _, op := range group {
		op.finish(err)
	}
	b.staging.shrink()
}

func (b *Broker) commitGroup(group []operation) error {
	if err := b.usable(); err != nil && !errors.Is(err, errClosed) {
		return err
	}
	s := &b.staging
	s.reset(max(b.state.timeMillis, b.opts.Now().UnixMilli()))
	for _, op := range group {
		op.stage(s)
	}
	if s.used == 0 {
		return nil
	}
	start := time.Now()
	entries := s.journalEntries()
	positions, err := b.journal.Append(entries)
	if err != nil {
		return b.appendError(entryBytes(entries), err)
	}
	b.diskRoom(entryBytes(entries))
	appended := time.Now()
	defer b.answerWritten(group)()
	if err := b.journal.Sync(); err != nil {
		return b.fail(fmt.Errorf("sync: %w", err))
	}
	synced := time.Now()
	if err := b.apply(positions); err != nil {
		return b.fail(err)
	}
	s.stats.Requests = len(group)
	s.stats.Append, s.stats.Sync = appended.Sub(start), synced.Sub(appended)
	b.opts.Observer.committed(s.stats)
	return nil
}

// answerWritten answers what needs no sync, and returns what is to be called
// when the group is published or has failed.
func (b *Broker) answerWritten(group []operation) (over func()) {
	if !slices.ContainsFunc(group, operation.early) {
		return func() {}
	}
	synced := make(chan struct{})
	// Set before the answers: who has one and asks for offsets waits for it.
	b.unsynced.Store(&synced)
	for _, op := range group {
		if op.early() {
			op.written()
		}
	}
	return func() {
		b.unsynced.Store(nil)
		close(synced)
	}
}

// awaitWritten waits until what was answered as written before the call is
// published, or never will be.
func (b *Broker) awaitWritten(ctx context.Context) error {
	synced := b.unsynced.Load()
	if synced == nil {
		return nil
	}
	select {
	case <-*synced:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the sync of written batches: %w", ctx.Err())
	}
}

// apply folds the durable group into the state and shows it to readers. The
// records are decoded again so that replay and live state can't differ.
func (b *Broker) apply(positions []journal.Position) error {
	s := &b.staging
	if len(positions) != s.used {
		return fmt.Errorf("journal: %d positions for %d entries", len(positions), s.used)
	}
	for i, p := range positions {
		if err := b.state.fold(p, s.entries[i].record.buf); err != nil {
			return err
		}
	}
	b.state.next = b.journal.End()
	b.bytesSince += s.stats.Bytes
	b.commitsSince++
	for _, sb := range s.batches {
		b.tail.put(tailKey{positions[sb.entry], sb.chunkOffset}, sb.bytes)
	}
	b.state.publish()
	return nil
}

// appendError judges a failed append of so many bytes: a full disk and a too large entry leave
// the journal as it was, anything else stops the broker.
func (b *Broker) appendError(bytes int, err error) error {
	switch {
	case errors.Is(err, journal.ErrFull):
		b.diskFull(bytes, err)
		return fmt.Errorf("%w: %w", api.ErrUnavailable, err)
	case errors.Is(err, journal.ErrTooLarge):
		return fmt.Errorf("%w: %w", api.ErrTooLarge, err)
	}
	return b.fail(fmt.Errorf("append: %w", err))
}

// fail stops all further commits for good; what is durable stays readable.
func (b *Broker) fail(err error) error {
	err = fmt.Errorf("%w: %w", api.ErrUnavailable, err)
	if b.failure.CompareAndSwap(nil, &err) {
		b.opts.Observer.stopped(err)
		b.opts.Logger.Error("broker takes no more commits", "err", err)
	}
	return err
}
