package catalog

import (
	"context"
	"errors"
	"fmt"
)

// Errors of a Store; compare with errors.Is.
var (
	// ErrNone: no checkpoint was saved yet.
	ErrNone = errors.New("no checkpoint")
	// ErrDamaged: what is stored isn't what was saved. The next Save must be
	// full; it replaces everything.
	ErrDamaged = errors.New("checkpoint is damaged")
	// ErrBase: the changes don't follow the stored checkpoint.
	ErrBase = errors.New("checkpoint is not the one that the changes are for")
	// ErrInvalid: a row without section, or beyond the limits.
	ErrInvalid = errors.New("invalid checkpoint row")
)

// Limits of a row in bytes.
const (
	SectionBytesMax = 128
	KeyBytesMax     = 64 << 10
	ValueBytesMax   = 256 << 20
)

// Row is one value of the state. Section and Key together name it.
type Row struct {
	// Section groups rows of a kind, such as "partition"; never empty.
	Section string
	// Key may be empty. Rows are loaded in its byte order.
	Key []byte
	// Value may be empty; nil is empty.
	Value []byte
	// Delete removes the row; Value is ignored. A row that isn't there is no
	// error.
	Delete bool
}

// Checkpoint is what is saved together or not at all.
type Checkpoint struct {
	// Position is where the journal is to be replayed from. Everything before
	// it must be durable already.
	Position int64
	// Full: Rows are the whole state and replace what was there. Else they are
	// what changed since the checkpoint at Base.
	Full bool
	// Base is the position of the checkpoint that the changes follow; ignored
	// with Full.
	Base int64
	// Rows, of which the last one of a name counts.
	Rows []Row
}

// Store keeps the latest checkpoint. All methods may be called concurrently;
// those that write come one after the other.
type Store interface {
	// Save stores a checkpoint durably. If it fails, or the process or the
	// machine does meanwhile, the one before is there unchanged. Errors:
	// ErrBase, ErrDamaged (of a checkpoint that isn't full), ErrInvalid, or of
	// the storage or the context.
	Save(ctx context.Context, c Checkpoint) error
	// Load calls fn for each row, by section and key, and returns the
	// checkpoint's position. Only when it returns without error are the rows
	// known to be all there and as they were saved: what was made of them
	// before must be thrown away on error. The row's slices are valid during
	// the call only. Errors: ErrNone, ErrDamaged, fn's, or of the storage or
	// the context.
	Load(ctx context.Context, fn func(Row) error) (position int64, err error)
	// Close releases everything.
	Close() error
}

// Check says what no Store takes; it wraps ErrInvalid.
func (c *Checkpoint) Check() error {
	if c.Position < 0 || !c.Full && c.Base > c.Position {
		return fmt.Errorf("%w: position %d after base %d", ErrInvalid, c.Position, c.Base)
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		switch {
		case r.Section == "" || len(r.Section) > SectionBytesMax:
			return fmt.Errorf("%w: section of %d bytes", ErrInvalid, len(r.Section))
		case len(r.Key) > KeyBytesMax:
			return fmt.Errorf("%w: %s: key of %d bytes", ErrInvalid, r.Section, len(r.Key))
		case len(r.Value) > ValueBytesMax:
			return fmt.Errorf("%w: %s: value of %d bytes", ErrInvalid, r.Section, len(r.Value))
		}
	}
	return nil
}
