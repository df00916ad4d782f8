package kapi

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestNoReassignments(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "t", 1, nil)
	for _, topics := range [][]kmsg.ListPartitionReassignmentsRequestTopic{nil, {}, {{Topic: "t", Partitions: []int32{0}}, {Topic: "absent"}}} {
		req := kmsg.NewPtrListPartitionReassignmentsRequest()
		req.Topics = topics
		resp := ask(t, s, 0, req).(*kmsg.ListPartitionReassignmentsResponse)
		roundTrip(t, resp)
		code(t, "list", resp.ErrorCode, 0)
		if len(resp.Topics) > 0 {
			t.Errorf("%+v", resp.Topics)
		}
	}
}
