package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// ListOffsets, versions 1 to 7.
//
//	v1  one offset and timestamp per partition instead of an array
//	v2  throttle time, isolation level (KIP-98)
//	v4  leader epochs (KIP-320)
//	v6  flexible
//	v7  timestamp -3, the record with the highest timestamp (KIP-734)
//
// Timestamps: -1 the end, -2 the start, else the first record whose timestamp
// is not lower; if there is none, offset and timestamp are -1 without an error.
// A negative timestamp that the version doesn't know is UNSUPPORTED_VERSION on
// its partition, a partition named twice INVALID_REQUEST.
// Not served: v0 (arrays of offsets), v8 and later (tiered storage).
func (s *Server) listOffsets(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.ListOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
	q := offsetQueries{server: s, req: req, seen: map[partitionName]int{}}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			q.seen[partitionName{t.Topic, p.Partition}]++
		}
	}
	for _, t := range req.Topics {
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = t.Topic
		info, err := s.broker.TopicByName(ctx, t.Topic)
		for _, p := range t.Partitions {
			rp := kmsg.NewListOffsetsResponseTopicPartition()
			rp.Partition = p.Partition
			rp.Offset, rp.Timestamp, rp.LeaderEpoch = -1, -1, -1
			perr := err
			if perr == nil {
				perr = q.check(info, p)
			}
			if perr == nil {
				q.add(len(resp.Topics), len(rt.Partitions), info, p)
			}
			rp.ErrorCode = s.dataCode(perr)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	q.ask(ctx, resp)
	return resp, nil
}

type partitionName struct {
	topic string
	index int32
}

// offsetQueries gathers the partitions of one request that the broker is asked
// about, and where their answers go.
type offsetQueries struct {
	server  *Server
	req     *kmsg.ListOffsetsRequest
	seen    map[partitionName]int
	queries []backend.OffsetQuery
	places  [][2]int // topic and partition index in the answer
}

func (q *offsetQueries) check(t backend.Topic, p kmsg.ListOffsetsRequestTopicPartition) error {
	switch {
	case q.seen[partitionName{t.Name, p.Partition}] > 1:
		return kerr.InvalidRequest
	case p.Partition < 0 || p.Partition >= t.Partitions:
		return backend.ErrUnknownTopic
	case p.Timestamp < -3 || (p.Timestamp == -3 && q.req.Version < 7):
		return kerr.UnsupportedVersion
	default:
		return checkLeaderEpoch(p.CurrentLeaderEpoch)
	}
}

func (q *offsetQueries) add(topicIndex, partitionIndex int, t backend.Topic, p kmsg.ListOffsetsRequestTopicPartition) {
	isolation := backend.ReadUncommitted
	if q.req.IsolationLevel == 1 {
		isolation = backend.ReadCommitted
	}
	q.queries = append(q.queries, backend.OffsetQuery{
		Partition:   backend.Partition{Topic: t.ID, Index: p.Partition},
		Timestamp:   p.Timestamp,
		Isolation:   isolation,
		LeaderEpoch: p.CurrentLeaderEpoch,
	})
	q.places = append(q.places, [2]int{topicIndex, partitionIndex})
}

func (q *offsetQueries) ask(ctx context.Context, resp *kmsg.ListOffsetsResponse) {
	if len(q.queries) == 0 {
		return
	}
	ctx, cancel := q.server.backendContext(ctx)
	defer cancel()
	answers, err := q.server.broker.ListOffsets(ctx, q.queries)
	for i, place := range q.places {
		p := &resp.Topics[place[0]].Partitions[place[1]]
		if err != nil {
			p.ErrorCode = q.server.dataCode(err)
			continue
		}
		a := answers[i]
		if p.ErrorCode = q.server.dataCode(a.Err); p.ErrorCode != 0 {
			continue
		}
		p.Offset, p.Timestamp, p.LeaderEpoch = a.Offset, a.Timestamp, a.LeaderEpoch
		if a.Offset < 0 {
			p.Timestamp, p.LeaderEpoch = -1, -1
		}
	}
}
