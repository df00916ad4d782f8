package broker

import (
	"fmt"
	"sync/atomic"
	"time"

	"milena/broker/api"
	"milena/broker/journal"
)

// fullAfter is how long a disk counts as full after the last refused append if
// only smaller ones were stored since.
const fullAfter = time.Minute

var errFull = fmt.Errorf("%w: the disk is full: appends are refused until there is room", api.ErrUnavailable)

// fullDisk knows whether the journal has room. What fits into the rest of a file
// is stored on a full disk too, so that one stored append alone says little. The
// committer owns all fields but full, which everybody reads.
type fullDisk struct {
	full     atomic.Bool
	smallest int // bytes of the smallest append that was refused
	refused  time.Time
}

// entryBytes is what entries take in the journal, near enough to compare them.
func entryBytes(entries []journal.Entry) int {
	n := 0
	for _, e := range entries {
		n += len(e.Chunk) + len(e.Commit)
	}
	return n
}

// diskFull notes an append of so many bytes that had no room. It logs once,
// however many requests are refused.
func (b *Broker) diskFull(bytes int, err error) {
	d := &b.disk
	d.refused = b.opts.Now()
	if d.full.Load() {
		d.smallest = min(d.smallest, bytes)
		return
	}
	d.smallest = bytes
	d.full.Store(true)
	b.opts.Observer.full(true)
	b.opts.Logger.Error("disk is full: appends are refused until there is room", "err", err)
}

// diskRoom notes an append of so many bytes that had room.
func (b *Broker) diskRoom(bytes int) {
	d := &b.disk
	if !d.full.Load() || bytes < d.smallest && b.opts.Now().Sub(d.refused) < fullAfter {
		return
	}
	d.full.Store(false)
	b.opts.Observer.full(false)
	b.opts.Logger.Info("disk has room again: appends are stored")
}

// probeDisk tries an append while the disk is full: if nobody sends any because
// the broker isn't ready, it would stay so for ever.
func (b *Broker) probeDisk() {
	if !b.disk.full.Load() {
		return
	}
	// What comes of it is noted like that of any append.
	_ = b.commitGroup([]operation{&probe{}})
	b.staging.shrink()
}

// probe is an append that changes nothing.
type probe struct{ call }

func (op *probe) size() int64 { return 64 }

func (op *probe) stage(s *staging) { s.record(32).addProducerIDs(s.producerIDs) }
