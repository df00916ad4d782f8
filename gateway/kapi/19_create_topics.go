package kapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// CreateTopics, versions 0 to 7.
//
//	v1  validate only, error messages
//	v2  throttle time
//	v4  -1 for default partitions and replication factor (KIP-464); here in
//	    every version
//	v5  flexible; the answer has partitions, replication factor and configs
//	    (KIP-525), configs as an array and never null
//	v7  topic ids (KIP-516)
//
// A topic can be produced to when the answer leaves. Any replication factor of
// 1 and more is accepted and means 1, since tools ask for 3 as a matter of
// course. Of one request the first thousand topics are looked at: each answer is a
// hundred times as large as the question. Manual assignments may name only this node. Config names and values
// are checked against the table in topic_configs.go.
func (s *Server) createTopics(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.CreateTopicsRequest)
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	resp.Topics = []kmsg.CreateTopicsResponseTopic{}
	ctx, cancel := s.requestTimeout(ctx, req.TimeoutMillis)
	defer cancel()
	count := map[string]int{}
	for _, t := range req.Topics {
		count[t.Topic]++
	}
	for _, t := range req.Topics {
		n := count[t.Topic]
		if n == 0 {
			continue // named twice, and answered
		}
		count[t.Topic] = 0
		rt := kmsg.NewCreateTopicsResponseTopic()
		rt.Topic = t.Topic
		var created backend.Topic
		err := refuse(kerr.InvalidRequest, "at most %d topics can be created with one request", createTopicsMax)
		if len(resp.Topics) < createTopicsMax {
			created, err = s.createTopic(ctx, t, n > 1, req.ValidateOnly)
		}
		if err != nil {
			rt.ErrorCode, rt.ErrorMessage = s.adminCode(err), s.adminMessage(err)
			rt.NumPartitions, rt.ReplicationFactor = -1, -1
			rt.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
		} else {
			rt.TopicID, rt.NumPartitions, rt.ReplicationFactor = created.ID, created.Partitions, 1
			rt.Configs = s.createdConfigs(created)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}

// createTopicsMax bounds the topics of one request.
const createTopicsMax = 1000

// adminError is a refusal with words for the client.
type adminError struct {
	code *kerr.Error
	text string
}

func (e *adminError) Error() string { return e.text }
func (e *adminError) Unwrap() error { return e.code }

func refuse(code *kerr.Error, format string, args ...any) error {
	return &adminError{code, fmt.Sprintf(format, args...)}
}

// adminMessage is the text that a client gets with err: that of a refusal of
// ours, else the code's own.
func (s *Server) adminMessage(err error) *string {
	var refusal *adminError
	var config *configError
	switch {
	case errors.As(err, &refusal):
		return &refusal.text
	case errors.As(err, &config):
		return &config.text
	default:
		return errorMessage(s.adminCode(err))
	}
}

// requestTimeout bounds a call by the client's own timeout, if it has one, and
// the server's.
func (s *Server) requestTimeout(ctx context.Context, millis int32) (context.Context, context.CancelFunc) {
	timeout := s.opts.BackendTimeout
	if asked := time.Duration(millis) * time.Millisecond; asked > 0 && asked < timeout {
		timeout = asked
	}
	return context.WithTimeout(ctx, timeout)
}

func (s *Server) createTopic(ctx context.Context, t kmsg.CreateTopicsRequestTopic, twice, validateOnly bool) (backend.Topic, error) {
	if twice {
		return backend.Topic{}, refuse(kerr.InvalidRequest, "topic %q is named more than once", t.Topic)
	}
	spec, err := s.topicSpec(t)
	if err != nil {
		return backend.Topic{}, err
	}
	if validateOnly {
		_, err := s.broker.TopicByName(ctx, spec.Name)
		if err == nil {
			return backend.Topic{}, backend.ErrTopicExists
		}
		if !errors.Is(err, backend.ErrUnknownTopic) {
			return backend.Topic{}, err
		}
		return backend.Topic{Name: spec.Name, Partitions: spec.Partitions, Configs: spec.Configs}, nil
	}
	return s.broker.CreateTopic(ctx, spec)
}

// topicSpec checks what a client asks for.
func (s *Server) topicSpec(t kmsg.CreateTopicsRequestTopic) (backend.TopicSpec, error) {
	spec := backend.TopicSpec{Name: t.Topic, Partitions: t.NumPartitions}
	if err := checkTopicName(t.Topic); err != nil {
		return spec, err
	}
	switch {
	case len(t.ReplicaAssignment) > 0:
		if t.NumPartitions != -1 || t.ReplicationFactor != -1 {
			return spec, refuse(kerr.InvalidRequest, "partition count and replication factor must be -1 beside a manual assignment")
		}
		if err := s.checkAssignment(t.ReplicaAssignment); err != nil {
			return spec, err
		}
		spec.Partitions = int32(len(t.ReplicaAssignment))
	case t.ReplicationFactor == 0 || t.ReplicationFactor < -1:
		return spec, refuse(kerr.InvalidReplicationFactor, "replication factor must be larger than 0, or -1 for the default")
	case t.NumPartitions == -1:
		spec.Partitions = s.opts.DefaultPartitions
	}
	if spec.Partitions < 1 || spec.Partitions > s.opts.PartitionsMax {
		return spec, refuse(kerr.InvalidPartitions, "number of partitions must be 1 to %d, or -1 for the default", s.opts.PartitionsMax)
	}
	for _, c := range t.Configs {
		if _, ok := spec.Configs[c.Name]; ok {
			return spec, refuse(kerr.InvalidRequest, "config %s is given more than once", c.Name)
		}
		value, err := s.configs.checkTopicConfig(c.Name, c.Value)
		if err != nil {
			return spec, err
		}
		if spec.Configs == nil {
			spec.Configs = map[string]string{}
		}
		spec.Configs[c.Name] = value
	}
	return spec, nil
}

// checkAssignment: partitions 0 to n-1, each once, each on this node.
func (s *Server) checkAssignment(assignment []kmsg.CreateTopicsRequestTopicReplicaAssignment) error {
	seen := map[int32]bool{}
	for _, a := range assignment {
		if a.Partition < 0 || int(a.Partition) >= len(assignment) || seen[a.Partition] {
			return refuse(kerr.InvalidReplicaAssignment, "partitions must be numbered from 0 without gaps or repetitions")
		}
		seen[a.Partition] = true
		if len(a.Replicas) != 1 || a.Replicas[0] != s.opts.NodeID {
			return refuse(kerr.InvalidReplicaAssignment, "replicas of partition %d must be node %d alone", a.Partition, s.opts.NodeID)
		}
	}
	return nil
}

func (s *Server) createdConfigs(t backend.Topic) []kmsg.CreateTopicsResponseTopicConfig {
	out := make([]kmsg.CreateTopicsResponseTopicConfig, 0, len(s.configs.sorted))
	for _, row := range s.configs.sorted {
		c := kmsg.NewCreateTopicsResponseTopicConfig()
		c.Name, c.Value, c.Source = row.name, kmsg.StringPtr(s.topicText(t, row.name)), int8(row.source())
		if _, own := t.Configs[row.name]; own {
			c.Source = int8(kmsg.ConfigSourceDynamicTopicConfig)
		}
		out = append(out, c)
	}
	return out
}
