package kapi

import (
	"fmt"
	"math"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func describeGroups(t *testing.T, s *Server, version int16, operations bool, ids ...string) []kmsg.DescribeGroupsResponseGroup {
	t.Helper()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups, req.IncludeAuthorizedOperations = ids, operations
	resp := ask(t, s, version, req).(*kmsg.DescribeGroupsResponse)
	roundTrip(t, resp)
	return resp.Groups
}

func commitOne(t *testing.T, s *Server, group, topic string, partition int32) {
	t.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.Partition, rp.Offset = partition, 5
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{rp}}}
	resp := ask(t, s, 8, req).(*kmsg.OffsetCommitResponse)
	code(t, "commit", resp.Topics[0].Partitions[0].ErrorCode, 0)
}

func TestDescribeGroups(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "t", 1, nil)
	m := member(t, s, "stable")
	joined := join(t, s, 7, joinRequest("joined", "m"))
	commitOne(t, s, "simple", "t", 0)
	for v := range int16(7) {
		got := describeGroups(t, s, v, v >= 3, "stable", "joined", "simple", "absent", "stable")
		if len(got) != 4 {
			t.Fatalf("v%d: %d groups", v, len(got))
		}
		for i, want := range []string{"Stable/consumer/range/1", "CompletingRebalance/consumer//1", "Empty///0", "Dead///0"} {
			g := got[i]
			if text := fmt.Sprintf("%s/%s/%s/%d", g.State, g.ProtocolType, g.Protocol, len(g.Members)); text != want {
				t.Errorf("v%d %s: %s, want %s", v, g.Group, text, want)
			}
			if (g.AuthorizedOperations == math.MinInt32) != (v < 3) {
				t.Errorf("v%d %s: operations %b", v, g.Group, g.AuthorizedOperations)
			}
			absent := v == 6 && g.Group == "absent"
			if (g.ErrorCode == 69) != absent || (g.ErrorMessage != nil) != absent {
				t.Errorf("v%d %s: code %d, message %v", v, g.Group, g.ErrorCode, g.ErrorMessage)
			}
		}
		x := got[0].Members[0]
		if x.MemberID != m.MemberID || x.ClientID != "test" || x.ClientHost != "/10.1.2.3" || string(x.ProtocolMetadata) != "m" || string(x.MemberAssignment) != "for "+m.MemberID {
			t.Errorf("v%d: member %+v", v, x)
		}
		if x := got[1].Members[0]; x.MemberID != joined.MemberID || len(x.ProtocolMetadata)+len(x.MemberAssignment) > 0 {
			t.Errorf("v%d: member before the assignment %+v", v, x)
		}
	}
}
