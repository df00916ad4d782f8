package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeACLs, versions 0 to 3.
//
//	v1  pattern types (KIP-290)
//	v2  flexible
//	v3  users as resources (KIP-373)
//
// There is no authorizer: SECURITY_DISABLED, as consoles know it.
func (s *Server) describeACLs(_ context.Context, r *Request) (kmsg.Response, error) {
	resp := r.Msg.(*kmsg.DescribeACLsRequest).ResponseKind().(*kmsg.DescribeACLsResponse)
	resp.ErrorCode = kerr.SecurityDisabled.Code
	resp.ErrorMessage = errorMessage(resp.ErrorCode)
	resp.Resources = []kmsg.DescribeACLsResponseResource{}
	return resp, nil
}
