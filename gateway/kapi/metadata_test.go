package kapi

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	"milena/gateway/backend/memory"
)

func metadataRequest(create bool, names ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = create
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, n := range names {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(n)
		req.Topics = append(req.Topics, rt)
	}
	return req
}

func askMetadata(t *testing.T, s *Server, version int16, req *kmsg.MetadataRequest) *kmsg.MetadataResponse {
	t.Helper()
	resp := ask(t, s, version, req).(*kmsg.MetadataResponse)
	roundTrip(t, resp)
	return resp
}

func TestMetadataNullAndEmpty(t *testing.T) {
	s := newServer(t, Options{})
	mustCreate(t, s, "b", 1, nil)
	mustCreate(t, s, "a", 2, nil)
	for v := int16(0); v <= 12; v++ {
		empty := metadataRequest(false)
		want := 0
		if v == 0 {
			want = 2
		}
		if got := len(askMetadata(t, s, v, empty).Topics); got != want {
			t.Errorf("v%d: %d topics for an empty list, want %d", v, got, want)
		}
		if v == 0 {
			continue
		}
		null := metadataRequest(false)
		null.Topics = nil
		got := askMetadata(t, s, v, null).Topics
		if len(got) != 2 || *got[0].Topic != "a" || len(got[0].Partitions) != 2 {
			t.Errorf("v%d: null gives %+v", v, got)
		}
	}
}

func TestMetadataErrors(t *testing.T) {
	s := newServer(t, Options{})
	known := mustCreate(t, s, "known", 1, nil)
	codes := func(v int16, req *kmsg.MetadataRequest) map[string]int16 {
		out := map[string]int16{}
		for _, rt := range askMetadata(t, s, v, req).Topics {
			name := "<null>"
			if rt.Topic != nil {
				name = *rt.Topic
			}
			out[name] = rt.ErrorCode
		}
		return out
	}
	long := strings.Repeat("x", 250)
	got := codes(9, metadataRequest(false, "known", "absent", "", ".", "..", "a b", "ä", long, "known"))
	want := map[string]int16{
		"known": 0, "absent": kerr.UnknownTopicOrPartition.Code,
		"": 17, ".": 17, "..": 17, "a b": 17, "ä": 17, long: 17,
	}
	if len(got) != len(want) {
		t.Errorf("%d topics, want %d: %v", len(got), len(want), got)
	}
	for name, code := range want {
		if got[name] != code {
			t.Errorf("topic %.20q: code %d, want %d", name, got[name], code)
		}
	}

	byID := metadataRequest(false)
	for _, id := range []backend.TopicID{known.ID, {1, 2, 3}, known.ID} {
		rt := kmsg.NewMetadataRequestTopic()
		rt.TopicID = id
		byID.Topics = append(byID.Topics, rt)
	}
	resp := askMetadata(t, s, 12, byID)
	if len(resp.Topics) != 2 || resp.Topics[0].ErrorCode != 0 || *resp.Topics[0].Topic != "known" ||
		resp.Topics[1].ErrorCode != kerr.UnknownTopicID.Code || resp.Topics[1].Topic != nil {
		t.Errorf("by id: %+v", resp.Topics)
	}
	resp = askMetadata(t, s, 11, byID)
	if len(resp.Topics) == 0 || resp.Topics[0].ErrorCode != kerr.InvalidRequest.Code {
		t.Errorf("by id in v11: %+v", resp.Topics)
	}
}

func TestMetadataAutoCreate(t *testing.T) {
	for _, c := range []struct {
		name          string
		off, flag     bool
		version, code int16
	}{
		{"asked for", false, true, 9, 0},
		{"not asked for", false, false, 9, 3},
		{"implied before v4", false, false, 3, 0},
		{"turned off", true, true, 9, 3},
		{"turned off, implied", true, true, 0, 3},
	} {
		s := newServer(t, Options{AutoCreateOff: c.off, DefaultPartitions: 3})
		rt := askMetadata(t, s, c.version, metadataRequest(c.flag, "new")).Topics[0]
		partitions := 3
		if c.code != 0 {
			partitions = 0
		}
		if rt.ErrorCode != c.code || len(rt.Partitions) != partitions {
			t.Errorf("%s: code %d, %d partitions", c.name, rt.ErrorCode, len(rt.Partitions))
		}
	}
}

