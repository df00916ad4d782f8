package local

import (
	"errors"
	"log/slog"

	"milena/broker/journal"
	"milena/broker/journal/fs"
)

// Options of Open; the zero value of each but Dir means the default.
type Options struct {
	// Dir is the folder, made if needed. Nothing else may be in it.
	Dir string
	// FS is the file system; default fs.OS.
	FS fs.FS
	// SegmentBytes is the preallocated size of a file; default 64 MiB, at
	// least 4 KiB.
	SegmentBytes int64
	// EntryBytesMax is the largest chunk plus commit of one entry; default and
	// upper bound 1 GiB.
	EntryBytesMax int64
	// Checkpoint is a position up to which the journal is known to be durable
	// and from which it is to be replayed; 0 for none. A journal that ends
	// before it or begins after it is corrupt.
	Checkpoint journal.Position
	// Logger is told what recovery cuts; default none.
	Logger *slog.Logger
}

const (
	segmentBytesDefault = 64 << 20
	segmentBytesMin     = 4 << 10
	entryBytesMax       = 1 << 30
)

// Validate says what is wrong with o.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case o.Dir == "":
		return errors.New("journal: no folder given")
	case o.SegmentBytes < segmentBytesMin:
		return errors.New("journal: SegmentBytes below 4 KiB")
	case o.EntryBytesMax < 0 || o.EntryBytesMax > entryBytesMax:
		return errors.New("journal: EntryBytesMax beyond 1 GiB")
	case o.Checkpoint < 0:
		return errors.New("journal: negative checkpoint")
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = fs.OS{}
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = segmentBytesDefault
	}
	if o.EntryBytesMax == 0 {
		o.EntryBytesMax = entryBytesMax
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
