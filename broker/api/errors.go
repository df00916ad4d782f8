package api

import "errors"

// Errors of a broker, in process and over gRPC. They arrive wrapped with what
// was attempted; compare with errors.Is. broker/errors.go has the gRPC status
// of each, and the client turns the status back into the same value.
var (
	// ErrUnknownTopic: no such topic name, topic id or partition.
	ErrUnknownTopic = errors.New("unknown topic or partition")
	// ErrTopicExists: a topic of that name exists.
	ErrTopicExists = errors.New("topic exists")
	// ErrOffsetOutOfRange: below the log start or beyond the durable end.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrOutOfOrderSequence: a gap in a producer's sequence numbers.
	ErrOutOfOrderSequence = errors.New("out of order sequence number")
	// ErrProducerFenced: an epoch below the current one of that producer id.
	ErrProducerFenced = errors.New("producer epoch is fenced")
	// ErrStaleDuplicate: the batch was stored, but so long ago that its offset
	// is forgotten.
	ErrStaleDuplicate = errors.New("duplicate sequence number")
	// ErrTooLarge: a batch or a value exceeds a limit of the broker.
	ErrTooLarge = errors.New("too large")
	// ErrConflict: the version expected by a compare-and-append is not the
	// current one.
	ErrConflict = errors.New("version conflict")
	// ErrCorrupt: stored bytes fail their CRC. Never retried, never served.
	ErrCorrupt = errors.New("stored data is corrupt")
	// ErrUnavailable: the broker can't be reached, is starting or stopping, its
	// disk is full, or its journal stopped after a failed sync. Retriable.
	ErrUnavailable = errors.New("broker unavailable")
	// ErrInvalid: the request can't be meant.
	ErrInvalid = errors.New("invalid request")
	// ErrUnknownSchema: no stored record uses a schema with that content key.
	ErrUnknownSchema = errors.New("unknown schema key")
	// ErrLeaseHeld: another gateway holds the lease that appends, group offsets
	// and coordinator records need. Retriable: it ends with that gateway.
	ErrLeaseHeld = errors.New("another gateway holds the lease")
	// ErrLeaseLost: the caller's lease has ended; it must take a new one and
	// load what it knows again.
	ErrLeaseLost = errors.New("lease lost")
)
