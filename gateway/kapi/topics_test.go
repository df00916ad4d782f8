package kapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	"milena/gateway/backend/memory"
)

// creation is a CreateTopics request for one topic with 1 partition.
func creation(name string, change func(*kmsg.CreateTopicsRequestTopic)) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, 1, 1
	if change != nil {
		change(&rt)
	}
	req.Topics = append(req.Topics, rt)
	return req
}

func withConfig(name string, value *string) func(*kmsg.CreateTopicsRequestTopic) {
	return func(rt *kmsg.CreateTopicsRequestTopic) {
		rt.Configs = append(rt.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: name, Value: value})
	}
}

func assigned(replicas ...[]int32) func(*kmsg.CreateTopicsRequestTopic) {
	return func(rt *kmsg.CreateTopicsRequestTopic) {
		rt.NumPartitions, rt.ReplicationFactor = -1, -1
		for i, r := range replicas {
			rt.ReplicaAssignment = append(rt.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: int32(i), Replicas: r})
		}
	}
}

func TestCreateTopics(t *testing.T) {
	text := kmsg.StringPtr
	for _, c := range []struct {
		name   string
		topic  string
		change func(*kmsg.CreateTopicsRequestTopic)
		want   *kerr.Error
	}{
		{"plain", "t", nil, nil},
		{"defaults", "t", func(rt *kmsg.CreateTopicsRequestTopic) { rt.NumPartitions, rt.ReplicationFactor = -1, -1 }, nil},
		{"any replication factor", "t", func(rt *kmsg.CreateTopicsRequestTopic) { rt.ReplicationFactor = 3 }, nil},
		{"no replicas", "t", func(rt *kmsg.CreateTopicsRequestTopic) { rt.ReplicationFactor = 0 }, kerr.InvalidReplicationFactor},
		{"no partitions", "t", func(rt *kmsg.CreateTopicsRequestTopic) { rt.NumPartitions = 0 }, kerr.InvalidPartitions},
		{"negative partitions", "t", func(rt *kmsg.CreateTopicsRequestTopic) { rt.NumPartitions = -2 }, kerr.InvalidPartitions},
		{"too many partitions", "t", func(rt *kmsg.CreateTopicsRequestTopic) { rt.NumPartitions = 10_001 }, kerr.InvalidPartitions},
		{"bad name", "a/b", nil, kerr.InvalidTopicException},
		{"exists", "old", nil, kerr.TopicAlreadyExists},
		{"assignment", "t", assigned([]int32{1}, []int32{1}), nil},
		{"assignment elsewhere", "t", assigned([]int32{4711}), kerr.InvalidReplicaAssignment},
		{"assignment twice", "t", assigned([]int32{1, 1}), kerr.InvalidReplicaAssignment},
		{"assignment to nobody", "t", assigned([]int32{}), kerr.InvalidReplicaAssignment},
		{"assignment with a gap", "t", func(rt *kmsg.CreateTopicsRequestTopic) {
			assigned([]int32{1})(rt)
			rt.ReplicaAssignment[0].Partition = 1
		}, kerr.InvalidReplicaAssignment},
		{"assignment and count", "t", func(rt *kmsg.CreateTopicsRequestTopic) {
			assigned([]int32{1})(rt)
			rt.NumPartitions = 1
		}, kerr.InvalidRequest},
		{"config", "t", withConfig("retention.ms", text("3600000")), nil},
		{"unknown config", "t", withConfig("no.such.config", text("1")), kerr.InvalidConfig},
		{"null config", "t", withConfig("retention.ms", nil), kerr.InvalidConfig},
		{"config of the wrong type", "t", withConfig("retention.ms", text("a week")), kerr.InvalidConfig},
		{"config twice", "t", func(rt *kmsg.CreateTopicsRequestTopic) {
			withConfig("retention.ms", text("1"))(rt)
			withConfig("retention.ms", text("2"))(rt)
		}, kerr.InvalidRequest},
		{"validation", "t", withConfig("milena.value.validation", text("strict")), nil},
		{"unknown validation", "t", withConfig("milena.value.validation", text("lenient")), kerr.InvalidConfig},
		{"bad context", "t", withConfig("milena.schema.context", text("team")), kerr.InvalidConfig},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			s := newServer(t, Options{})
			mustCreate(t, s, "old", 1, nil)
			for _, validateOnly := range []bool{true, false} {
				req := creation(c.topic, c.change)
				req.ValidateOnly = validateOnly
				resp := ask(t, s, 7, req).(*kmsg.CreateTopicsResponse)
				roundTrip(t, resp)
				rt := resp.Topics[0]
				want := int16(0)
				if c.want != nil {
					want = c.want.Code
				}
				if rt.ErrorCode != want || (want != 0) != (rt.ErrorMessage != nil) {
					t.Fatalf("validate only %v: code %d, want %d; message %v", validateOnly, rt.ErrorCode, want, rt.ErrorMessage)
				}
				_, err := s.broker.TopicByName(t.Context(), "t")
				if exists := err == nil; exists != (want == 0 && !validateOnly) {
					t.Errorf("validate only %v: exists %v", validateOnly, exists)
				}
			}
		})
	}
}

