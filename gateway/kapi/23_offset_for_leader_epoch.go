package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// OffsetForLeaderEpoch, versions 2 to 4 (KIP-320).
//
//	v2  the epoch that the client believes in, throttle time
//	v3  replica id, of followers: ignored
//	v4  flexible
//
// There is one leader epoch, which ends where the log does. Another one is
// answered with epoch and offset -1 and no error, which clients take for nothing
// to compare with.
// Not served: v0 and v1, of followers.
func (s *Server) offsetForLeaderEpoch(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.OffsetForLeaderEpochRequest)
	resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	resp.Topics = []kmsg.OffsetForLeaderEpochResponseTopic{}
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	var queries []backend.OffsetQuery
	var places [][2]int // topic and partition index in the answer
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rt.Topic = t.Topic
		info, topicErr := s.broker.TopicByName(ctx, t.Topic)
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			rp.Partition, rp.LeaderEpoch, rp.EndOffset = p.Partition, -1, -1
			err := topicErr
			if err == nil && (p.Partition < 0 || p.Partition >= info.Partitions) {
				err = backend.ErrUnknownTopic
			}
			if err == nil {
				err = checkLeaderEpoch(p.CurrentLeaderEpoch)
			}
			if rp.ErrorCode = s.dataCode(err); err == nil && p.LeaderEpoch == leaderEpoch {
				queries = append(queries, backend.OffsetQuery{
					Partition: backend.Partition{Topic: info.ID, Index: p.Partition}, Timestamp: -1, LeaderEpoch: -1})
				places = append(places, [2]int{len(resp.Topics), len(rt.Partitions)})
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if len(queries) == 0 {
		return resp, nil
	}
	answers, err := s.broker.ListOffsets(ctx, queries)
	for i, at := range places {
		rp := &resp.Topics[at[0]].Partitions[at[1]]
		partErr := err
		if partErr == nil {
			partErr = answers[i].Err
		}
		if rp.ErrorCode = s.dataCode(partErr); partErr == nil {
			rp.LeaderEpoch, rp.EndOffset = leaderEpoch, answers[i].Offset
		}
	}
	return resp, nil
}
