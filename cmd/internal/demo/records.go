package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/linkedin/goavro/v2"
	"github.com/twmb/franz-go/pkg/kgo"
)

const topic = "orders"

// orders makes orders in Confluent's envelope: 0x00, four bytes id, Avro.
type orders struct {
	codec *goavro.Codec
	id    int
	start time.Time
}

func newOrders(id int) (*orders, error) {
	codec, err := goavro.NewCodec(secondSchema)
	if err != nil {
		return nil, err
	}
	return &orders{codec, id, time.UnixMilli(time.Now().UnixMilli())}, nil
}

func (o *orders) record(i int) (*kgo.Record, error) {
	var lines []any
	for l := range i%3 + 1 {
		lines = append(lines, map[string]any{"sku": fmt.Sprintf("SKU-%05d", (i*7+l)%90_000), "count": int32(l + 1), "cents": int64(i%9000 + 99)})
	}
	var note any
	if i%5 == 0 {
		note = goavro.Union("string", "Bitte beim Nachbarn abgeben")
	}
	prefix := binary.BigEndian.AppendUint32([]byte{0}, uint32(o.id))
	value, err := o.codec.BinaryFromNative(prefix, map[string]any{
		"id": int64(i), "customer": fmt.Sprintf("customer-%04d", i%1000), "placed": o.start.Add(time.Duration(i) * time.Millisecond),
		"lines": lines, "note": note,
	})
	if err != nil {
		return nil, err
	}
	return &kgo.Record{
		Topic: topic, Key: fmt.Appendf(nil, "customer-%04d", i%1000), Value: value,
		Timestamp: o.start.Add(time.Duration(i) * time.Millisecond),
		Headers:   []kgo.RecordHeader{{Key: "number", Value: fmt.Append(nil, i)}},
	}, nil
}

func produce(ctx context.Context, seed string, o *orders, n int) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(seed), kgo.AllowAutoTopicCreation(), kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	if err != nil {
		return err
	}
	defer cl.Close()
	records := make([]*kgo.Record, n)
	bytes := 0
	for i := range records {
		if records[i], err = o.record(i); err != nil {
			return err
		}
		bytes += len(records[i].Value)
	}
	began := time.Now()
	var failed atomic.Pointer[error]
	for _, r := range records {
		cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	if err := failed.Load(); err != nil {
		return fmt.Errorf("produce: %w", *err)
	}
	fmt.Printf("   acknowledged (acks=all, on disk): %s; %d bytes of values\n", rate(n, time.Since(began)), bytes)
	return nil
}
