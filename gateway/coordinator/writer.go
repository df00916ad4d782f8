package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/backend"
	"milena/gateway/group"
)

// write is one thing to be stored: a record with the answers that wait for it, a
// commit, or that the group is gone with its offsets.
type write struct {
	record  []byte
	replies group.Effects
	commit  *commit
	// deleted gets the outcome of a deletion; it has room for it.
	deleted chan error
}

// commit is one client's offsets. done has room for the one result.
type commit struct {
	offsets []backend.GroupOffset
	done    chan error
}

// commitsPerCall and offsetsPerCall bound what is joined into one storage call; a
// larger commit is a call of its own.
const (
	commitsPerCall = 256
	offsetsPerCall = 4096
)

// enqueue adds a write and sees to it that a writer is running. Called with the
// entry locked.
func (e *entry) enqueue(w write) {
	e.queue = append(e.queue, w)
	if w.commit != nil {
		e.commits++
	}
	if e.writing {
		return
	}
	if !e.c.enter() {
		e.leave(kerr.NotCoordinator)
		return
	}
	e.writing = true
	go func() {
		defer e.c.work.Done()
		e.write()
	}()
}

// write stores what is queued, in order, until nothing is left.
func (e *entry) write() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.queue) > 0 {
		switch head := e.queue[0]; {
		case head.record != nil:
			e.writeRecord(head.record)
		case head.deleted != nil:
			e.writeDeletion()
		default:
			e.writeCommits()
		}
	}
	e.writing = false
	e.arm(time.Now())
}

// writeRecord stores the record at the head of the queue, unlocking meanwhile. The
// record stays at the head, for answers that come up in the meantime to wait at.
func (e *entry) writeRecord(value []byte) {
	expected := e.version
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(e.c.ctx, e.c.opts.StorageTimeout)
	version, err := e.c.backend.CompareAndAppend(ctx, recordPrefix+e.id, expected, value)
	cancel()
	e.mu.Lock()
	if e.gone {
		return
	}
	if err != nil {
		e.giveUp(fmt.Errorf("store group: %w", err))
		return
	}
	e.version = version
	replies := e.queue[0].replies
	e.queue = e.queue[1:]
	e.deliver(replies)
}

// writeDeletion deletes what is stored of the group, unlocking meanwhile. The
// record goes last: a group whose offsets are half gone can be deleted again.
func (e *entry) writeDeletion() {
	done, version := e.queue[0].deleted, e.version
	e.queue = e.queue[1:]
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(e.c.ctx, e.c.opts.StorageTimeout)
	err := e.c.backend.DeleteGroupOffsets(ctx, e.id, nil)
	if err == nil && version > 0 {
		version, err = e.c.backend.CompareAndAppend(ctx, recordPrefix+e.id, version, nil)
	}
	cancel()
	e.mu.Lock()
	if err != nil {
		err = fmt.Errorf("delete group: %w", err)
		if !e.gone {
			e.giveUp(err)
		}
		done <- err
		return
	}
	e.version = version
	done <- nil
}

// writeCommits stores the commits at the head of the queue in one call, unlocking
// meanwhile.
func (e *entry) writeCommits() {
	var batch []*commit
	for offsets := 0; len(batch) < min(len(e.queue), commitsPerCall); {
		next := e.queue[len(batch)].commit
		if next == nil {
			break
		}
		if offsets += len(next.offsets); len(batch) > 0 && offsets > offsetsPerCall {
			break
		}
		batch = append(batch, next)
	}
	e.queue = e.queue[len(batch):]
	e.commits -= len(batch)
	e.mu.Unlock()
	defer e.mu.Lock()
	var all []backend.GroupOffset
	for _, c := range batch {
		all = append(all, c.offsets...)
	}
	err := e.commit(all)
	if len(batch) > 1 && (errors.Is(err, backend.ErrUnknownTopic) || errors.Is(err, backend.ErrInvalid)) {
		// One of them is at fault, and the others must not pay for it.
		for _, c := range batch {
			c.done <- e.commit(c.offsets)
		}
		return
	}
	for _, c := range batch {
		c.done <- err
	}
}

func (e *entry) commit(offsets []backend.GroupOffset) error {
	ctx, cancel := context.WithTimeout(e.c.ctx, e.c.opts.StorageTimeout)
	defer cancel()
	if err := e.c.backend.CommitOffsets(ctx, e.id, offsets); err != nil {
		return fmt.Errorf("commit offsets: %w", err)
	}
	return nil
}
