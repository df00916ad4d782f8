package kapi_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/envelope"
	"milena/gateway/gatewaytest"
	"milena/serde/schema"
)

// orders is a registry with one schema, id 7.
type orders struct{}

func (orders) ByID(_ context.Context, c string, id int32) (schema.Resolved, error) {
	if c != schema.DefaultContext || id != 7 {
		return schema.Resolved{}, schema.ErrUnknown
	}
	return schema.Resolved{Type: schema.Avro, Text: `{"type":"record","name":"Order","fields":[
		{"name":"id","type":"long"},{"name":"name","type":"string"},{"name":"tags","type":{"type":"array","items":"string"}}]}`}, nil
}

func (orders) ByGUID(context.Context, string) (schema.Resolved, error) {
	return schema.Resolved{}, schema.ErrUnknown
}

func text(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }

// enveloped is a record as serializers write it; every other one with its array
// in a counted block, as hamba does.
func enveloped(i int) []byte {
	b := text(binary.AppendVarint([]byte{0, 0, 0, 0, 7}, int64(i)), fmt.Sprintf("order %d", i))
	items := text(text(nil, "first"), "second")
	if i%2 == 0 {
		b = binary.AppendVarint(b, 2)
	} else {
		b = binary.AppendVarint(binary.AppendVarint(b, -2), int64(len(items)))
	}
	return append(append(b, items...), 0)
}

// TestFranzGoGetsBackWhatItSent: an unmodified client, every codec, with and
// without the tail cache, and what is stored is RecordValues.
func TestFranzGoGetsBackWhatItSent(t *testing.T) {
	const records = 3000
	for name, codec := range map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()} {
		for _, tailOff := range []bool{false, true} {
			var forms [3]atomic.Int64
			var hits, misses atomic.Int64
			broker := memory.New(nil)
			g := gatewaytest.Start(t, gatewaytest.Options{Broker: broker, Lookup: orders{}, Envelope: func(o *envelope.Options) {
				o.TailOff = tailOff
				o.Observer.Stored = func(f envelope.Form, n int) { forms[f].Add(int64(n)) }
				o.Observer.Tail = func(hit bool) {
					if hit {
						hits.Add(1)
					} else {
						misses.Add(1)
					}
				}
			}})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			if _, err := broker.CreateTopic(ctx, backend.TopicSpec{Name: "orders", Partitions: 3}); err != nil {
				t.Fatal(err)
			}
			produceAll(ctx, t, g.Addr, codec, records)
			consumeAll(ctx, t, g.Addr, records)
			cancel()
			if forms[envelope.Rebuilt].Load() != records || forms[envelope.WithOriginal].Load() != 0 || forms[envelope.Raw].Load() != 0 {
				t.Errorf("%s: %d records rebuilt, want %d", name, forms[envelope.Rebuilt].Load(), records)
			}
			if tailOff && hits.Load() > 0 || !tailOff && misses.Load() > 0 {
				t.Errorf("%s, tail off %v: %d hits, %d misses", name, tailOff, hits.Load(), misses.Load())
			}
		}
	}
}

func produceAll(ctx context.Context, t *testing.T, addr string, codec kgo.CompressionCodec, records int) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic("orders"), kgo.ProducerLinger(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range records {
		r := &kgo.Record{Key: fmt.Appendf(nil, "%d", i), Value: enveloped(i), Timestamp: time.UnixMilli(1_700_000_000_000 + int64(i)),
			Headers: []kgo.RecordHeader{{Key: "null"}, {Key: "n", Value: fmt.Appendf(nil, "%d", i)}}}
		c.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Errorf("produce %d: %v", i, err)
			}
		})
	}
	if err := c.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

func consumeAll(ctx context.Context, t *testing.T, addr string, records int) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics("orders"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seen := make([]bool, records)
	for left := records; left > 0; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("%d records left: %v", left, err)
		}
		for _, e := range fetches.Errors() {
			t.Fatalf("partition %d: %v", e.Partition, e.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			var i int
			if _, err := fmt.Sscan(string(r.Key), &i); err != nil || i < 0 || i >= records || seen[i] {
				t.Fatalf("key %q, again %v, %v", r.Key, err == nil, err)
			}
			seen[i] = true
			left--
			if !bytes.Equal(r.Value, enveloped(i)) || r.Timestamp.UnixMilli() != 1_700_000_000_000+int64(i) || len(r.Headers) != 2 ||
				r.Headers[0].Value != nil || string(r.Headers[1].Value) != string(r.Key) {
				t.Fatalf("record %d came back as %+v", i, r)
			}
		})
	}
}
