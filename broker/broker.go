package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"milena/broker/api"
	"milena/broker/journal"
)

// queueRequestsMax bounds the number of requests that wait for a commit.
const queueRequestsMax = 4096

var errClosed = fmt.Errorf("%w: closed", api.ErrUnavailable)

// Broker stores batches, offsets and records behind one journal. All methods
// may be called concurrently.
type Broker struct {
	opts    Options
	journal journal.Journal
	state   *state
	tail    *tailCache
	lease   lease

	queue      chan operation
	queueBytes *semaphore.Weighted
	// gate guards closed: submit sends to the queue under its read lock, so
	// that Close can close the queue under the write lock.
	gate   sync.RWMutex
	closed bool
	// unsynced is set by the committer while requests are answered as written
	// whose group isn't synced yet. It is closed when the group can be read, or
	// never will be.
	unsynced atomic.Pointer[chan struct{}]
	// failure is set once, when commits are over for good.
	failure atomic.Pointer[error]
	disk    fullDisk
	// stopped is closed when the committer has ended; closing when Close
	// begins, which ends waiting reads.
	stopped chan struct{}
	closing chan struct{}
	// closeErr is what shutDown met; read after stopped is closed.
	closeErr error

	// The committer's own.
	group          []operation
	staging        staging
	nextProducerID int64
	checkpoints    chan checkpointDone
	checkpointing  bool
	bytesSince     int64 // chunk bytes since the last checkpoint
	commitsSince   int
	// savedPosition is that of the newest checkpoint; needFull says that the
	// next one can't build on it.
	savedPosition journal.Position
	needFull      bool
}

// Open loads the newest checkpoint, replays the journal from there and returns
// a broker that is ready. The broker closes journal and catalog, also if Open
// fails.
func Open(ctx context.Context, o Options) (*Broker, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	b := &Broker{
		opts:        o,
		journal:     o.Journal,
		tail:        newTailCache(o.TailBytesMax),
		queue:       make(chan operation, queueRequestsMax),
		queueBytes:  semaphore.NewWeighted(o.QueueBytesMax),
		stopped:     make(chan struct{}),
		closing:     make(chan struct{}),
		checkpoints: make(chan checkpointDone, 1),
	}
	b.lease.init(&b.opts)
	if err := b.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open broker: %w", err), b.closeStores())
	}
	b.staging = staging{state: b.state, opts: &b.opts}
	b.nextProducerID = b.state.producerIDs
	go b.run()
	return b, nil
}

// load makes the state from checkpoint and journal.
func (b *Broker) load(ctx context.Context) error {
	if err := b.loadCheckpoint(ctx); err != nil {
		return err
	}
	entries := 0
	err := b.journal.Replay(ctx, b.state.next, func(p journal.Position, e journal.Entry) error {
		entries++
		if err := checkEntry(e); err != nil {
			return fmt.Errorf("entry at %d: %w", p, err)
		}
		if err := b.state.fold(p, e.Commit); err != nil {
			return fmt.Errorf("entry at %d: %w", p, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errReplay, err)
	}
	// What is replayed is served, so it has to be durable, also what a process
	// wrote that died before its sync.
	if err := b.journal.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	b.state.next = b.journal.End()
	if err := b.checkKept(); err != nil {
		return err
	}
	b.state.publish()
	b.commitsSince = entries
	return nil
}

// checkKept refuses a journal that begins behind data that is to be read. That
// is asked after the replay: until then, the checkpoint may know topics that were
// deleted, and trimmed away, after it was begun.
func (b *Broker) checkKept() error {
	start, oldest := b.journal.Start(), b.state.oldest(b.state.next)
	if oldest < start {
		return fmt.Errorf("%w: journal starts at %d, but data from %d on is needed: a file is missing", errReplay, start, oldest)
	}
	return nil
}

// checkEntry compares each batch item of an entry with its chunk.
func checkEntry(e journal.Entry) error {
	return foldRecord(e.Commit, func(_ int64, it *item) error {
		if it.kind == itemBatch {
			return checkChunk(e.Chunk, &it.batch)
		}
		return nil
	})
}

// Ready says why the broker takes no appends; nil if it does. Reads of durable
// data go on after a failure and on a full disk, until Close.
func (b *Broker) Ready() error {
	if err := b.usable(); err != nil {
		return err
	}
	if b.disk.full.Load() {
		return errFull
	}
	return nil
}

// usable says why appends aren't even tried.
func (b *Broker) usable() error {
	if err := b.failure.Load(); err != nil {
		return *err
	}
	select {
	case <-b.closing:
		return errClosed
	default:
		return nil
	}
}

// Close commits what is queued, takes a last checkpoint, and closes journal
// and catalog. Waiting reads end with ErrUnavailable.
func (b *Broker) Close() error {
	b.gate.Lock()
	if !b.closed {
		b.closed = true
		close(b.closing)
		close(b.queue)
	}
	b.gate.Unlock()
	<-b.stopped
	return b.closeErr
}

// shutDown ends the committer.
func (b *Broker) shutDown() {
	if b.checkpointing {
		b.endCheckpoint(<-b.checkpoints)
	}
	b.lastCheckpoint()
	if err := b.closeStores(); err != nil {
		b.closeErr = fmt.Errorf("close broker: %w", err)
	}
}

func (b *Broker) closeStores() error {
	var err error
	if b.journal != nil {
		err = b.journal.Close()
	}
	if b.opts.Catalog != nil {
		err = errors.Join(err, b.opts.Catalog.Close())
	}
	return err
}
