package batch

import (
	"errors"
	"fmt"
)

// Sentinels of the four ways in which a produced batch is refused, each with
// the Kafka error that answers it. An *Error unwraps to one of them.
var (
	// ErrCorrupt: damaged on the way; the client sends it again
	// (CORRUPT_MESSAGE, 2).
	ErrCorrupt = errors.New("corrupt record batch")
	// ErrInvalid: the producer wrote what no broker can store
	// (INVALID_RECORD, 87).
	ErrInvalid = errors.New("invalid record batch")
	// ErrUnsupportedCompression: a codec that the client's protocol version
	// doesn't know (UNSUPPORTED_COMPRESSION_TYPE, 76).
	ErrUnsupportedCompression = errors.New("unsupported compression")
	// ErrTooLarge: over the limit as sent or when decompressed; clients split
	// the batch and try again (MESSAGE_TOO_LARGE, 10).
	ErrTooLarge = errors.New("record batch too large")
)

// Error says what is wrong with a batch. Kind is one of the sentinels, Reason
// is fit for the eyes of the producer, and Record is the index of the record
// in the batch, -1 if the batch as a whole is meant.
type Error struct {
	Kind   error
	Reason string
	Record int32
}

// Error returns kind, record and reason.
func (e *Error) Error() string {
	if e.Record >= 0 {
		return fmt.Sprintf("%v: record %d: %s", e.Kind, e.Record, e.Reason)
	}
	return fmt.Sprintf("%v: %s", e.Kind, e.Reason)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

func refuse(kind error, format string, args ...any) error {
	return &Error{Kind: kind, Reason: fmt.Sprintf(format, args...), Record: -1}
}

func refuseRecord(index int32, format string, args ...any) error {
	return &Error{Kind: ErrInvalid, Reason: fmt.Sprintf(format, args...), Record: index}
}
