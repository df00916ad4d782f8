package kapi

import (
	"math"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestDescribeCluster(t *testing.T) {
	s := newServer(t, Options{NodeID: 7, ClusterID: "c"})
	for v := range int16(2) {
		for _, operations := range []bool{false, true} {
			req := kmsg.NewPtrDescribeClusterRequest()
			req.IncludeClusterAuthorizedOperations = operations
			resp := ask(t, s, v, req).(*kmsg.DescribeClusterResponse)
			roundTrip(t, resp)
			code(t, "describe", resp.ErrorCode, 0)
			if resp.ClusterID != "c" || resp.ControllerID != 7 || len(resp.Brokers) != 1 {
				t.Fatalf("v%d: %+v", v, resp)
			}
			if b := resp.Brokers[0]; b.NodeID != 7 || b.Host != "gateway.example" || b.Port != 9093 || b.Rack != nil {
				t.Errorf("v%d: broker %+v", v, b)
			}
			if (resp.ClusterAuthorizedOperations == math.MinInt32) == operations {
				t.Errorf("v%d asked %v: operations %b", v, operations, resp.ClusterAuthorizedOperations)
			}
		}
	}
	for kind, want := range map[int8]int16{0: 115, 1: 0, 2: 114, 3: 115, -1: 115} {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.EndpointType = kind
		resp := ask(t, s, 1, req).(*kmsg.DescribeClusterResponse)
		roundTrip(t, resp)
		code(t, "endpoints", resp.ErrorCode, want)
		if (want == 0) != (len(resp.Brokers) == 1) || (want == 0) != (resp.ErrorMessage == nil) {
			t.Errorf("type %d: %+v", kind, resp)
		}
	}
}
