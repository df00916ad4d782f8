package kapi

import (
	"cmp"
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// topicPartitionsMax is the most partitions in one answer: Kafka's
// max.request.partition.size.limit.
const topicPartitionsMax = 2000

// DescribeTopicPartitions, version 0 (KIP-966).
//
// Topics by name, or all topics, from the cursor on; the answer's cursor says
// where to go on if the limit cut it off. A topic without partitions to show, since
// it is unknown, counts as one, so that there is a bound for any question. A cursor
// with a negative partition is INVALID_REQUEST and closes the connection, as there
// is no field for it.
func (s *Server) describeTopicPartitions(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.DescribeTopicPartitionsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	resp.Topics = []kmsg.DescribeTopicPartitionsResponseTopic{}
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	from := kmsg.NewDescribeTopicPartitionsRequestCursor()
	if req.Cursor != nil {
		from = *req.Cursor
	}
	if from.Partition < 0 {
		return nil, refuse(kerr.InvalidRequest, "cursor at partition %d", from.Partition)
	}
	names, err := s.topicsFrom(ctx, req, from.Topic)
	if err != nil {
		return nil, err
	}
	left := min(max(req.ResponsePartitionLimit, 1), topicPartitionsMax)
	for _, name := range names {
		first := int32(0)
		if name == from.Topic {
			first = from.Partition
		}
		if left == 0 {
			resp.NextCursor = nextCursor(name, first)
			break
		}
		rt, next := s.topicPartitions(ctx, name, first, left)
		resp.Topics = append(resp.Topics, rt)
		if next >= 0 {
			resp.NextCursor = nextCursor(name, next)
			break
		}
		left -= max(int32(len(rt.Partitions)), 1)
	}
	return resp, nil
}

// topicsFrom are the names asked for, each once and sorted, from one on.
func (s *Server) topicsFrom(ctx context.Context, req *kmsg.DescribeTopicPartitionsRequest, from string) ([]string, error) {
	var names []string
	for _, t := range req.Topics {
		names = append(names, t.Topic)
	}
	if len(names) == 0 {
		topics, err := s.broker.ListTopics(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range topics {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	at, _ := slices.BinarySearchFunc(names, from, cmp.Compare[string])
	return names[at:], nil
}

func nextCursor(topic string, partition int32) *kmsg.DescribeTopicPartitionsResponseNextCursor {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = topic, partition
	return &c
}

// topicPartitions describes at most so many partitions of a topic from one on, and
// returns the next one, -1 if there is none.
func (s *Server) topicPartitions(ctx context.Context, name string, first, limit int32) (kmsg.DescribeTopicPartitionsResponseTopic, int32) {
	rt := kmsg.NewDescribeTopicPartitionsResponseTopic()
	rt.Topic, rt.AuthorizedOperations = kmsg.StringPtr(name), topicOperations
	rt.Partitions = []kmsg.DescribeTopicPartitionsResponseTopicPartition{}
	var t backend.Topic
	err := checkTopicName(name)
	if err == nil {
		t, err = s.broker.TopicByName(ctx, name)
	}
	if err != nil {
		rt.ErrorCode = s.adminCode(err)
		return rt, -1
	}
	rt.TopicID = t.ID
	nodes := []int32{s.opts.NodeID}
	for i := first; i < t.Partitions; i++ {
		if i-first == limit {
			return rt, i
		}
		p := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		p.Partition, p.LeaderID, p.LeaderEpoch = i, s.opts.NodeID, leaderEpoch
		p.Replicas, p.ISR, p.OfflineReplicas = nodes, nodes, []int32{}
		p.EligibleLeaderReplicas, p.LastKnownELR = []int32{}, []int32{}
		rt.Partitions = append(rt.Partitions, p)
	}
	return rt, -1
}