func TestCreateTopicsAnswer(t *testing.T) {
	s := newServer(t, Options{DefaultPartitions: 4})
	for v := int16(0); v <= 7; v++ {
		name := "t" + string(rune('0'+v))
		req := creation(name, withConfig("retention.ms", kmsg.StringPtr(" 77 ")))
		req.Topics[0].NumPartitions = -1
		again := req.Topics[0]
		again.Topic = "twice"
		req.Topics = append(req.Topics, again, again)
		resp := ask(t, s, v, req).(*kmsg.CreateTopicsResponse)
		roundTrip(t, resp)
		if len(resp.Topics) != 2 || resp.Topics[0].ErrorCode != 0 || resp.Topics[1].ErrorCode != kerr.InvalidRequest.Code {
			t.Fatalf("v%d: %+v", v, resp.Topics)
		}
		rt := resp.Topics[0]
		topic, err := s.broker.TopicByName(t.Context(), name)
		if err != nil || topic.Partitions != 4 || topic.Configs["retention.ms"] != "77" {
			t.Fatalf("v%d: created %+v, %v", v, topic, err)
		}
		if rt.NumPartitions != 4 || rt.ReplicationFactor != 1 || rt.TopicID != topic.ID {
			t.Errorf("v%d: answer %+v", v, rt)
		}
		for _, c := range rt.Configs {
			own := c.Name == "retention.ms"
			if c.Value == nil || own != (c.Source == int8(kmsg.ConfigSourceDynamicTopicConfig)) || own && *c.Value != "77" {
				t.Errorf("v%d: config %+v", v, c)
			}
		}
		if resp.Topics[1].Configs == nil {
			t.Errorf("v%d: null configs, which break Java's admin client", v)
		}
	}
}

