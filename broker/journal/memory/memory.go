// Package memory is the journal in memory, for --dev and for tests. It promises
// what journal.Journal does as long as the process lives, and nothing beyond.
//
// One lock guards everything; the package starts no goroutines. The limits are
// those of Options.
package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"milena/broker/journal"
)

// Options of New; the zero value means the defaults.
type Options struct {
	// BytesMax is how much all entries may take together; beyond it appends
	// fail with journal.ErrFull. Default 4 GiB.
	BytesMax int64
	// EntryBytesMax is the largest chunk plus commit of one entry; default
	// 1 GiB.
	EntryBytesMax int64
}

// Journal is a journal.Journal in memory.
type Journal struct {
	options Options

	mu      sync.RWMutex // guards everything below
	entries []entry      // ascending
	start   journal.Position
	end     journal.Position
	bytes   int64
	closed  bool
}

type entry struct {
	position journal.Position
	journal.Entry
}

// overhead is what an entry takes besides its bytes, and what keeps positions
// apart.
const overhead = 48

func (e *entry) size() int64 { return overhead + int64(len(e.Chunk)) + int64(len(e.Commit)) }

// New returns an empty journal.
func New(o Options) *Journal {
	if o.BytesMax == 0 {
		o.BytesMax = 4 << 30
	}
	if o.EntryBytesMax == 0 {
		o.EntryBytesMax = 1 << 30
	}
	return &Journal{options: o}
}

// Append implements journal.Journal.
func (j *Journal) Append(entries []journal.Entry) ([]journal.Position, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, errClosed()
	}
	size := int64(0)
	for _, e := range entries {
		if len(e.Commit) == 0 {
			return nil, errors.New("journal: append: entry without commit record")
		}
		if n := int64(len(e.Chunk)) + int64(len(e.Commit)); n > j.options.EntryBytesMax {
			return nil, fmt.Errorf("append %d bytes: %w", n, journal.ErrTooLarge)
		}
		size += (&entry{Entry: e}).size()
	}
	if j.bytes+size > j.options.BytesMax {
		return nil, fmt.Errorf("append %d bytes: %w", size, journal.ErrFull)
	}
	positions := make([]journal.Position, 0, len(entries))
	for _, e := range entries {
		kept := entry{j.end, journal.Entry{Chunk: slices.Clone(e.Chunk), Commit: slices.Clone(e.Commit)}}
		j.entries = append(j.entries, kept)
		positions = append(positions, j.end)
		j.end += journal.Position(kept.size())
	}
	j.bytes += size
	return positions, nil
}

// Sync implements journal.Journal; there is nothing to sync.
func (j *Journal) Sync() error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.closed {
		return errClosed()
	}
	return nil
}

// ReadChunk implements journal.Journal.
func (j *Journal) ReadChunk(p journal.Position, off, length int, dst []byte) ([]byte, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	i, err := j.find(p)
	if err != nil {
		return dst, fmt.Errorf("read chunk at %d: %w", p, err)
	}
	if i == len(j.entries) || off < 0 || length < 0 || length > len(j.entries[i].Chunk)-off {
		return dst, fmt.Errorf("read chunk at %d: %w: beyond the end", p, journal.ErrCorrupt)
	}
	return append(dst, j.entries[i].Chunk[off:off+length]...), nil
}

// Replay implements journal.Journal, up to the end as it is when called.
func (j *Journal) Replay(ctx context.Context, from journal.Position, fn func(journal.Position, journal.Entry) error) error {
	j.mu.RLock()
	i, err := j.find(from)
	entries := j.entries
	j.mu.RUnlock()
	if err != nil {
		return fmt.Errorf("replay at %d: %w", from, err)
	}
	// Entries never change, and Trim makes a new slice.
	for _, e := range entries[i:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(e.position, e.Entry); err != nil {
			return err
		}
	}
	return nil
}

// find returns the index of the entry at p, which may be the end.
func (j *Journal) find(p journal.Position) (int, error) {
	switch {
	case j.closed:
		return 0, errClosed()
	case p < j.start:
		return 0, journal.ErrTrimmed
	case p == j.end:
		return len(j.entries), nil
	}
	i := sort.Search(len(j.entries), func(i int) bool { return j.entries[i].position >= p })
	if i == len(j.entries) || j.entries[i].position != p {
		return 0, fmt.Errorf("%w: no entry there", journal.ErrCorrupt)
	}
	return i, nil
}

// Start implements journal.Journal.
func (j *Journal) Start() journal.Position {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.start
}

// End implements journal.Journal.
func (j *Journal) End() journal.Position {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.end
}

// Trim implements journal.Journal.
func (j *Journal) Trim(p journal.Position) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for n < len(j.entries) && j.entries[n].position+journal.Position(j.entries[n].size()) <= p {
		j.bytes -= j.entries[n].size()
		n++
	}
	j.entries = slices.Clone(j.entries[n:])
	j.start = j.end
	if len(j.entries) > 0 {
		j.start = j.entries[0].position
	}
	return nil
}

// Close implements journal.Journal; the entries are gone.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.entries = nil
	return nil
}

func errClosed() error { return fmt.Errorf("%w: closed", journal.ErrStopped) }
