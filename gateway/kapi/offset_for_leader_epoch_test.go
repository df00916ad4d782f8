package kapi

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestOffsetForLeaderEpoch(t *testing.T) {
	s := newServer(t, Options{})
	topic := mustCreate(t, s, "t", 1, nil)
	appendAt(t, s, topic, 100, 200, 300)
	tests := []struct {
		topic          string
		partition      int32
		current, asked int32
		wantCode       int16
		wantEpoch      int32
		wantEnd        int64
	}{
		{"t", 0, -1, 0, 0, 0, 3},
		{"t", 0, 0, 0, 0, 0, 3},
		{"t", 0, -1, 500, 0, -1, -1},
		{"t", 0, -1, -1, 0, -1, -1},
		{"t", 0, 1000, 0, 75, -1, -1},
		{"t", 0, -2, 0, 74, -1, -1},
		{"t", 1, -1, 0, 3, -1, -1},
		{"t", -1, -1, 0, 3, -1, -1},
		{"absent", 0, -1, 0, 3, -1, -1},
	}
	for v := int16(2); v <= 4; v++ {
		req := kmsg.NewPtrOffsetForLeaderEpochRequest()
		for _, tt := range tests {
			rt := kmsg.NewOffsetForLeaderEpochRequestTopic()
			rt.Topic = tt.topic
			rp := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			rp.Partition, rp.CurrentLeaderEpoch, rp.LeaderEpoch = tt.partition, tt.current, tt.asked
			rt.Partitions = append(rt.Partitions, rp)
			req.Topics = append(req.Topics, rt)
		}
		resp := ask(t, s, v, req).(*kmsg.OffsetForLeaderEpochResponse)
		roundTrip(t, resp)
		for i, tt := range tests {
			p := resp.Topics[i].Partitions[0]
			got := fmt.Sprint(resp.Topics[i].Topic, p.Partition, p.ErrorCode, p.LeaderEpoch, p.EndOffset)
			if want := fmt.Sprint(tt.topic, tt.partition, tt.wantCode, tt.wantEpoch, tt.wantEnd); got != want {
				t.Errorf("v%d %+v: %s, want %s", v, tt, got, want)
			}
		}
	}
}
