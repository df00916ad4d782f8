package kapi

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// sessionClient is one end of a fetch session.
type sessionClient struct {
	t       *testing.T
	s       *Server
	version int16
	id      int32
	epoch   int32
}

// request asks for partitions at offsets; -1 leaves one out.
func (c *sessionClient) request(topic backend.Topic, offsets ...int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.SessionID, req.SessionEpoch = 1<<20, c.id, c.epoch
	rt := kmsg.NewFetchRequestTopic()
	if rt.TopicID = topic.ID; c.version < 13 {
		rt.Topic, rt.TopicID = topic.Name, backend.TopicID{}
	}
	for i, o := range offsets {
		if o < 0 {
			continue
		}
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes, rp.CurrentLeaderEpoch = int32(i), o, 1<<20, -1
		rt.Partitions = append(rt.Partitions, rp)
	}
	if len(rt.Partitions) > 0 {
		req.Topics = append(req.Topics, rt)
	}
	return req
}

// fetch returns "partition:code:high watermark:values" of the answer.
func (c *sessionClient) fetch(req *kmsg.FetchRequest) string {
	c.t.Helper()
	resp := ask(c.t, c.s, c.version, req).(*kmsg.FetchResponse)
	code(c.t, "fetch", resp.ErrorCode, 0)
	if req.SessionEpoch > 0 && resp.SessionID != c.id {
		c.t.Fatalf("session %d, asked of %d", resp.SessionID, c.id)
	}
	c.id, c.epoch = resp.SessionID, nextEpoch(max(c.epoch, 0))
	out := ""
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			out += fmt.Sprintf("%d:%d:%d:%s ", p.Partition, p.ErrorCode, p.HighWatermark, valuesOf(c.t, p.RecordBatches))
		}
	}
	return out
}

func (c *sessionClient) refused(req *kmsg.FetchRequest, want int16) {
	c.t.Helper()
	resp := ask(c.t, c.s, c.version, req).(*kmsg.FetchResponse)
	code(c.t, "fetch", resp.ErrorCode, want)
	if resp.SessionID != 0 || len(resp.Topics) > 0 {
		c.t.Errorf("refused with session %d, %d topics", resp.SessionID, len(resp.Topics))
	}
}

func (c *sessionClient) produce(topic backend.Topic, partition int32, value string) {
	c.t.Helper()
	req := produceTo(topic.Name, -1, producedBatch(c.t, 0, nil, plainValues(value)...))
	req.Topics[0].Partitions[0].Partition = partition
	code(c.t, "produce", askProduce(c.t, c.s, 9, req)[0].ErrorCode, 0)
}

func TestSessionTellsWhatChanged(t *testing.T) {
	for _, version := range []int16{7, 12, 13, 17} {
		s := newServer(t, Options{})
		topic := mustCreate(t, s, "t", 3, nil)
		c := &sessionClient{t: t, s: s, version: version}
		one := c.fetch(c.request(topic, 0, 0, 0))
		if c.id <= 0 {
			t.Fatalf("v%d: session %d", version, c.id)
		}
		c.produce(topic, 1, "a")
		steps := []struct{ what, got, want string }{
			{"everything", one, "0:0:0: 1:0:0: 2:0:0: "},
			{"data", c.fetch(c.request(topic)), "1:0:1:a "},
			{"data not taken", c.fetch(c.request(topic)), "1:0:1:a "},
			{"moved on", c.fetch(c.request(topic, -1, 1)), ""},
			{"an error", c.fetch(c.request(topic, -1, -1, 9)), "2:1:-1: "},
			{"still an error", c.fetch(c.request(topic)), "2:1:-1: "},
			{"back again", c.fetch(c.request(topic, -1, -1, 0)), "2:0:0: "},
			{"nothing", c.fetch(c.request(topic)), ""},
		}
		for _, step := range steps {
			if step.got != step.want {
				t.Errorf("v%d %s: %q, want %q", version, step.what, step.got, step.want)
			}
		}
	}
}

func TestSessionForgets(t *testing.T) {
	s := newServer(t, Options{})
	topic := mustCreate(t, s, "t", 2, nil)
	c := &sessionClient{t: t, s: s, version: 13}
	c.fetch(c.request(topic, 0, 0))
	req := c.request(topic)
	req.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{TopicID: topic.ID, Partitions: []int32{0, 7}}}
	if got := c.fetch(req); got != "" {
		t.Errorf("forget: %q", got)
	}
	c.produce(topic, 0, "a")
	c.produce(topic, 1, "b")
	if got := c.fetch(c.request(topic)); got != "1:0:1:b " {
		t.Errorf("after it: %q", got)
	}
	if got := c.fetch(c.request(topic, 0)); got != "1:0:1:b 0:0:1:a " {
		t.Errorf("added again: %q", got)
	}
}

