package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// OffsetDelete, version 0 (KIP-496).
//
// Offsets of topics that a member is subscribed to stay, with
// GROUP_SUBSCRIBED_TO_TOPIC; other topics may go at any time. An offset that
// isn't there is deleted with success. An error of the whole answer goes without
// topics.
func (s *Server) offsetDelete(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.OffsetDeleteRequest)
	resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	topics := []kmsg.OffsetDeleteResponseTopic{}
	var offsets []backend.GroupOffset
	var places [][2]int // topic and partition index in the answer
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetDeleteResponseTopic()
		rt.Topic = t.Topic
		info, err := s.broker.TopicByName(ctx, t.Topic)
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetDeleteResponseTopicPartition()
			rp.Partition = p.Partition
			switch {
			case err != nil:
				rp.ErrorCode = s.coordinatorCode(err)
			case p.Partition < 0 || p.Partition >= info.Partitions:
				rp.ErrorCode = kerr.UnknownTopicOrPartition.Code
			default:
				places = append(places, [2]int{len(topics), len(rt.Partitions)})
				offsets = append(offsets, backend.GroupOffset{Topic: t.Topic, TopicID: info.ID, Partition: p.Partition})
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		topics = append(topics, rt)
	}
	errs, err := s.groups.DeleteOffsets(ctx, req.Group, offsets)
	if err != nil {
		resp.ErrorCode = s.coordinatorCode(err)
		return resp, nil
	}
	resp.Topics = topics
	for i, at := range places {
		resp.Topics[at[0]].Partitions[at[1]].ErrorCode = s.coordinatorCode(errs[i])
	}
	return resp, nil
}
