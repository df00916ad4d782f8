package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreateACLs, versions 0 to 3; see DescribeACLs. Each one is SECURITY_DISABLED.
func (s *Server) createACLs(_ context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.CreateACLsRequest)
	resp := req.ResponseKind().(*kmsg.CreateACLsResponse)
	resp.Results = make([]kmsg.CreateACLsResponseResult, len(req.Creations))
	for i := range resp.Results {
		resp.Results[i].ErrorCode = kerr.SecurityDisabled.Code
		resp.Results[i].ErrorMessage = errorMessage(kerr.SecurityDisabled.Code)
	}
	return resp, nil
}
