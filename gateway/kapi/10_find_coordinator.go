package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// FindCoordinator, versions 0 to 5.
//
//	v0  group id only
//	v1  key type (0 group, 1 transactional id), throttle time, error message
//	v3  flexible
//	v4  several keys at once (KIP-699)
//	v5  as v4
//
// This node coordinates everything; it is named as in Metadata. Another key
// type is INVALID_REQUEST. An empty group id gets an answer too.
// Not served: v6 (share groups).
func (s *Server) findCoordinator(_ context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.FindCoordinatorRequest)
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	const groupKey, transactionKey = 0, 1
	var code int16
	if req.CoordinatorType != groupKey && req.CoordinatorType != transactionKey {
		code = kerr.InvalidRequest.Code
	}
	node, host, port := s.opts.NodeID, r.Conn.AdvertisedHost, r.Conn.AdvertisedPort
	if code != 0 {
		node, host, port = -1, "", -1
	}
	if req.Version < 4 {
		resp.ErrorCode, resp.ErrorMessage = code, errorMessage(code)
		resp.NodeID, resp.Host, resp.Port = node, host, port
		return resp, nil
	}
	resp.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{}
	for _, key := range req.CoordinatorKeys {
		c := kmsg.NewFindCoordinatorResponseCoordinator()
		c.Key, c.NodeID, c.Host, c.Port = key, node, host, port
		c.ErrorCode, c.ErrorMessage = code, errorMessage(code)
		resp.Coordinators = append(resp.Coordinators, c)
	}
	return resp, nil
}
