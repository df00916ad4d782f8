package kapi

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	groups "milena/gateway/group"
)

// offsetMetadataBytesMax is Kafka's offset.metadata.max.bytes.
const offsetMetadataBytesMax = 4096

// OffsetCommit, versions 2 to 9.
//
//	v2  retention time, ignored: offsets live with their group; gone in v5
//	v3  throttle time
//	v6  leader epoch (KIP-320)
//	v7  group instance id (KIP-345)
//	v8  flexible
//	v9  GROUP_ID_NOT_FOUND for a generation of a group that doesn't exist, which
//	    is ILLEGAL_GENERATION before (KIP-848)
//
// Unknown topics are sorted out before the group is asked, as in Kafka: a fenced
// member that commits to one sees UNKNOWN_TOPIC_OR_PARTITION. Negative offsets and
// the empty group id are accepted.
// Not served: v0 and v1 (gone in Kafka 4), v10 (topic ids).
func (s *Server) offsetCommit(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.OffsetCommitRequest)
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	now := s.now().UnixMilli()
	var offsets []backend.GroupOffset
	var places [][2]int // topic and partition index in the answer
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic = t.Topic
		info, topicErr := s.broker.TopicByName(ctx, t.Topic)
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition = p.Partition
			switch {
			case topicErr != nil:
				rp.ErrorCode = s.coordinatorCode(topicErr)
			case p.Partition < 0 || p.Partition >= info.Partitions:
				rp.ErrorCode = kerr.UnknownTopicOrPartition.Code
			default:
				places = append(places, [2]int{len(resp.Topics), len(rt.Partitions)})
				offsets = append(offsets, backend.GroupOffset{
					Topic: t.Topic, TopicID: info.ID, Partition: p.Partition,
					Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: text(p.Metadata),
					CommitTime: now, ExpireTime: -1,
				})
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if len(offsets) == 0 {
		return resp, nil
	}
	member := groups.MemberRequest{MemberID: req.MemberID, InstanceID: text(req.InstanceID), Generation: req.Generation}
	codes := s.commit(ctx, req, member, offsets)
	for i, at := range places {
		resp.Topics[at[0]].Partitions[at[1]].ErrorCode = codes[i]
	}
	return resp, nil
}

// commit stores the offsets whose metadata is short enough and returns the code of
// each. The member is checked first: its error goes before that of the metadata.
func (s *Server) commit(ctx context.Context, req *kmsg.OffsetCommitRequest, m groups.MemberRequest, offsets []backend.GroupOffset) []int16 {
	codes := make([]int16, len(offsets))
	fit := make([]backend.GroupOffset, 0, len(offsets))
	for i, o := range offsets {
		if len(o.Metadata) > offsetMetadataBytesMax {
			codes[i] = kerr.OffsetMetadataTooLarge.Code
			continue
		}
		fit = append(fit, o)
	}
	err := s.groups.Commit(ctx, req.Group, m, fit)
	if err == nil {
		return codes
	}
	if errors.Is(err, kerr.GroupIDNotFound) && req.Version < 9 {
		err = kerr.IllegalGeneration
	}
	code := s.coordinatorCode(err)
	for i := range codes {
		codes[i] = code
	}
	return codes
}
