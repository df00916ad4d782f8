package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteGroups, versions 0 to 2.
//
//	v1  like v0
//	v2  flexible
//
// A group is deleted with its offsets, durably. With members it is
// NON_EMPTY_GROUP, also during a rebalance. A group named twice is answered once.
// Not served: v3 (messages).
func (s *Server) deleteGroups(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.DeleteGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	resp.Groups = []kmsg.DeleteGroupsResponseGroup{}
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	seen := map[string]bool{}
	for _, id := range req.Groups {
		if seen[id] {
			continue
		}
		seen[id] = true
		rg := kmsg.NewDeleteGroupsResponseGroup()
		rg.Group = id
		if id == "" {
			rg.ErrorCode = kerr.InvalidGroupID.Code
		} else {
			rg.ErrorCode = s.coordinatorCode(s.groups.Delete(ctx, id))
		}
		resp.Groups = append(resp.Groups, rg)
	}
	return resp, nil
}
