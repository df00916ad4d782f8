package store

import (
	"context"
	"io"
)

// Snapshots is what a Log may have too: a place for one blob that is derived
// from the log and saves reading all of it. It may be lost or damaged at any
// time; whoever wrote it checks what it reads.
type Snapshots interface {
	// ReadSnapshot opens the blob that was written last and tells its size in
	// bytes. The error is fs.ErrNotExist if there is none.
	ReadSnapshot(ctx context.Context) (io.ReadCloser, int64, error)
	// WriteSnapshot replaces the blob by what write writes. After an error the
	// old one is still there.
	WriteSnapshot(ctx context.Context, write func(io.Writer) error) error
}
