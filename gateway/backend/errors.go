package backend

import "errors"

// Errors of a Broker. Implementations wrap them; compare with errors.Is.
// gateway/kapi/errors.go maps each to a Kafka error code.
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
	// ErrStaleDuplicate: a sequence older than the window of remembered
	// batches; the data is stored, its offset is forgotten.
	ErrStaleDuplicate = errors.New("duplicate sequence number")
	// ErrTooLarge: the batch exceeds the topic's or the broker's limit.
	ErrTooLarge = errors.New("batch too large")
	// ErrConflict: the version expected by a compare-and-append is not the
	// current one.
	ErrConflict = errors.New("version conflict")
	// ErrCorrupt: stored bytes fail their CRC. Never retried, never served.
	ErrCorrupt = errors.New("stored data is corrupt")
	// ErrUnavailable: the broker can't be reached, is stopping, its disk is
	// full, or its journal stopped after a failed sync. Retriable.
	ErrUnavailable = errors.New("broker unavailable")
	// ErrInvalid: the request can't be meant (no partitions, bad name, more
	// partitions than allowed).
	ErrInvalid = errors.New("invalid request")
)
