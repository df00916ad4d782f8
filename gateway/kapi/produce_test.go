package kapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/batch"
	"milena/gateway/envelope"
	"milena/serde"
	"milena/serde/schema"
)

const testTime = 1_700_000_000_000

func testClock() time.Time { return time.UnixMilli(testTime) }

// producedBatch is a batch as clients send them; change may spoil its header.
func producedBatch(t *testing.T, codec batch.Codec, change func(*batch.Header), records ...batch.Record) []byte {
	t.Helper()
	h := batch.Header{LeaderEpoch: -1, Attributes: batch.Attributes(codec, false, false, false), LastOffsetDelta: int32(len(records)) - 1,
		FirstTimestamp: testTime, MaxTimestamp: testTime, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: int32(len(records))}
	var section []byte
	for i := range records {
		records[i].OffsetDelta = int32(i)
		section = batch.AppendRecord(section, &records[i])
	}
	if change != nil {
		change(&h)
	}
	b, err := new(batch.Codecs).Compress(batch.Begin(nil), section, codec)
	if err != nil {
		t.Fatal(err)
	}
	batch.Finish(b, h)
	return b
}

func plainValues(values ...string) []batch.Record {
	records := make([]batch.Record, len(values))
	for i, v := range values {
		records[i].Value = []byte(v)
	}
	return records
}

func produceTo(topic string, acks int16, batches ...[]byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 1000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = topic
	for i, b := range batches {
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = int32(i), b
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	return req
}

func askProduce(t *testing.T, s *Server, version int16, req *kmsg.ProduceRequest) []kmsg.ProduceResponseTopicPartition {
	t.Helper()
	resp := ask(t, s, version, req).(*kmsg.ProduceResponse)
	if len(resp.Topics) != len(req.Topics) || resp.Topics[0].Topic != req.Topics[0].Topic {
		t.Fatalf("topics %+v", resp.Topics)
	}
	return resp.Topics[0].Partitions
}

func TestProduceCodes(t *testing.T) {
	v := func(values ...string) []byte { return producedBatch(t, batch.None, nil, plainValues(values...)...) }
	spoiled := func(change func(*batch.Header)) []byte {
		return producedBatch(t, batch.None, change, plainValues("a", "b")...)
	}
	damaged := v("a")
	damaged[len(damaged)-1]++
	late := spoiled(func(h *batch.Header) { h.FirstTimestamp += 2 * time.Hour.Milliseconds() })
	txn := spoiled(func(h *batch.Header) {
		h.Attributes, h.ProducerID, h.ProducerEpoch, h.BaseSequence = batch.Attributes(batch.None, false, true, false), 1, 0, 0
	})
	gap := spoiled(func(h *batch.Header) { h.ProducerID, h.ProducerEpoch, h.BaseSequence = 7, 1, 5 })
	start := spoiled(func(h *batch.Header) { h.ProducerID, h.ProducerEpoch, h.BaseSequence = 7, 1, 0 })
	id := "transaction"
	for name, c := range map[string]struct {
		topic   string
		version int16
		batch   []byte
		change  func(*kmsg.ProduceRequest)
		want    *kerr.Error
		records int
	}{
		"good":                            {"plain", 11, v("a"), nil, nil, 0},
		"unknown topic":                   {"absent", 9, v("a"), nil, kerr.UnknownTopicOrPartition, 0},
		"unknown partition":               {"plain", 9, v("a"), func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Partition = 1 }, kerr.UnknownTopicOrPartition, 0},
		"negative partition":              {"plain", 9, v("a"), func(r *kmsg.ProduceRequest) { r.Topics[0].Partitions[0].Partition = -1 }, kerr.UnknownTopicOrPartition, 0},
		"acks 2":                          {"plain", 9, v("a"), func(r *kmsg.ProduceRequest) { r.Acks = 2 }, kerr.InvalidRequiredAcks, 0},
		"null records":                    {"plain", 9, nil, nil, kerr.InvalidRecord, 0},
		"damaged":                         {"plain", 9, damaged, nil, kerr.CorruptMessage, 0},
		"two batches":                     {"plain", 9, append(v("a"), v("b")...), nil, kerr.InvalidRecord, 0},
		"nothing is small enough":         {"closed", 9, v("x"), nil, kerr.MessageTooLarge, 0},
		"too large":                       {"small", 9, v(strings.Repeat("x", 300)), nil, kerr.MessageTooLarge, 0},
		"zstd before v7":                  {"plain", 6, producedBatch(t, batch.Zstd, nil, plainValues("a")...), nil, kerr.UnsupportedCompressionType, 0},
		"zstd":                            {"plain", 7, producedBatch(t, batch.Zstd, nil, plainValues("a")...), nil, nil, 0},
		"too late":                        {"plain", 9, late, nil, kerr.InvalidTimestamp, 2},
		"too late, append time":           {"stamped", 9, late, nil, nil, 0},
		"no key on a compacted topic":     {"compacted", 9, v("a", "b"), nil, kerr.InvalidRecord, 2},
		"plain on a strict topic":         {"strict", 9, v("a", "b", "c"), nil, kerr.InvalidRecord, 3},
		"plain on a strict topic, before": {"strict", 7, v("a"), nil, kerr.InvalidRecord, 1},
		"config from another time":        {"broken", 9, v("a"), nil, kerr.InvalidConfig, 0},
		"transaction without id":          {"plain", 9, txn, nil, kerr.TransactionalIDAuthorizationFailed, 0},
		"transaction":                     {"plain", 9, txn, func(r *kmsg.ProduceRequest) { r.TransactionID = &id }, kerr.InvalidTxnState, 0},
		"transaction, v11":                {"plain", 11, txn, func(r *kmsg.ProduceRequest) { r.TransactionID = &id }, kerr.TransactionAbortable, 0},
	} {
		broker := memory.New(testClock)
		s := newServer(t, Options{Clock: testClock, Broker: broker, Envelope: engineOf(t, broker, noSchemas{})})
		mustCreate(t, s, "plain", 1, nil)
		mustCreate(t, s, "small", 1, map[string]string{"max.message.bytes": "200"})
		mustCreate(t, s, "closed", 1, map[string]string{"max.message.bytes": "0"})
		mustCreate(t, s, "compacted", 1, map[string]string{"cleanup.policy": "compact"})
		mustCreate(t, s, "stamped", 1, map[string]string{"message.timestamp.type": "LogAppendTime"})
		mustCreate(t, s, "strict", 1, map[string]string{envelope.ConfigValueValidation: "strict"})
		mustCreate(t, s, "broken", 1, map[string]string{envelope.ConfigValueValidation: "no such mode"})
		req := produceTo(c.topic, -1, c.batch)
		if c.change != nil {
			c.change(req)
		}
		p := askProduce(t, s, c.version, req)[0]
		if p.Partition != req.Topics[0].Partitions[0].Partition {
			t.Errorf("%s: partition %d", name, p.Partition)
		}
		if c.want == nil {
			if p.ErrorCode != 0 || p.BaseOffset != 0 || p.ErrorMessage != nil || len(p.ErrorRecords) != 0 {
				t.Errorf("%s: %+v", name, p)
			}
			continue
		}
		if p.ErrorCode != c.want.Code || p.BaseOffset != -1 || p.LogAppendTime != -1 || len(p.ErrorRecords) != c.records || p.ErrorMessage == nil {
			t.Errorf("%s: %+v, want %v and %d records", name, p, c.want, c.records)
		}
		for i, rec := range p.ErrorRecords {
			if rec.RelativeOffset != int32(i) || rec.ErrorMessage == nil || *rec.ErrorMessage == "" {
				t.Errorf("%s: record %+v", name, rec)
			}
		}
	}
	s := newServer(t, Options{Clock: testClock})
	mustCreate(t, s, "plain", 1, nil)
	for i, want := range []struct {
		batch  []byte
		code   int16
		offset int64
	}{{start, 0, 0}, {start, 0, 0}, {gap, kerr.OutOfOrderSequenceNumber.Code, -1}, {v("x"), 0, 2}} {
		if p := askProduce(t, s, 9, produceTo("plain", -1, want.batch))[0]; p.ErrorCode != want.code || p.BaseOffset != want.offset {
			t.Errorf("idempotent step %d: %+v, want %+v", i, p, want)
		}
	}
}

