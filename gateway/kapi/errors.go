package kapi

import (
	"context"
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/gateway/envelope"
	"milena/serde/schema"
)

// errorRow maps an error to Kafka codes by who asks, since the same trouble
// needs different codes to be retried: Java's consumer takes any code that it
// doesn't expect of Fetch for a bug of its own, and a group client only looks
// for another coordinator on the coordinator codes.
type errorRow struct {
	err error
	// data: Produce, Fetch, ListOffsets.
	data *kerr.Error
	// coordinator: group calls, InitProducerId.
	coordinator *kerr.Error
	// admin: topics, configs.
	admin *kerr.Error
}

// errorTable is tried from the top with errors.Is. Retriable or not is kerr's
// knowledge.
func errorTable() []errorRow {
	return []errorRow{
		// What a producer is told about its batch; nobody else meets these.
		{batch.ErrCorrupt, kerr.CorruptMessage, kerr.CorruptMessage, kerr.CorruptMessage},
		{batch.ErrInvalid, kerr.InvalidRecord, kerr.InvalidRecord, kerr.InvalidRecord},
		{batch.ErrUnsupportedCompression, kerr.UnsupportedCompressionType, kerr.UnsupportedCompressionType, kerr.UnsupportedCompressionType},
		{batch.ErrTooLarge, kerr.MessageTooLarge, kerr.MessageTooLarge, kerr.MessageTooLarge},
		{envelope.ErrInvalidRecord, kerr.InvalidRecord, kerr.InvalidRecord, kerr.InvalidRecord},
		{envelope.ErrInvalidTimestamp, kerr.InvalidTimestamp, kerr.InvalidTimestamp, kerr.InvalidTimestamp},
		// Retriable, and clients keep their metadata, as it isn't to blame.
		{schema.ErrUnavailable, kerr.NotEnoughReplicas, kerr.CoordinatorNotAvailable, kerr.RequestTimedOut},
		{backend.ErrUnknownTopic, kerr.UnknownTopicOrPartition, kerr.UnknownTopicOrPartition, kerr.UnknownTopicOrPartition},
		{backend.ErrTopicExists, kerr.TopicAlreadyExists, kerr.TopicAlreadyExists, kerr.TopicAlreadyExists},
		{backend.ErrOffsetOutOfRange, kerr.OffsetOutOfRange, kerr.OffsetOutOfRange, kerr.OffsetOutOfRange},
		{backend.ErrOutOfOrderSequence, kerr.OutOfOrderSequenceNumber, kerr.OutOfOrderSequenceNumber, kerr.OutOfOrderSequenceNumber},
		{backend.ErrProducerFenced, kerr.InvalidProducerEpoch, kerr.InvalidProducerEpoch, kerr.InvalidProducerEpoch},
		{backend.ErrStaleDuplicate, kerr.DuplicateSequenceNumber, kerr.DuplicateSequenceNumber, kerr.DuplicateSequenceNumber},
		{backend.ErrTooLarge, kerr.MessageTooLarge, kerr.MessageTooLarge, kerr.MessageTooLarge},
		{backend.ErrConflict, kerr.NotLeaderForPartition, kerr.NotCoordinator, kerr.NotController},
		{backend.ErrCorrupt, kerr.KafkaStorageError, kerr.CoordinatorNotAvailable, kerr.KafkaStorageError},
		{backend.ErrUnavailable, kerr.KafkaStorageError, kerr.CoordinatorNotAvailable, kerr.RequestTimedOut},
		{backend.ErrInvalid, kerr.InvalidRequest, kerr.InvalidRequest, kerr.InvalidRequest},
		{context.DeadlineExceeded, kerr.KafkaStorageError, kerr.CoordinatorNotAvailable, kerr.RequestTimedOut},
		{context.Canceled, kerr.KafkaStorageError, kerr.NotCoordinator, kerr.RequestTimedOut},
	}
}

// lookupError finds the row; ok is false for an error that no row names, which
// is a defect of ours.
func lookupError(err error) (errorRow, bool) {
	for _, row := range errorTable() {
		if errors.Is(err, row.err) {
			return row, true
		}
	}
	u := kerr.UnknownServerError
	return errorRow{err, u, u, u}, false
}

// dataCode is the Kafka code of err for Produce, Fetch and ListOffsets; 0 for
// nil. What the table doesn't know is UNKNOWN_SERVER_ERROR and logged.
func (s *Server) dataCode(err error) int16 {
	return s.code(err, func(r errorRow) *kerr.Error { return r.data })
}

// produceCode is the Kafka code of err for Produce: dataCode's but for a time that
// is over, after which a batch may be stored or not. Consumers don't expect that
// code of Fetch.
func (s *Server) produceCode(err error) int16 {
	return s.code(err, func(r errorRow) *kerr.Error {
		if errors.Is(r.err, context.DeadlineExceeded) {
			return kerr.RequestTimedOut
		}
		return r.data
	})
}

// coordinatorCode is the Kafka code of err for calls to a coordinator.
func (s *Server) coordinatorCode(err error) int16 {
	return s.code(err, func(r errorRow) *kerr.Error { return r.coordinator })
}

// adminCode is the Kafka code of err for topics and configs.
func (s *Server) adminCode(err error) int16 {
	return s.code(err, func(r errorRow) *kerr.Error { return r.admin })
}

func (s *Server) code(err error, column func(errorRow) *kerr.Error) int16 {
	if err == nil {
		return 0
	}
	// An error may carry its code itself (validation in a handler).
	var own *kerr.Error
	if errors.As(err, &own) {
		return own.Code
	}
	row, ok := lookupError(err)
	if !ok {
		s.log.Error("error without a kafka code", "err", err)
	}
	return column(row).Code
}

// registryMessage is what a client may read about a registry that wasn't asked or
// didn't answer: our own words, which end with the sentinel's. What stands behind
// it are the system's, with addresses.
func registryMessage(err error) string {
	sentinel := schema.ErrUnavailable.Error()
	own, _, ok := strings.Cut(err.Error(), sentinel)
	if !ok {
		return sentinel // err words it otherwise
	}
	return own + sentinel
}

// errorMessage is what a client may read about err: the code's own text, never
// internals.
func errorMessage(code int16) *string {
	if code == 0 {
		return nil
	}
	text := kerr.TypedErrorForCode(code).Description
	return &text
}