func TestMetadataAutoCreateIsBounded(t *testing.T) {
	s := newServer(t, Options{})
	req := metadataRequest(true)
	for i := range autoCreatesMax + 10 {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr("t" + strings.Repeat("x", i%200) + string(rune('a'+i/200)))
		req.Topics = append(req.Topics, rt)
	}
	created := 0
	for _, rt := range askMetadata(t, s, 9, req).Topics {
		if rt.ErrorCode == 0 {
			created++
		}
	}
	if created != autoCreatesMax {
		t.Errorf("%d topics created by one request", created)
	}
}

// TestMetadataLostRace: of many clients that create one topic, none sees an
// error.
func TestMetadataLostRace(t *testing.T) {
	s := newServer(t, Options{Broker: raced{memory.New(nil)}})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			resp, err := tryAsk(s, 9, metadataRequest(true, "new"))
			if err != nil {
				t.Errorf("metadata: %v", err)
			} else if code := resp.(*kmsg.MetadataResponse).Topics[0].ErrorCode; code != 0 {
				t.Errorf("code %d", code)
			}
		})
	}
	wait.Wait()
}

// raced is a broker where another client always creates the topic first.
type raced struct{ *memory.Broker }

func (r raced) CreateTopic(ctx context.Context, spec backend.TopicSpec) (backend.Topic, error) {
	// Whoever comes first, the call below finds it there.
	_, _ = r.Broker.CreateTopic(ctx, spec)
	return r.Broker.CreateTopic(ctx, spec)
}

func TestMetadataAddressesAndPartitions(t *testing.T) {
	s := newServer(t, Options{NodeID: 7, ClusterID: "here"})
	mustCreate(t, s, "t", 2, nil)
	for v := int16(0); v <= 12; v++ {
		req := metadataRequest(false, "t")
		req.IncludeTopicAuthorizedOperations = v >= 8
		resp := askMetadata(t, s, v, req)
		b := resp.Brokers[0]
		if b.NodeID != 7 || b.Host != "gateway.example" || b.Port != 9093 {
			t.Errorf("v%d: broker %+v", v, b)
		}
		if v >= 1 && resp.ControllerID != 7 || v >= 2 && *resp.ClusterID != "here" {
			t.Errorf("v%d: controller %d, cluster %v", v, resp.ControllerID, resp.ClusterID)
		}
		for i, p := range resp.Topics[0].Partitions {
			if p.Partition != int32(i) || p.Leader != 7 || len(p.Replicas) != 1 || len(p.ISR) != 1 || p.LeaderEpoch != 0 {
				t.Errorf("v%d: partition %+v", v, p)
			}
		}
		if ops := resp.Topics[0].AuthorizedOperations; v >= 8 == (ops == math.MinInt32) {
			t.Errorf("v%d: operations %d", v, ops)
		}
	}
}

// TestMetadataOfABrokerInTrouble: an empty list would have clients forget their
// topics, so there is no answer at all; named topics get a retriable code.
func TestMetadataOfABrokerInTrouble(t *testing.T) {
	b := memory.New(nil)
	s := newServer(t, Options{Broker: b})
	b.Fail(backend.ErrUnavailable)
	all := metadataRequest(false)
	all.Topics = nil
	if resp, err := tryAsk(s, 9, all); err == nil {
		t.Errorf("all topics: answer %+v", resp)
	}
	rt := askMetadata(t, s, 9, metadataRequest(true, "t")).Topics[0]
	if rt.ErrorCode != kerr.RequestTimedOut.Code {
		t.Errorf("named topic: code %d", rt.ErrorCode)
	}
}

func TestFindCoordinator(t *testing.T) {
	s := newServer(t, Options{})
	for v := int16(0); v <= 5; v++ {
		for kind, code := range map[int8]int16{0: 0, 1: 0, 2: 42, 7: 42} {
			if v == 0 && kind != 0 {
				continue
			}
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorKey, req.CoordinatorType, req.CoordinatorKeys = "g", kind, []string{"g", ""}
			resp := ask(t, s, v, req).(*kmsg.FindCoordinatorResponse)
			roundTrip(t, resp)
			got := []kmsg.FindCoordinatorResponseCoordinator{{NodeID: resp.NodeID, Host: resp.Host, Port: resp.Port, ErrorCode: resp.ErrorCode}}
			if v >= 4 {
				if got = resp.Coordinators; len(got) != 2 || got[0].Key != "g" || got[1].Key != "" {
					t.Fatalf("v%d: %+v", v, got)
				}
			}
			for _, c := range got {
				found := c.NodeID == 1 && c.Host == "gateway.example" && c.Port == 9093
				if c.ErrorCode != code || found != (code == 0) {
					t.Errorf("v%d type %d: %+v", v, kind, c)
				}
			}
		}
	}
}
