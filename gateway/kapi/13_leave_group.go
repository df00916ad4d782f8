package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	groups "milena/gateway/group"
)

// LeaveGroup, versions 0 to 5.
//
//	v0  one member, whose error is that of the answer
//	v1  throttle time
//	v3  many members, each with its own error, also by instance id (KIP-345);
//	    not flexible
//	v4  flexible
//	v5  reason, ignored (KIP-800)
//
// All members of a request leave in one step, so that the others rebalance once.
// An unknown group is no error of the whole from v3 on.
func (s *Server) leaveGroup(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.LeaveGroupRequest)
	resp := req.ResponseKind().(*kmsg.LeaveGroupResponse)
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	leaving := []groups.LeaveMember{{MemberID: req.MemberID}}
	if req.Version >= 3 {
		leaving = leaving[:0]
		for _, m := range req.Members {
			leaving = append(leaving, groups.LeaveMember{MemberID: m.MemberID, InstanceID: text(m.InstanceID)})
		}
	}
	errs, err := s.groups.Leave(ctx, req.Group, leaving)
	resp.ErrorCode = s.coordinatorCode(err)
	resp.Members = []kmsg.LeaveGroupResponseMember{}
	if err != nil {
		return resp, nil
	}
	if req.Version < 3 {
		resp.ErrorCode = s.coordinatorCode(errs[0])
		return resp, nil
	}
	for i, m := range req.Members {
		rm := kmsg.NewLeaveGroupResponseMember()
		rm.MemberID, rm.InstanceID = m.MemberID, m.InstanceID
		rm.ErrorCode = s.coordinatorCode(errs[i])
		resp.Members = append(resp.Members, rm)
	}
	return resp, nil
}