func TestDeleteTopics(t *testing.T) {
	s := newServer(t, Options{})
	id := func(name string) backend.TopicID { return mustCreate(t, s, name, 1, nil).ID }
	one, two, three, four := id("one"), id("two"), id("three"), id("four")
	type want struct {
		name string
		code int16
	}
	for _, c := range []struct {
		name string
		ask  []kmsg.DeleteTopicsRequestTopic
		want []want
	}{
		{"by name", []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("one")}}, []want{{"one", 0}}},
		{"again", []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("one")}}, []want{{"one", 3}}},
		{"its id", []kmsg.DeleteTopicsRequestTopic{{TopicID: one}}, []want{{"", 100}}},
		{"by id", []kmsg.DeleteTopicsRequestTopic{{TopicID: two}}, []want{{"two", 0}}},
		{"both", []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("three"), TopicID: three}}, []want{{"three", 42}}},
		{"neither", []kmsg.DeleteTopicsRequestTopic{{}}, []want{{"", 42}}},
		{"twice", []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("four")}, {TopicID: four}}, []want{{"four", 42}, {"four", 42}}},
		{"none", nil, nil},
	} {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Topics = c.ask
		resp := ask(t, s, 6, req).(*kmsg.DeleteTopicsResponse)
		roundTrip(t, resp)
		if len(resp.Topics) != len(c.want) {
			t.Fatalf("%s: %+v", c.name, resp.Topics)
		}
		for i, rt := range resp.Topics {
			name := ""
			if rt.Topic != nil {
				name = *rt.Topic
			}
			if name != c.want[i].name || rt.ErrorCode != c.want[i].code {
				t.Errorf("%s: %q code %d, want %+v", c.name, name, rt.ErrorCode, c.want[i])
			}
		}
	}
	for v := int16(0); v < 6; v++ {
		req := kmsg.NewPtrDeleteTopicsRequest()
		id("by-name")
		req.TopicNames = []string{"by-name", "absent"}
		resp := ask(t, s, v, req).(*kmsg.DeleteTopicsResponse)
		roundTrip(t, resp)
		if len(resp.Topics) != 2 || resp.Topics[0].ErrorCode != 0 || resp.Topics[1].ErrorCode != 3 {
			t.Errorf("v%d: %+v", v, resp.Topics)
		}
	}
}

func TestInitProducerID(t *testing.T) {
	b := memory.New(nil)
	s := newServer(t, Options{Broker: b})
	seen := map[int64]bool{}
	initID := func(v int16, change func(*kmsg.InitProducerIDRequest)) *kmsg.InitProducerIDResponse {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.TransactionTimeoutMillis = 60_000
		change(req)
		resp := ask(t, s, v, req).(*kmsg.InitProducerIDResponse)
		roundTrip(t, resp)
		return resp
	}
	for v := int16(0); v <= 4; v++ {
		resp := initID(v, func(r *kmsg.InitProducerIDRequest) { r.ProducerID, r.ProducerEpoch = 1, 5 })
		if resp.ErrorCode != 0 || resp.ProducerEpoch != 0 || resp.ProducerID < 0 || seen[resp.ProducerID] {
			t.Errorf("v%d: %+v", v, resp)
		}
		seen[resp.ProducerID] = true
		for id, want := range map[string]*kerr.Error{"": kerr.InvalidRequest, "x": kerr.UnsupportedVersion} {
			resp := initID(v, func(r *kmsg.InitProducerIDRequest) { r.TransactionalID = &id })
			if resp.ErrorCode != want.Code || resp.ProducerID != -1 {
				t.Errorf("v%d transactional id %q: %+v", v, id, resp)
			}
		}
	}
	for _, millis := range []int32{0, -1, 900_001} {
		resp := initID(4, func(r *kmsg.InitProducerIDRequest) {
			r.TransactionalID, r.TransactionTimeoutMillis = kmsg.StringPtr("x"), millis
		})
		if resp.ErrorCode != kerr.InvalidTransactionTimeout.Code {
			t.Errorf("timeout %d: code %d", millis, resp.ErrorCode)
		}
	}
	b.Fail(backend.ErrUnavailable)
	if resp := initID(4, func(*kmsg.InitProducerIDRequest) {}); resp.ErrorCode != kerr.CoordinatorNotAvailable.Code {
		t.Errorf("broker in trouble: code %d", resp.ErrorCode)
	}
}

func TestCreateTopicsIsBounded(t *testing.T) {
	s := newServer(t, Options{})
	req := creation("t0", nil)
	req.ValidateOnly = true
	for i := 1; i < 1010; i++ {
		req.Topics = append(req.Topics, creation(fmt.Sprint("t", i), nil).Topics[0])
	}
	resp := ask(t, s, 7, req).(*kmsg.CreateTopicsResponse)
	if len(resp.Topics) != 1010 {
		t.Fatalf("%d topics answered", len(resp.Topics))
	}
	for i, rt := range resp.Topics {
		want := int16(0)
		if i >= 1000 {
			want = kerr.InvalidRequest.Code
		}
		code(t, rt.Topic, rt.ErrorCode, want)
	}
}
