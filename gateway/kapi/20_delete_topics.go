package kapi

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// DeleteTopics, versions 0 to 6.
//
//	v1  throttle time
//	v4  flexible
//	v5  error messages
//	v6  by name or by id (KIP-516)
//
// A topic deleted takes its data and its committed offsets with it. Name and id
// together, neither, or one topic twice are INVALID_REQUEST. An unknown name is
// UNKNOWN_TOPIC_OR_PARTITION, an unknown id UNKNOWN_TOPIC_ID.
func (s *Server) deleteTopics(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.DeleteTopicsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	resp.Topics = []kmsg.DeleteTopicsResponseTopic{}
	ctx, cancel := s.requestTimeout(ctx, req.TimeoutMillis)
	defer cancel()

	asked := req.Topics
	if req.Version < 6 {
		asked = nil
		for _, name := range req.TopicNames {
			t := kmsg.NewDeleteTopicsRequestTopic()
			t.Topic = kmsg.StringPtr(name)
			asked = append(asked, t)
		}
	}
	finds := make([]deletion, len(asked))
	count := map[backend.TopicID]int{}
	for i, t := range asked {
		finds[i] = s.findDeletion(ctx, t)
		if finds[i].err == nil {
			count[finds[i].topic.ID]++
		}
	}
	for _, d := range finds {
		if d.err == nil && count[d.topic.ID] > 1 {
			d.err = refuse(kerr.InvalidRequest, "topic %q is named more than once", d.topic.Name)
		}
		if d.err == nil {
			d.err = s.broker.DeleteTopic(ctx, d.topic.ID)
		}
		rt := kmsg.NewDeleteTopicsResponseTopic()
		rt.Topic, rt.TopicID = d.name, d.id
		if d.err != nil {
			rt.ErrorCode, rt.ErrorMessage = s.adminCode(d.err), s.adminMessage(d.err)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}

// deletion is one topic to be deleted and what its answer says of it.
type deletion struct {
	topic backend.Topic
	name  *string
	id    backend.TopicID
	err   error
}

func (s *Server) findDeletion(ctx context.Context, t kmsg.DeleteTopicsRequestTopic) deletion {
	d := deletion{name: t.Topic, id: t.TopicID}
	zero := backend.TopicID{}
	switch {
	case t.Topic != nil && d.id != zero:
		d.err = refuse(kerr.InvalidRequest, "give a topic's name or its id, not both")
	case t.Topic == nil && d.id == zero:
		d.err = refuse(kerr.InvalidRequest, "give a topic's name or its id")
	case t.Topic != nil:
		d.topic, d.err = s.broker.TopicByName(ctx, *t.Topic)
	default:
		d.topic, d.err = s.broker.TopicByID(ctx, d.id)
		if errors.Is(d.err, backend.ErrUnknownTopic) {
			d.err = kerr.UnknownTopicID
		}
	}
	if d.err == nil {
		d.name, d.id = kmsg.StringPtr(d.topic.Name), d.topic.ID
	}
	return d
}
