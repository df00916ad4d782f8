package store

import (
	"context"
	"errors"
	"iter"
)

// ErrConflict says that an append came too late: other entries follow the
// expected position. Nothing was written; the caller reads them and decides
// again.
var ErrConflict = errors.New("log: other entries came in between")

// ErrClosed says that the log was closed.
var ErrClosed = errors.New("log: closed")

// ErrTooLarge says that an entry is greater than the log takes. Nothing was
// written.
var ErrTooLarge = errors.New("log: entry is too large")

// EntryBytesMax bounds key and value of one entry together: the default of a
// Kafka topic's max.message.bytes, 1 MiB and what Kafka adds for its headers,
// so that every log can be moved to a topic.
const EntryBytesMax = 1<<20 - 512

// Entry is one log entry as it is stored. A nil Value is a tombstone; an empty
// one is not.
type Entry struct {
	Position        int64 // set by Read, ignored by Append
	TimestampMillis int64 // milliseconds since the epoch, kept as given
	Key             []byte
	Value           []byte
}

// Log is an append-only log of entries. Positions start at 0 and grow; a log
// may have holes between them, and its end is one past the last entry.
// Methods may be called concurrently; appends are serialised.
type Log interface {
	// Append adds entries, all or none, if the log's end is still expected,
	// and returns the new end when they survive a crash of the machine. The
	// error is ErrConflict if the end has moved on, and ErrTooLarge for an
	// entry above EntryBytesMax. After any other error it is open whether the
	// entries were written: the caller reads from expected to find out.
	// Appending nothing only checks expected.
	Append(ctx context.Context, expected int64, entries []Entry) (end int64, err error)
	// Read yields the entries from position from on, in order, up to the end
	// at the time of the call at least. A yielded error is the last element.
	// Entries belong to the consumer.
	Read(ctx context.Context, from int64) iter.Seq2[Entry, error]
	// Close releases the log; later calls fail with ErrClosed. It may be
	// called twice.
	Close() error
}

// CheckEntries returns ErrTooLarge if an entry exceeds EntryBytesMax. Every
// Log calls it before it writes.
func CheckEntries(entries []Entry) error {
	for _, e := range entries {
		if len(e.Key)+len(e.Value) > EntryBytesMax {
			return ErrTooLarge
		}
	}
	return nil
}
