package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	groups "milena/gateway/group"
)

// SyncGroup, versions 0 to 5.
//
//	v1  throttle time
//	v3  group instance id (KIP-345)
//	v4  flexible
//	v5  protocol type and name, compared with the group's (KIP-559); a request
//	    without them is INCONSISTENT_GROUP_PROTOCOL before anything else
//
// A long poll: followers wait for the leader's assignment. Assignments are opaque,
// and empty ones are legal.
func (s *Server) syncGroup(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.SyncGroupRequest)
	resp := req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.MemberAssignment = []byte{}
	hasProtocol := req.Version >= 5
	if hasProtocol && (req.ProtocolType == nil || req.Protocol == nil) {
		resp.ErrorCode = kerr.InconsistentGroupProtocol.Code
		return resp, nil
	}
	sync := groups.SyncRequest{
		MemberID:     req.MemberID,
		InstanceID:   text(req.InstanceID),
		Generation:   req.Generation,
		ProtocolType: text(req.ProtocolType),
		Protocol:     text(req.Protocol),
		HasProtocol:  hasProtocol,
	}
	for _, a := range req.GroupAssignment {
		sync.Assignments = append(sync.Assignments, groups.Assignment{MemberID: a.MemberID, Bytes: a.MemberAssignment})
	}
	reply := s.groups.Sync(ctx, req.Group, sync, r.Park)
	resp.ErrorCode = s.coordinatorCode(reply.Err)
	if reply.Err != nil {
		return resp, nil
	}
	resp.ProtocolType, resp.Protocol = &reply.ProtocolType, &reply.Protocol
	if reply.Assignment != nil {
		resp.MemberAssignment = reply.Assignment
	}
	return resp, nil
}
