package journal

import (
	"context"
	"errors"
)

// Position is the place of an entry in the journal. Positions grow by the
// size of entries, are never reused and survive restarts and trimming.
type Position int64

// Entry is one commit: what is written and synced together.
type Entry struct {
	// Chunk holds the batches of the entry; may be empty.
	Chunk []byte
	// Commit is the commit record; never empty.
	Commit []byte
}

// Errors of a Journal.
var (
	// ErrStopped: a write or sync failed before; the journal stays stopped
	// until it is opened again. Retriable for producers, never retried here.
	ErrStopped = errors.New("journal stopped")
	// ErrFull: no space left. Nothing of the entry is kept, and a later append
	// may succeed.
	ErrFull = errors.New("journal: no space left")
	// ErrCorrupt: stored bytes don't have the CRC they were written with.
	ErrCorrupt = errors.New("journal: corrupt entry")
	// ErrTrimmed: the position is before the trimmed start.
	ErrTrimmed = errors.New("journal: position trimmed")
	// ErrTooLarge: the entry exceeds the limit of the implementation.
	ErrTooLarge = errors.New("journal: entry too large")
)

// Journal appends entries and reads chunks back. Append and Sync are called by
// one goroutine at a time (the broker's committer), everything else
// concurrently with them and with itself.
type Journal interface {
	// Append writes the entries, in order, with one write, so that they
	// survive a crash of the process, and returns the position of each. They
	// survive power loss only after the next Sync.
	Append(entries []Entry) ([]Position, error)
	// Sync makes everything appended so far durable (one fsync). After an
	// error the journal is stopped.
	Sync() error
	// ReadChunk reads length bytes at offset off of the chunk of the entry at
	// p into dst's free capacity, appended. Each Append'ed batch lies in one
	// such range. The caller checks the CRC of what it reads (stored batches
	// carry their own).
	ReadChunk(p Position, off, length int, dst []byte) ([]byte, error)
	// Replay calls fn for every entry from position from on, in order, with
	// its CRCs checked. Chunk and Commit are valid during the call only.
	Replay(ctx context.Context, from Position, fn func(p Position, e Entry) error) error
	// Start and End are the positions of the first kept entry and of the next
	// one to be appended.
	Start() Position
	End() Position
	// Trim forgets entries before p, by whole files where there are files.
	Trim(p Position) error
	// Close releases everything. It doesn't sync.
	Close() error
}