// TestProducePartitionsAreIndependent: some fail, the others are stored.
func TestProducePartitionsAreIndependent(t *testing.T) {
	s := newServer(t, Options{Clock: testClock})
	mustCreate(t, s, "t", 3, nil)
	bad := producedBatch(t, batch.None, nil, plainValues("b")...)
	bad[17]++
	good := producedBatch(t, batch.Gzip, nil, plainValues("a")...)
	req := produceTo("t", 1, good, bad, good, good)
	req.Topics = append(req.Topics, produceTo("absent", 1, good).Topics...)
	resp := ask(t, s, 9, req).(*kmsg.ProduceResponse)
	var codes []int16
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			codes = append(codes, p.ErrorCode)
		}
	}
	if fmt.Sprint(codes) != "[0 2 0 3 3]" {
		t.Errorf("codes %v", codes)
	}
}

func TestProduceWithoutAnswer(t *testing.T) {
	s := newServer(t, Options{Clock: testClock})
	mustCreate(t, s, "t", 1, nil)
	resp, err := tryAsk(s, 9, produceTo("t", 0, producedBatch(t, batch.None, nil, plainValues("a")...)))
	if resp != nil || err != nil {
		t.Errorf("%v, %v, want neither answer nor error", resp, err)
	}
	if got := fetchValues(t, s, 12, fetchRequest("t", 0)); got != "a" {
		t.Errorf("stored %q", got)
	}
	resp, err = tryAsk(s, 9, produceTo("absent", 0, producedBatch(t, batch.None, nil, plainValues("a")...)))
	if resp != nil || !errors.Is(err, backend.ErrUnknownTopic) {
		t.Errorf("%v, %v, want an error that closes the connection", resp, err)
	}
}

