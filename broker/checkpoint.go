package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"milena/broker/catalog"
	"milena/broker/journal"
)

// checkpointDone is the end of a checkpoint in the background.
type checkpointDone struct {
	position journal.Position
	stats    Checkpointed
}

// loadCheckpoint opens the journal and makes the state of the newest
// checkpoint. Without one, or with one that is damaged, the whole journal is
// to be replayed, which is possible as long as nothing was trimmed.
func (b *Broker) loadCheckpoint(ctx context.Context) error {
	b.state = newState(&b.opts)
	b.needFull = true
	position := journal.Position(-1)
	if b.opts.Catalog != nil {
		at, err := b.opts.Catalog.Load(ctx, b.state.loadRow)
		switch {
		case err == nil:
			position = journal.Position(at)
			b.needFull = false
		case errors.Is(err, catalog.ErrNone):
		case errors.Is(err, catalog.ErrDamaged):
			b.opts.Logger.Warn("checkpoint is damaged: replaying the whole journal", "err", err)
		default:
			return fmt.Errorf("load checkpoint: %w", err)
		}
	}
	if position < 0 {
		b.state = newState(&b.opts)
	} else if err := b.state.checkLoaded(); err != nil {
		return fmt.Errorf("load checkpoint: %w", err)
	}
	if b.opts.OpenJournal != nil {
		j, err := b.opts.OpenJournal(max(position, 0))
		if err != nil {
			return fmt.Errorf("open journal: %w", err)
		}
		b.journal = j
	}
	start, end := b.journal.Start(), b.journal.End()
	switch {
	case position < 0 && start > firstPosition:
		return fmt.Errorf("%w: no checkpoint, and the journal was trimmed up to %d", errReplay, start)
	case position >= 0 && (position < start || position > end):
		return fmt.Errorf("%w: checkpoint at %d, journal from %d to %d", errReplay, position, start, end)
	}
	b.state.next = max(position, start)
	b.savedPosition = max(position, 0)
	return nil
}

// firstPosition is where a journal that was never trimmed begins.
const firstPosition journal.Position = 0

// startCheckpoint saves what changed since the last checkpoint, in the
// background; rows are encoded here, so that they are all of one position.
func (b *Broker) startCheckpoint() {
	if b.checkpointing || b.failure.Load() != nil {
		return
	}
	c, ok := b.nextCheckpoint()
	if !ok {
		return
	}
	b.checkpointing = true
	go func() { b.checkpoints <- b.saveCheckpoint(c) }()
}

// nextCheckpoint takes what is to be saved; false if that is nothing.
func (b *Broker) nextCheckpoint() (catalog.Checkpoint, bool) {
	if b.opts.Catalog == nil || b.commitsSince == 0 {
		return catalog.Checkpoint{}, false
	}
	c := catalog.Checkpoint{Position: int64(b.state.next), Base: int64(b.savedPosition), Full: b.needFull}
	if c.Full {
		c.Rows = b.state.allRows()
	} else {
		c.Rows = b.state.changedRows()
	}
	sortRows(c.Rows)
	b.bytesSince, b.commitsSince, b.needFull = 0, 0, false
	return c, true
}

func (b *Broker) saveCheckpoint(c catalog.Checkpoint) checkpointDone {
	start := time.Now()
	err := b.opts.Catalog.Save(context.Background(), c)
	return checkpointDone{
		position: journal.Position(c.Position),
		stats:    Checkpointed{Rows: len(c.Rows), Duration: time.Since(start), Err: err},
	}
}

// endCheckpoint notes a saved checkpoint and lets go of what it made
// superfluous. After a failure the next one saves the whole state.
func (b *Broker) endCheckpoint(done checkpointDone) {
	b.checkpointing = false
	b.opts.Observer.checkpointed(done.stats)
	if err := done.stats.Err; err != nil {
		b.needFull = true
		b.commitsSince++
		b.opts.Logger.Error("checkpoint", "err", err)
		return
	}
	b.savedPosition = done.position
	// Data stays in the journal until it is sealed, so that only what deleted
	// topics leave at its beginning goes, and only what no start replays.
	if err := b.journal.Trim(b.state.oldest(done.position)); err != nil {
		b.opts.Logger.Error("trim journal", "err", err)
	}
}

// lastCheckpoint saves what is left, so that the next start replays nothing.
func (b *Broker) lastCheckpoint() {
	if b.failure.Load() != nil {
		return
	}
	if c, ok := b.nextCheckpoint(); ok {
		b.endCheckpoint(b.saveCheckpoint(c))
	}
}
