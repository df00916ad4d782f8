package kapi

import (
	"cmp"
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// OffsetFetch, versions 1 to 9.
//
//	v2  null topics mean all; an error of the whole answer
//	v3  throttle time
//	v5  leader epoch (KIP-320)
//	v6  flexible
//	v7  require stable: nothing to wait for without transactions (KIP-447)
//	v8  many groups, each with its own error (KIP-709)
//	v9  member id and epoch, for groups of the newer protocol only: ignored
//
// An unknown group, topic or partition is no error but offset -1: each new group
// begins with this question, and an error stops clients. All offsets of a group
// named twice are answered once, so that a small request can't ask for a huge
// answer.
// Not served: v0 (offsets in ZooKeeper), v10 (topic ids).
func (s *Server) offsetFetch(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.OffsetFetchRequest)
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	q := offsetFetch{server: s, groups: map[string]*storedOffsets{}}
	if req.Version >= 8 {
		resp.Groups = []kmsg.OffsetFetchResponseGroup{}
		all := map[string]bool{}
		for _, g := range req.Groups {
			if g.Topics == nil && all[g.Group] {
				continue
			}
			all[g.Group] = all[g.Group] || g.Topics == nil
			var asked []askedOffsets
			for _, t := range g.Topics {
				asked = append(asked, askedOffsets{t.Topic, t.Partitions})
			}
			rg := kmsg.NewOffsetFetchResponseGroup()
			rg.Group = g.Group
			rg.Topics, rg.ErrorCode = q.answer(ctx, g.Group, asked, g.Topics == nil)
			resp.Groups = append(resp.Groups, rg)
		}
		return resp, nil
	}
	var asked []askedOffsets
	for _, t := range req.Topics {
		asked = append(asked, askedOffsets{t.Topic, t.Partitions})
	}
	topics, code := q.answer(ctx, req.Group, asked, req.Topics == nil)
	resp.ErrorCode = code
	resp.Topics = []kmsg.OffsetFetchResponseTopic{}
	for _, t := range topics {
		rt := kmsg.NewOffsetFetchResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetFetchResponseTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch = p.Partition, p.Offset, p.LeaderEpoch
			rp.Metadata, rp.ErrorCode = p.Metadata, p.ErrorCode
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}

// askedOffsets is one topic of a request.
type askedOffsets struct {
	topic      string
	partitions []int32
}

// offsetFetch is one request at work: each group is read once, however often it
// is named.
type offsetFetch struct {
	server *Server
	groups map[string]*storedOffsets
}

// storedOffsets are a group's offsets, or why they can't be had.
type storedOffsets struct {
	all    []backend.GroupOffset
	byName map[partitionName]backend.GroupOffset
	code   int16
}

func (q *offsetFetch) stored(ctx context.Context, group string) *storedOffsets {
	if known := q.groups[group]; known != nil {
		return known
	}
	all, err := q.server.broker.GroupOffsets(ctx, group)
	out := &storedOffsets{all: all, byName: make(map[partitionName]backend.GroupOffset, len(all)), code: q.server.coordinatorCode(err)}
	for _, o := range all {
		out.byName[partitionName{o.Topic, o.Partition}] = o
	}
	q.groups[group] = out
	return out
}

// answer answers for one group in the layout of v8, which holds all others. An
// error is also that of each partition asked about, the only place for it in v1.
func (q *offsetFetch) answer(ctx context.Context, group string, asked []askedOffsets, all bool) ([]kmsg.OffsetFetchResponseGroupTopic, int16) {
	stored := q.stored(ctx, group)
	if all {
		return allOffsets(stored.all), stored.code
	}
	topics := make([]kmsg.OffsetFetchResponseGroupTopic, 0, len(asked))
	for _, a := range asked {
		rt := kmsg.NewOffsetFetchResponseGroupTopic()
		rt.Topic = a.topic
		for _, index := range a.partitions {
			o, ok := stored.byName[partitionName{a.topic, index}]
			if !ok {
				o = backend.GroupOffset{Partition: index, Offset: -1, LeaderEpoch: -1}
			}
			rp := offsetOf(o)
			rp.ErrorCode = stored.code
			rt.Partitions = append(rt.Partitions, rp)
		}
		topics = append(topics, rt)
	}
	return topics, stored.code
}

// allOffsets lists what is stored by topic and partition.
func allOffsets(stored []backend.GroupOffset) []kmsg.OffsetFetchResponseGroupTopic {
	stored = slices.Clone(stored)
	slices.SortFunc(stored, func(a, b backend.GroupOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	topics := []kmsg.OffsetFetchResponseGroupTopic{}
	for _, o := range stored {
		if n := len(topics); n == 0 || topics[n-1].Topic != o.Topic {
			rt := kmsg.NewOffsetFetchResponseGroupTopic()
			rt.Topic = o.Topic
			topics = append(topics, rt)
		}
		last := &topics[len(topics)-1]
		last.Partitions = append(last.Partitions, offsetOf(o))
	}
	return topics
}

func offsetOf(o backend.GroupOffset) kmsg.OffsetFetchResponseGroupTopicPartition {
	p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = o.Partition, o.Offset, o.LeaderEpoch, &o.Metadata
	return p
}
