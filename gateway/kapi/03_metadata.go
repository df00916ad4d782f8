package kapi

import (
	"context"
	"errors"
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// Metadata, versions 0 to 12.
//
//	v0  an empty list asks for all topics; from v1 on null does, and empty for none
//	v1  controller, rack, internal topics
//	v2  cluster id
//	v3  throttle time
//	v4  the request says whether topics may be created (KIP-204); before it may
//	v5  offline replicas
//	v7  leader epochs (KIP-320)
//	v8  authorized operations (KIP-430)
//	v9  flexible
//	v10 topic ids (KIP-516)
//	v11 no more cluster operations
//	v12 topics may be asked by id
//
// Every topic asked for is answered, once. Topics are created before the
// answer, so that clients never see a topic that isn't served yet; a race lost
// against another client is a success. The one broker named is this node, under
// the address that this connection can use.
// Not served: v13 (rebootstrap error).
func (s *Server) metadata(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.MetadataRequest)
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	resp.Brokers = append(resp.Brokers, s.metadataBroker(r.Conn))
	resp.ClusterID = kmsg.StringPtr(s.opts.ClusterID)
	resp.ControllerID = s.opts.NodeID
	resp.AuthorizedOperations = math.MinInt32
	if req.IncludeClusterAuthorizedOperations {
		resp.AuthorizedOperations = clusterOperations
	}
	resp.Topics = []kmsg.MetadataResponseTopic{}

	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	if req.Topics == nil || (req.Version == 0 && len(req.Topics) == 0) {
		topics, err := s.broker.ListTopics(ctx)
		if err != nil {
			// There is no field for an error of the whole answer, and an empty
			// list would make clients forget their topics.
			return nil, err
		}
		for _, t := range topics {
			resp.Topics = append(resp.Topics, s.metadataTopic(req, t))
		}
		return resp, nil
	}
	q := metadataQuery{server: s, req: req, seen: map[string]bool{}, ids: map[backend.TopicID]bool{}}
	for _, t := range req.Topics {
		q.answer(ctx, t, resp)
	}
	return resp, nil
}

// Operations that are allowed when there is no authorizer, as bits of Kafka's
// operation numbers (KIP-430).
const (
	topicOperations   = 1<<kmsg.ACLOperationRead | 1<<kmsg.ACLOperationWrite | 1<<kmsg.ACLOperationCreate | 1<<kmsg.ACLOperationDelete | 1<<kmsg.ACLOperationAlter | 1<<kmsg.ACLOperationDescribe | 1<<kmsg.ACLOperationDescribeConfigs | 1<<kmsg.ACLOperationAlterConfigs
	clusterOperations = 1<<kmsg.ACLOperationCreate | 1<<kmsg.ACLOperationAlter | 1<<kmsg.ACLOperationDescribe | 1<<kmsg.ACLOperationClusterAction | 1<<kmsg.ACLOperationDescribeConfigs | 1<<kmsg.ACLOperationAlterConfigs | 1<<kmsg.ACLOperationIdempotentWrite
)

// autoCreatesMax bounds the topics that one request may create; the others
// stay unknown, which clients ask for again.
const autoCreatesMax = 1000

// metadataQuery answers the topics of one request.
type metadataQuery struct {
	server  *Server
	req     *kmsg.MetadataRequest
	seen    map[string]bool
	ids     map[backend.TopicID]bool
	created int
}

func (q *metadataQuery) answer(ctx context.Context, t kmsg.MetadataRequestTopic, resp *kmsg.MetadataResponse) {
	if t.Topic == nil {
		if !q.ids[t.TopicID] {
			q.ids[t.TopicID] = true
			resp.Topics = append(resp.Topics, q.byID(ctx, t.TopicID))
		}
		return
	}
	if q.seen[*t.Topic] {
		return
	}
	q.seen[*t.Topic] = true
	found, err := q.byName(ctx, *t.Topic)
	if err != nil {
		resp.Topics = append(resp.Topics, q.failed(*t.Topic, q.server.adminCode(err)))
		return
	}
	resp.Topics = append(resp.Topics, q.server.metadataTopic(q.req, found))
}

func (q *metadataQuery) byID(ctx context.Context, id backend.TopicID) kmsg.MetadataResponseTopic {
	s := q.server
	code := kerr.InvalidRequest.Code // ids can be asked for from v12 on
	if q.req.Version >= 12 {
		t, err := s.broker.TopicByID(ctx, id)
		if err == nil {
			return s.metadataTopic(q.req, t)
		}
		code = s.adminCode(err)
		if errors.Is(err, backend.ErrUnknownTopic) {
			code = kerr.UnknownTopicID.Code
		}
	}
	rt := kmsg.NewMetadataResponseTopic()
	rt.ErrorCode, rt.TopicID = code, id
	if q.req.Version < 12 {
		rt.Topic = kmsg.StringPtr("")
	}
	return rt
}

// byName finds the topic or creates it if server and request allow.
func (q *metadataQuery) byName(ctx context.Context, name string) (backend.Topic, error) {
	if err := checkTopicName(name); err != nil {
		return backend.Topic{}, err
	}
	s := q.server
	t, err := s.broker.TopicByName(ctx, name)
	if !errors.Is(err, backend.ErrUnknownTopic) {
		return t, err
	}
	asked := q.req.Version < 4 || q.req.AllowAutoTopicCreation
	if s.opts.AutoCreateOff || !asked || q.created >= autoCreatesMax {
		return backend.Topic{}, err
	}
	q.created++
	t, err = s.broker.CreateTopic(ctx, backend.TopicSpec{Name: name, Partitions: s.opts.DefaultPartitions})
	if errors.Is(err, backend.ErrTopicExists) {
		return s.broker.TopicByName(ctx, name)
	}
	return t, err
}

func (q *metadataQuery) failed(name string, code int16) kmsg.MetadataResponseTopic {
	rt := kmsg.NewMetadataResponseTopic()
	rt.Topic, rt.ErrorCode = kmsg.StringPtr(name), code
	rt.Partitions = []kmsg.MetadataResponseTopicPartition{}
	return rt
}

func (s *Server) metadataBroker(c *Conn) kmsg.MetadataResponseBroker {
	b := kmsg.NewMetadataResponseBroker()
	b.NodeID, b.Host, b.Port = s.opts.NodeID, c.AdvertisedHost, c.AdvertisedPort
	return b
}

func (s *Server) metadataTopic(req *kmsg.MetadataRequest, t backend.Topic) kmsg.MetadataResponseTopic {
	rt := kmsg.NewMetadataResponseTopic()
	rt.Topic, rt.TopicID = kmsg.StringPtr(t.Name), t.ID
	if req.IncludeTopicAuthorizedOperations {
		rt.AuthorizedOperations = topicOperations
	}
	nodes := []int32{s.opts.NodeID}
	rt.Partitions = make([]kmsg.MetadataResponseTopicPartition, t.Partitions)
	for i := range rt.Partitions {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader, p.LeaderEpoch = int32(i), s.opts.NodeID, leaderEpoch
		p.Replicas, p.ISR, p.OfflineReplicas = nodes, nodes, []int32{}
		rt.Partitions[i] = p
	}
	return rt
}
