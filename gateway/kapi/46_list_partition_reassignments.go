package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListPartitionReassignments, version 0 (KIP-455).
//
// There are no replicas to move, so that none is ever being moved, whatever is
// asked about: kafka-topics asks before it describes a topic.
func (s *Server) listPartitionReassignments(_ context.Context, r *Request) (kmsg.Response, error) {
	resp := r.Msg.(*kmsg.ListPartitionReassignmentsRequest).ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	resp.Topics = []kmsg.ListPartitionReassignmentsResponseTopic{}
	return resp, nil
}
