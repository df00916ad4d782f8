package kapi

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func offsetDelete(t *testing.T, s *Server, group string, topics map[string][]int32) (int16, map[string]int16) {
	t.Helper()
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	for name, partitions := range topics {
		rt := kmsg.NewOffsetDeleteRequestTopic()
		rt.Topic = name
		for _, p := range partitions {
			rt.Partitions = append(rt.Partitions, kmsg.OffsetDeleteRequestTopicPartition{Partition: p})
		}
		req.Topics = append(req.Topics, rt)
	}
	resp := ask(t, s, 0, req).(*kmsg.OffsetDeleteResponse)
	roundTrip(t, resp)
	codes := map[string]int16{}
	for _, rt := range resp.Topics {
		for _, rp := range rt.Partitions {
			codes[fmt.Sprintf("%s-%d", rt.Topic, rp.Partition)] = rp.ErrorCode
		}
	}
	return resp.ErrorCode, codes
}

func TestOffsetDelete(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "t", 2, nil)
	mustCreate(t, s, "other", 1, nil)
	sub := kmsg.NewConsumerMemberMetadata()
	sub.Topics = []string{"t"}
	j := join(t, s, 7, joinRequest("running", string(sub.AppendTo(nil))))
	code(t, "sync", ask(t, s, 5, syncRequest("running", j)).(*kmsg.SyncGroupResponse).ErrorCode, 0)
	foreign := joinRequest("connect", "m")
	foreign.ProtocolType = "connect"
	join(t, s, 7, foreign)
	for _, p := range []int32{0, 1} {
		commitOne(t, s, "simple", "t", p)
	}
	member(t, s, "opaque")
	tests := []struct {
		group  string
		topics map[string][]int32
		code   int16
		want   map[string]int16
	}{
		{"absent", map[string][]int32{"t": {0}}, 69, nil},
		{"connect", map[string][]int32{"t": {0}}, 68, nil},
		{"running", map[string][]int32{"t": {0}, "other": {0}}, 0, map[string]int16{"t-0": 86, "other-0": 0}},
		{"opaque", map[string][]int32{"other": {0}}, 0, map[string]int16{"other-0": 86}},
		{"simple", map[string][]int32{"t": {0, 2, -1}, "gone": {0}}, 0, map[string]int16{"t-0": 0, "t-2": 3, "t--1": 3, "gone-0": 3}},
		{"simple", nil, 0, nil},
	}
	for _, tt := range tests {
		top, codes := offsetDelete(t, s, tt.group, tt.topics)
		code(t, tt.group, top, tt.code)
		if fmt.Sprint(codes) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", tt.group, codes, tt.want)
		}
	}
	left, err := s.broker.GroupOffsets(t.Context(), "simple")
	if err != nil || len(left) != 1 || left[0].Partition != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}
