package kapi

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// InitProducerId, versions 0 to 4.
//
//	v0  KIP-98
//	v2  flexible
//	v3  the request may carry a producer id and epoch (KIP-360)
//	v4  as v3
//
// Without a transactional id the answer is a producer id that was never given
// before, and epoch 0, whatever id the request carries. There are no
// transactions: a transactional id is refused with UNSUPPORTED_VERSION, which
// every client takes as final and shows to its user, once the id and timeout
// have been found sensible. An empty id is INVALID_REQUEST.
// Not served: v5 (an error code of transactions), v6 (two-phase commit).
func (s *Server) initProducerID(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.InitProducerIDRequest)
	resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if req.TransactionalID != nil {
		resp.ErrorCode = refuseTransactionalID(req).Code
		return resp, nil
	}
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	id, err := s.broker.NewProducerID(ctx)
	if err != nil {
		resp.ErrorCode = s.coordinatorCode(err)
		return resp, nil
	}
	resp.ProducerID, resp.ProducerEpoch = id, 0
	return resp, nil
}

// transactionTimeoutMax is Kafka's transaction.max.timeout.ms.
const transactionTimeoutMax = 15 * time.Minute

func refuseTransactionalID(req *kmsg.InitProducerIDRequest) *kerr.Error {
	timeout := time.Duration(req.TransactionTimeoutMillis) * time.Millisecond
	switch {
	case *req.TransactionalID == "":
		return kerr.InvalidRequest
	case timeout <= 0 || timeout > transactionTimeoutMax:
		return kerr.InvalidTransactionTimeout
	default:
		return kerr.UnsupportedVersion
	}
}
