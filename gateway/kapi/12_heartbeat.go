package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	groups "milena/gateway/group"
)

// Heartbeat, versions 0 to 4.
//
//	v1  throttle time
//	v3  group instance id (KIP-345)
//	v4  flexible
//
// REBALANCE_IN_PROGRESS only while members join; not while they wait for their
// assignment, which would make them join again for nothing.
func (s *Server) heartbeat(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.HeartbeatRequest)
	resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	resp.ErrorCode = s.coordinatorCode(s.groups.Heartbeat(ctx, req.Group, groups.MemberRequest{
		MemberID: req.MemberID, InstanceID: text(req.InstanceID), Generation: req.Generation,
	}))
	return resp, nil
}
