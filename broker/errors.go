package broker

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// errorDomain is the domain of the ErrorInfo of a failed call.
const errorDomain = "milena.broker.v1"

// errorRow says how one sentinel travels over gRPC. The client has the way
// back, by reason; a test holds both to this table.
type errorRow struct {
	err    error
	reason brokerpb.Reason
	code   codes.Code
}

// errorTable lists every sentinel of broker/api. The order matters where an
// error wraps two of them: the first row that fits names it.
func errorTable() []errorRow {
	return []errorRow{
		{api.ErrUnknownTopic, brokerpb.Reason_UNKNOWN_TOPIC, codes.NotFound},
		{api.ErrUnknownSchema, brokerpb.Reason_UNKNOWN_SCHEMA, codes.NotFound},
		{api.ErrTopicExists, brokerpb.Reason_TOPIC_EXISTS, codes.AlreadyExists},
		{api.ErrOffsetOutOfRange, brokerpb.Reason_OFFSET_OUT_OF_RANGE, codes.OutOfRange},
		{api.ErrOutOfOrderSequence, brokerpb.Reason_OUT_OF_ORDER_SEQUENCE, codes.FailedPrecondition},
		{api.ErrProducerFenced, brokerpb.Reason_PRODUCER_FENCED, codes.FailedPrecondition},
		{api.ErrStaleDuplicate, brokerpb.Reason_STALE_DUPLICATE, codes.AlreadyExists},
		{api.ErrTooLarge, brokerpb.Reason_TOO_LARGE, codes.InvalidArgument},
		{api.ErrConflict, brokerpb.Reason_CONFLICT, codes.Aborted},
		{api.ErrCorrupt, brokerpb.Reason_CORRUPT, codes.DataLoss},
		{api.ErrInvalid, brokerpb.Reason_INVALID, codes.InvalidArgument},
		{api.ErrLeaseHeld, brokerpb.Reason_LEASE_HELD, codes.FailedPrecondition},
		{api.ErrLeaseLost, brokerpb.Reason_LEASE_LOST, codes.FailedPrecondition},
		{api.ErrUnavailable, brokerpb.Reason_UNAVAILABLE, codes.Unavailable},
	}
}

// statusError returns err as a gRPC status. An error that no row knows is a
// defect or the operating system's: its text stays here.
func statusError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return status.Error(codes.Canceled, "canceled")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return status.Error(codes.DeadlineExceeded, "deadline exceeded")
	}
	for _, row := range errorTable() {
		if !errors.Is(err, row.err) {
			continue
		}
		st, detailErr := status.New(row.code, clientText(err, row)).WithDetails(
			&errdetails.ErrorInfo{Reason: row.reason.String(), Domain: errorDomain})
		if detailErr != nil {
			return status.Error(row.code, row.err.Error())
		}
		return st.Err()
	}
	return status.Error(codes.Internal, "internal error")
}

// clientText keeps the system's own words (paths, errno) from clients.
func clientText(err error, row errorRow) string {
	switch row.reason {
	case brokerpb.Reason_UNAVAILABLE, brokerpb.Reason_CORRUPT:
		return row.err.Error()
	}
	return err.Error()
}

// failure returns the failure of one batch or partition; nil for nil.
func failure(err error) *brokerpb.Failure {
	if err == nil {
		return nil
	}
	for _, row := range errorTable() {
		if errors.Is(err, row.err) {
			return &brokerpb.Failure{Reason: row.reason, Message: clientText(err, row)}
		}
	}
	return &brokerpb.Failure{Reason: brokerpb.Reason_UNAVAILABLE, Message: "internal error"}
}

func errField(name string) error { return fmt.Errorf("%w: %s", api.ErrInvalid, name) }
