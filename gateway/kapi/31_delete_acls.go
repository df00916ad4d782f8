package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteACLs, versions 0 to 3; see DescribeACLs. Each filter is SECURITY_DISABLED.
func (s *Server) deleteACLs(_ context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.DeleteACLsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteACLsResponse)
	resp.Results = make([]kmsg.DeleteACLsResponseResult, len(req.Filters))
	for i := range resp.Results {
		resp.Results[i].ErrorCode = kerr.SecurityDisabled.Code
		resp.Results[i].ErrorMessage = errorMessage(kerr.SecurityDisabled.Code)
		resp.Results[i].MatchingACLs = []kmsg.DeleteACLsResponseResultMatchingACL{}
	}
	return resp, nil
}
