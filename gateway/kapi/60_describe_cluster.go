package kapi

import (
	"context"
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Endpoint types of DescribeCluster (KIP-919).
const (
	brokerEndpoints     int8 = 1
	controllerEndpoints int8 = 2
)

// DescribeCluster, versions 0 and 1 (KIP-700).
//
//	v1  endpoint type (KIP-919)
//
// The same node, address and controller as in Metadata. Controllers have no
// endpoints here: MISMATCHED_ENDPOINT_TYPE, and UNSUPPORTED_ENDPOINT_TYPE for what
// is neither.
// Not served: v2 (fenced brokers).
func (s *Server) describeCluster(_ context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.DescribeClusterRequest)
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.EndpointType = req.EndpointType
	resp.ClusterAuthorizedOperations = math.MinInt32
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{}
	if req.Version >= 1 && req.EndpointType != brokerEndpoints {
		resp.ErrorCode = kerr.UnsupportedEndpointType.Code
		if req.EndpointType == controllerEndpoints {
			resp.ErrorCode = kerr.MismatchedEndpointType.Code
		}
		resp.ErrorMessage = errorMessage(resp.ErrorCode)
		return resp, nil
	}
	resp.ClusterID, resp.ControllerID = s.opts.ClusterID, s.opts.NodeID
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	b := kmsg.NewDescribeClusterResponseBroker()
	b.NodeID, b.Host, b.Port = s.opts.NodeID, r.Conn.AdvertisedHost, r.Conn.AdvertisedPort
	resp.Brokers = append(resp.Brokers, b)
	return resp, nil
}
