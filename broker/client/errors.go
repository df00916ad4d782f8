package client

import (
	"context"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// sentinel returns the error that a reason stands for; nil if this build knows
// no such reason.
func sentinel(r brokerpb.Reason) error {
	switch r {
	case brokerpb.Reason_UNKNOWN_TOPIC:
		return api.ErrUnknownTopic
	case brokerpb.Reason_TOPIC_EXISTS:
		return api.ErrTopicExists
	case brokerpb.Reason_OFFSET_OUT_OF_RANGE:
		return api.ErrOffsetOutOfRange
	case brokerpb.Reason_OUT_OF_ORDER_SEQUENCE:
		return api.ErrOutOfOrderSequence
	case brokerpb.Reason_PRODUCER_FENCED:
		return api.ErrProducerFenced
	case brokerpb.Reason_STALE_DUPLICATE:
		return api.ErrStaleDuplicate
	case brokerpb.Reason_TOO_LARGE:
		return api.ErrTooLarge
	case brokerpb.Reason_CONFLICT:
		return api.ErrConflict
	case brokerpb.Reason_CORRUPT:
		return api.ErrCorrupt
	case brokerpb.Reason_UNAVAILABLE:
		return api.ErrUnavailable
	case brokerpb.Reason_INVALID:
		return api.ErrInvalid
	case brokerpb.Reason_UNKNOWN_SCHEMA:
		return api.ErrUnknownSchema
	case brokerpb.Reason_LEASE_HELD:
		return api.ErrLeaseHeld
	case brokerpb.Reason_LEASE_LOST:
		return api.ErrLeaseLost
	}
	return nil
}

// remoteError is what the broker said, with the sentinel that it means.
type remoteError struct {
	sentinel error
	message  string
}

func (e *remoteError) Error() string { return e.message }

func (e *remoteError) Unwrap() error { return e.sentinel }

// failureError returns the error of one batch or partition; nil for nil.
func failureError(f *brokerpb.Failure) error {
	if f == nil {
		return nil
	}
	err := sentinel(f.Reason)
	if err == nil {
		err = api.ErrUnavailable
	}
	return &remoteError{sentinel: err, message: f.Message}
}

// callError returns what a failed call means. What says nothing else is
// ErrUnavailable: the outcome is unknown.
func callError(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", operation, ctx.Err())
	}
	st := status.Convert(err)
	for _, d := range st.Details() {
		info, ok := d.(*errdetails.ErrorInfo)
		if !ok {
			continue
		}
		if s := sentinel(brokerpb.Reason(brokerpb.Reason_value[info.GetReason()])); s != nil {
			return fmt.Errorf("%s: %w", operation, &remoteError{sentinel: s, message: st.Message()})
		}
	}
	switch st.Code() {
	case codes.DeadlineExceeded:
		// The caller's own, which reached the broker: its clock was first.
		return fmt.Errorf("%s: %w", operation, context.DeadlineExceeded)
	case codes.ResourceExhausted:
		return fmt.Errorf("%s: %w: %w", operation, api.ErrTooLarge, err)
	case codes.InvalidArgument:
		return fmt.Errorf("%s: %w: %w", operation, api.ErrInvalid, err)
	}
	return fmt.Errorf("%s: %w: %w", operation, api.ErrUnavailable, err)
}
