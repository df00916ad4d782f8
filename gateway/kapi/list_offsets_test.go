package kapi

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/broker/stored"
	"milena/gateway/backend"
	"milena/gateway/backend/memory"
)

func listing(topic string, partition int32, timestamp int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Partition, rp.Timestamp = partition, timestamp
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

func askOffset(t *testing.T, s *Server, version int16, req *kmsg.ListOffsetsRequest) kmsg.ListOffsetsResponseTopicPartition {
	t.Helper()
	resp := ask(t, s, version, req).(*kmsg.ListOffsetsResponse)
	roundTrip(t, resp)
	return resp.Topics[0].Partitions[0]
}

// appendAt stores a batch with one record for each timestamp.
func appendAt(t *testing.T, s *Server, topic backend.Topic, timestamps ...int64) {
	t.Helper()
	var b stored.Builder
	b.Reset()
	b.Header.ProducerID, b.Header.ProducerEpoch, b.Header.BaseSequence = -1, -1, -1
	b.Header.FirstTimestamp, b.Header.LastOffsetDelta = timestamps[0], int32(len(timestamps)-1)
	b.Header.EncodedSize = 100
	for i, ts := range timestamps {
		b.Header.MaxTimestamp = max(b.Header.MaxTimestamp, ts)
		r := stored.Record{OffsetDelta: int32(i), TimestampDelta: ts - timestamps[0]}
		r.Key.Null, r.Key.Schema, r.Value.Schema = true, -1, -1
		r.Value.Raw, r.Value.HasRaw = []byte("v"), true
		if err := b.Add(&r); err != nil {
			t.Fatalf("add record: %v", err)
		}
	}
	raw, err := b.Append(nil)
	if err != nil {
		t.Fatalf("build batch: %v", err)
	}
	pending, err := s.broker.Enqueue(t.Context(), backend.Synced, []backend.Append{{Partition: backend.Partition{Topic: topic.ID}, Batch: raw}})
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	out, err := pending.Wait(t.Context())
	if err != nil || out[0].Err != nil {
		t.Fatalf("append: %v %v", err, out)
	}
}

func TestListOffsets(t *testing.T) {
	s := newServer(t, Options{})
	topic := mustCreate(t, s, "t", 1, nil)
	mustCreate(t, s, "empty", 1, nil)
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	appendAt(t, s, topic, t0+10, t0+30, t0+20)
	appendAt(t, s, topic, t0+5, t0+40)
	for _, c := range []struct {
		name              string
		from              int16
		topic             string
		partition         int32
		timestamp         int64
		code              int16
		offset, timeAfter int64 // timeAfter: after t0, -1 for none
	}{
		{"latest", 1, "t", 0, -1, 0, 5, -1},
		{"earliest", 1, "t", 0, -2, 0, 0, -1},
		{"max timestamp", 7, "t", 0, -3, 0, 4, 40},
		{"before the first", 1, "t", 0, t0, 0, 0, 10},
		{"not ordered inside a batch", 1, "t", 0, t0 + 15, 0, 1, 30},
		{"after the last", 1, "t", 0, t0 + 41, 0, -1, -1},
		{"in the second batch", 1, "t", 0, t0 + 31, 0, 4, 40},
		{"empty, latest", 1, "empty", 0, -1, 0, 0, -1},
		{"empty, by time", 1, "empty", 0, 5, 0, -1, -1},
		{"empty, max timestamp", 7, "empty", 0, -3, 0, -1, -1},
		{"unknown topic", 1, "absent", 0, -1, 3, -1, -1},
		{"unknown partition", 1, "t", 1, -1, 3, -1, -1},
		{"negative partition", 1, "t", -1, -1, 3, -1, -1},
		{"tiered", 1, "t", 0, -4, 35, -1, -1},
		{"negative time", 1, "t", 0, -10, 35, -1, -1},
	} {
		for v := c.from; v <= 7; v++ {
			p := askOffset(t, s, v, listing(c.topic, c.partition, c.timestamp))
			timestamp := c.timeAfter
			if timestamp >= 0 {
				timestamp += t0
			}
			if p.ErrorCode != c.code || p.Offset != c.offset || p.Timestamp != timestamp {
				t.Errorf("%s v%d: code %d offset %d timestamp %d, want %d %d %d", c.name, v, p.ErrorCode, p.Offset, p.Timestamp, c.code, c.offset, timestamp)
			}
			if epoch := int32(0); v >= 4 && (p.Offset < 0) == (p.LeaderEpoch == epoch) {
				t.Errorf("%s v%d: leader epoch %d", c.name, v, p.LeaderEpoch)
			}
		}
	}
	if p := askOffset(t, s, 6, listing("t", 0, -3)); p.ErrorCode != kerr.UnsupportedVersion.Code {
		t.Errorf("max timestamp in v6: code %d", p.ErrorCode)
	}
}

func TestListOffsetsRefusals(t *testing.T) {
	b := memory.New(nil)
	s := newServer(t, Options{Broker: b})
	mustCreate(t, s, "t", 1, nil)
	for epoch, want := range map[int32]int16{-1: 0, 0: 0, 1: 75, -2: 74} {
		req := listing("t", 0, -1)
		req.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
		if p := askOffset(t, s, 7, req); p.ErrorCode != want {
			t.Errorf("leader epoch %d: code %d, want %d", epoch, p.ErrorCode, want)
		}
	}
	twice := listing("t", 0, -1)
	twice.Topics = append(twice.Topics, listing("t", 0, -2).Topics[0])
	for _, rt := range ask(t, s, 7, twice).(*kmsg.ListOffsetsResponse).Topics {
		if code := rt.Partitions[0].ErrorCode; code != kerr.InvalidRequest.Code {
			t.Errorf("named twice: code %d", code)
		}
	}
	b.Fail(backend.ErrUnavailable)
	if p := askOffset(t, s, 7, listing("t", 0, -1)); p.ErrorCode != kerr.KafkaStorageError.Code || p.Offset != -1 {
		t.Errorf("broker in trouble: %+v", p)
	}
}

func TestApiVersionsSoftware(t *testing.T) {
	s := newServer(t, Options{})
	for _, c := range []struct {
		name, version string
		code          int16
	}{
		{"apache-kafka-java", "4.4.0-rc1", 0}, {"a", "1", 0},
		{"", "1", 42}, {"x", "", 42}, {"my client", "1", 42}, {"-x", "1", 42}, {"x.", "1", 42}, {"x", "é", 42},
	} {
		req := apiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = c.name, c.version
		resp := ask(t, s, 3, req).(*kmsg.ApiVersionsResponse)
		roundTrip(t, resp)
		if resp.ErrorCode != c.code || (len(resp.ApiKeys) == 0) != (c.code != 0) {
			t.Errorf("%q %q: code %d, %d keys", c.name, c.version, resp.ErrorCode, len(resp.ApiKeys))
		}
	}
	resp := s.UnsupportedApiVersions().(*kmsg.ApiVersionsResponse)
	if resp.GetVersion() != 0 || resp.ErrorCode != 35 || len(resp.ApiKeys) != 1 || resp.ApiKeys[0].ApiKey != 18 || resp.ApiKeys[0].MaxVersion != 4 {
		t.Errorf("unsupported version: %+v", resp)
	}
}

func TestOptions(t *testing.T) {
	b := memory.New(nil)
	for name, o := range map[string]Options{
		"no broker":          {},
		"node id":            {Broker: b, NodeID: -1},
		"default partitions": {Broker: b, DefaultPartitions: 10_001},
		"partitions max":     {Broker: b, PartitionsMax: -1},
		"message bytes":      {Broker: b, MessageBytesMax: -1},
		"backend timeout":    {Broker: b, BackendTimeout: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