func TestProduceLogAppendTime(t *testing.T) {
	s := newServer(t, Options{Clock: testClock})
	mustCreate(t, s, "t", 1, map[string]string{"message.timestamp.type": "LogAppendTime"})
	b := producedBatch(t, batch.None, func(h *batch.Header) { h.FirstTimestamp, h.MaxTimestamp = 1000, 1000 }, plainValues("a", "b")...)
	if p := askProduce(t, s, 9, produceTo("t", -1, b))[0]; p.LogAppendTime != testTime {
		t.Errorf("log append time %d", p.LogAppendTime)
	}
	h, err := batch.Parse(askFetch(t, s, 12, fetchRequest("t", 0)).RecordBatches)
	if err != nil || !h.LogAppendTime() || h.MaxTimestamp != testTime || h.FirstTimestamp != testTime {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestProduceInTrouble: a registry or broker out of reach is retriable.
func TestProduceInTrouble(t *testing.T) {
	broker := memory.New(testClock)
	s := newServer(t, Options{Clock: testClock, Broker: broker, Envelope: engineOf(t, broker, unreachable{})})
	mustCreate(t, s, "t", 1, nil)
	enveloped := producedBatch(t, batch.None, nil, batch.Record{Value: []byte{0, 0, 0, 0, 1, 2}})
	if p := askProduce(t, s, 9, produceTo("t", -1, enveloped))[0]; p.ErrorCode != kerr.NotEnoughReplicas.Code || p.BaseOffset != -1 {
		t.Errorf("registry out of reach: %+v", p)
	} else if p.ErrorMessage == nil || !strings.HasSuffix(*p.ErrorMessage, "schema registry unavailable") {
		t.Errorf("registry out of reach: message %v", p.ErrorMessage)
	}
	if got := fetchValues(t, s, 12, fetchRequest("t", 0)); got != "" {
		t.Errorf("stored %q", got)
	}
	// A broker that answers look-ups of topics but doesn't take data.
	s = newServer(t, Options{Clock: testClock, Broker: refusing{broker, backend.ErrUnavailable}})
	p := askProduce(t, s, 9, produceTo("t", -1, producedBatch(t, batch.None, nil, plainValues("a")...)))[0]
	if err := kerr.TypedErrorForCode(p.ErrorCode); err == nil || !err.Retriable {
		t.Errorf("broker out of reach: %+v", p)
	}
	s = newServer(t, Options{Clock: testClock, Broker: refusing{broker, context.DeadlineExceeded}})
	p = askProduce(t, s, 9, produceTo("t", -1, producedBatch(t, batch.None, nil, plainValues("a")...)))[0]
	if p.ErrorCode != kerr.RequestTimedOut.Code {
		t.Errorf("broker too slow: %+v", p)
	}
}

type refusing struct {
	*memory.Broker
	err error
}

func (r refusing) Enqueue(context.Context, backend.Durability, []backend.Append) (backend.Pending, error) {
	return nil, fmt.Errorf("append: %w", r.err)
}

type unreachable struct{}

func (unreachable) ByID(context.Context, string, int32) (schema.Resolved, error) {
	return schema.Resolved{}, fmt.Errorf("%w: dial 10.0.0.1", schema.ErrUnavailable)
}

func (unreachable) ByGUID(context.Context, string) (schema.Resolved, error) {
	return schema.Resolved{}, schema.ErrUnavailable
}

func engineOf(t *testing.T, b backend.Broker, l schema.Lookup) *envelope.Engine {
	t.Helper()
	programs, err := serde.NewPrograms(serde.ProgramsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := serde.NewResolver(serde.ResolverOptions{Lookup: l, Programs: programs})
	if err != nil {
		t.Fatal(err)
	}
	e, err := envelope.New(envelope.Options{Resolver: resolver, Programs: programs, Schemas: b, Clock: testClock})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestProduceKeepsNothingOfTheFrame: the frame's buffer is used again, so the
// tail cache and the stored batch must not point into it.
func TestProduceKeepsNothingOfTheFrame(t *testing.T) {
	s := newServer(t, Options{Clock: testClock})
	mustCreate(t, s, "t", 1, nil)
	for _, codec := range []batch.Codec{batch.None, batch.Snappy} {
		b := producedBatch(t, codec, nil, plainValues("a value")...)
		p := askProduce(t, s, 9, produceTo("t", -1, b))[0]
		clear(b)
		for range 2 { // from the tail cache, then rebuilt
			got := askFetch(t, s, 12, fetchRequest("t", p.BaseOffset)).RecordBatches
			if !bytes.Contains(decompressed(t, got), []byte("a value")) {
				t.Errorf("%v: %x", codec, got)
			}
			s.envelope = newEngine(t, s.broker)
		}
	}
}
