package backend

import (
	"errors"

	"milena/broker/api"
	"milena/gateway/backend"
)

// errorRow maps a broker's sentinel to the gateway's.
type errorRow struct{ from, to error }

// errorTable lists every sentinel of broker/api; the first row that fits
// counts.
func errorTable() []errorRow {
	return []errorRow{
		{api.ErrUnknownTopic, backend.ErrUnknownTopic},
		{api.ErrTopicExists, backend.ErrTopicExists},
		{api.ErrOffsetOutOfRange, backend.ErrOffsetOutOfRange},
		{api.ErrOutOfOrderSequence, backend.ErrOutOfOrderSequence},
		{api.ErrProducerFenced, backend.ErrProducerFenced},
		{api.ErrStaleDuplicate, backend.ErrStaleDuplicate},
		{api.ErrTooLarge, backend.ErrTooLarge},
		{api.ErrConflict, backend.ErrConflict},
		{api.ErrCorrupt, backend.ErrCorrupt},
		{api.ErrInvalid, backend.ErrInvalid},
		{api.ErrUnknownSchema, backend.ErrInvalid},
		{api.ErrLeaseHeld, backend.ErrUnavailable},
		{api.ErrLeaseLost, backend.ErrUnavailable},
		{api.ErrUnavailable, backend.ErrUnavailable},
	}
}

// adapted is an error of a broker that is one of the gateway's too.
type adapted struct{ err, is error }

func (e *adapted) Error() string { return e.err.Error() }

func (e *adapted) Unwrap() []error { return []error{e.is, e.err} }

// adaptError returns err as the gateway knows it. What no row knows, other than
// the context's, is as it was.
func adaptError(err error) error {
	if err == nil {
		return nil
	}
	for _, row := range errorTable() {
		if errors.Is(err, row.from) {
			return &adapted{err: err, is: row.to}
		}
	}
	return err
}
