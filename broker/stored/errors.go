package stored

import (
	"errors"
	"fmt"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrCorrupt: the bytes are not a stored batch, or not the one that was
	// written (batch CRC).
	ErrCorrupt = errors.New("stored batch is corrupt")
	// ErrVersion: a version that this build doesn't know.
	ErrVersion = errors.New("unknown stored batch version")
	// ErrContent: for rebuilders; the batch is intact (batch CRC) but what was
	// rebuilt from it is not what was produced (content CRC).
	ErrContent = errors.New("rebuilt content differs from what was produced")
	// ErrInvalid: a header or record that Builder can't store.
	ErrInvalid = errors.New("invalid record for a stored batch")
	// ErrTooLarge: the batch would exceed SizeMax.
	ErrTooLarge = errors.New("stored batch too large")
)

func corrupt(reason string) error { return fmt.Errorf("%w: %s", ErrCorrupt, reason) }

func invalid(reason string) error { return fmt.Errorf("%w: %s", ErrInvalid, reason) }