// TestSessionTakesTurns: a partition that was served goes behind the others, so
// that a small limit doesn't starve them.
func TestSessionTakesTurns(t *testing.T) {
	s := newServer(t, Options{})
	topic := mustCreate(t, s, "t", 3, nil)
	c := &sessionClient{t: t, s: s, version: 12}
	for p, v := range []string{"a", "b", "c"} {
		c.produce(topic, int32(p), v)
	}
	got := ""
	for i := range 6 {
		req := c.request(topic)
		if i == 0 {
			req = c.request(topic, 0, 0, 0)
		}
		req.MaxBytes = 1 // the first batch comes all the same
		resp := ask(t, s, 12, req).(*kmsg.FetchResponse)
		c.id, c.epoch = resp.SessionID, int32(i+1)
		for _, rt := range resp.Topics {
			for _, p := range rt.Partitions {
				got += valuesOf(t, p.RecordBatches)
			}
		}
	}
	if got != "abcabc" {
		t.Errorf("served in the order %s", got)
	}
}

func TestSessionRefusals(t *testing.T) {
	s := newServer(t, Options{})
	topic := mustCreate(t, s, "t", 1, nil)
	c := &sessionClient{t: t, s: s, version: 12}
	c.id, c.epoch = 5, 1
	c.refused(c.request(topic, 0), 70)
	c.id, c.epoch = 0, 0
	c.fetch(c.request(topic, 0))
	for _, epoch := range []int32{2, 7, math.MaxInt32} {
		wrong := *c
		wrong.epoch = epoch
		wrong.refused(wrong.request(topic), 71)
	}
	ids := *c
	ids.version = 13
	ids.refused(ids.request(topic), 106)
	c.fetch(c.request(topic)) // none of it hurt the session

	old := *c
	c.epoch = 0
	c.fetch(c.request(topic, 0)) // a new session takes the place of the old one
	if c.id == old.id {
		t.Errorf("session %d twice", c.id)
	}
	old.refused(old.request(topic), 70)

	last := *c
	last.epoch = -1
	last.fetch(last.request(topic, 0))
	if last.id != 0 {
		t.Errorf("session %d after the last request", last.id)
	}
	c.refused(c.request(topic), 70)
	if len(s.sessions.sessions) != 0 || s.sessions.partitions != 0 {
		t.Errorf("left are %d sessions, %d partitions", len(s.sessions.sessions), s.sessions.partitions)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	f := newFetchSessions()
	now := time.UnixMilli(testTime)
	full := func(partitions int) *kmsg.FetchRequest {
		req := kmsg.NewPtrFetchRequest()
		req.Version = 12
		rt := kmsg.NewFetchRequestTopic()
		rt.Topic = "t"
		for i := range partitions {
			rp := kmsg.NewFetchRequestTopicPartition()
			rp.Partition = int32(i)
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
		return req
	}
	create := func(partitions int) int32 { return f.create(full(partitions), &kmsg.FetchResponse{}, now) }
	if create(fetchSessionPartitionsMax+1) != 0 {
		t.Error("a session of too many partitions")
	}
	for range fetchPartitionsMax / fetchSessionPartitionsMax {
		if create(fetchSessionPartitionsMax) == 0 {
			t.Fatal("no session within the bounds")
		}
	}
	if create(1) != 0 {
		t.Error("more partitions than allowed in all sessions")
	}
	now = now.Add(fetchSessionIdle)
	if create(1) == 0 {
		t.Error("no place was made for a new session")
	}
	f = newFetchSessions()
	for range fetchSessionsMax {
		create(0)
	}
	if id := create(0); id != 0 {
		t.Error("more sessions than allowed")
	}

	// One that grows beyond its bound is dropped.
	f = newFetchSessions()
	grows := full(fetchSessionPartitionsMax + 1)
	grows.SessionID, grows.SessionEpoch = create(1), 1
	if _, err := f.begin(grows, now); err == nil || len(f.sessions) != 0 || f.partitions != 0 {
		t.Errorf("%v, %d sessions, %d partitions", err, len(f.sessions), f.partitions)
	}
	if got := nextEpoch(math.MaxInt32); got != 1 {
		t.Errorf("after the last epoch comes %d", got)
	}
}
