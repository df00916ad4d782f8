package envelope

import (
	"errors"
	"fmt"
)

// Sentinels of a *Rejected.
var (
	// ErrInvalidRecord: a record without a key on a compacted topic, or one that
	// is no valid envelope on a strict topic (INVALID_RECORD, 87).
	ErrInvalidRecord = errors.New("invalid record")
	// ErrInvalidTimestamp: a timestamp out of the topic's range
	// (INVALID_TIMESTAMP, 32).
	ErrInvalidTimestamp = errors.New("invalid timestamp")
)

// RejectedRecord is one record for which a batch is refused. Message is for the
// producer.
type RejectedRecord struct {
	Index   int32
	Message string
}

// Rejected says why a whole batch is refused: nothing of it is stored. It
// unwraps to ErrInvalidRecord or ErrInvalidTimestamp.
type Rejected struct {
	// Records are the records at fault, in order, at most Options.RejectsMax.
	Records []RejectedRecord
	// Count is how many there are.
	Count int

	topic string
	kind  refusal
}

// refusal is the kind of a reject in the order in which Kafka checks: keys, then
// timestamps, then what is ours. A batch is refused for the first kind only.
type refusal uint8

const (
	refusedKey refusal = iota + 1
	refusedTimestamp
	refusedContent
)

// Error is a summary for the producer.
func (r *Rejected) Error() string {
	var what string
	switch r.kind {
	case refusedKey:
		what = "without the key that a compacted topic needs"
	case refusedTimestamp:
		what = "with a timestamp out of the topic's range"
	default:
		what = "that don't conform to their schema"
	}
	if len(r.Records) == 0 {
		return fmt.Sprintf("topic %s: %d records %s", r.topic, r.Count, what)
	}
	return fmt.Sprintf("topic %s: %d records %s, first record %d: %s", r.topic, r.Count, what, r.Records[0].Index, r.Records[0].Message)
}

// Unwrap returns the sentinel.
func (r *Rejected) Unwrap() error {
	if r.kind == refusedTimestamp {
		return ErrInvalidTimestamp
	}
	return ErrInvalidRecord
}

// refuse notes a record; message is made only if it is wanted. A record counts
// once, however many of its sides are at fault.
func (s *storing) refuse(kind refusal, index int32, message func() string) {
	r := &s.refused
	switch {
	case r.kind != 0 && kind > r.kind:
		return
	case r.kind != kind:
		*r = Rejected{topic: r.topic, kind: kind}
	}
	if n := len(r.Records); n > 0 && r.Records[n-1].Index == index {
		r.Records[n-1].Message += "; " + message()
		return
	}
	r.Count++
	if len(r.Records) < s.engine.opts.RejectsMax {
		r.Records = append(r.Records, RejectedRecord{Index: index, Message: message()})
	}
}
