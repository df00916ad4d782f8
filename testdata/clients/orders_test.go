package clients

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/linkedin/goavro/v2"
	"github.com/twmb/franz-go/pkg/kgo"
)

const orderSchema = `{"type":"record","name":"Order","namespace":"shop","fields":[
 {"name":"id","type":"long"},
 {"name":"customer","type":"string"},
 {"name":"note","type":["null","string"],"default":null},
 {"name":"total","type":"double"},
 {"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
   {"name":"sku","type":"string"},{"name":"count","type":"int"}]}}},
 {"name":"labels","type":{"type":"map","values":"string"}}]}`

// orders makes enveloped orders, encoded by goavro (one block an array).
type orders struct {
	codec *goavro.Codec
	id    int
}

func newOrders(t *testing.T, id int) *orders {
	t.Helper()
	codec, err := goavro.NewCodec(orderSchema)
	if err != nil {
		t.Fatal(err)
	}
	return &orders{codec, id}
}

func (o *orders) value(t *testing.T, i int) []byte {
	t.Helper()
	var note any
	if i%3 == 0 {
		note = goavro.Union("string", fmt.Sprintf("leave it at door %d", i))
	}
	lines := []any{}
	for l := range i % 4 {
		lines = append(lines, map[string]any{"sku": fmt.Sprintf("SKU-%05d", i*7+l), "count": l + 1})
	}
	labels := map[string]any{}
	if i%2 == 0 {
		labels["channel"] = "web"
	}
	b, err := o.codec.BinaryFromNative(envelope(o.id), map[string]any{
		"id": int64(i), "customer": fmt.Sprintf("customer-%d", i%1000), "note": note,
		"total": float64(i) / 100, "lines": lines, "labels": labels,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func envelope(id int) []byte {
	return binary.BigEndian.AppendUint32([]byte{0}, uint32(id))
}

func newClient(t *testing.T, s *server, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(s.kafka), kgo.AllowAutoTopicCreation()}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// produce sends n records made by value, one after the other in order, and
// fails the test unless all are acknowledged.
func produce(t *testing.T, cl *kgo.Client, topic string, from, n int, record func(i int) *kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	errs := make(chan error, n)
	for i := from; i < from+n; i++ {
		r := record(i)
		r.Topic = topic
		cl.Produce(ctx, r, func(_ *kgo.Record, err error) { errs <- err })
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatalf("produce: %v", err)
		}
	}
}

// consume reads n records of the client's topics.
func consume(t *testing.T, cl *kgo.Client, n int) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out []*kgo.Record
	for len(out) < n {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("consume after %d of %d records: %v", len(out), n, err)
		}
		out = append(out, fetches.Records()...)
	}
	return out
}

func sameRecord(got, want *kgo.Record) error {
	switch {
	case !bytes.Equal(got.Key, want.Key) || (got.Key == nil) != (want.Key == nil):
		return fmt.Errorf("key %x, want %x", got.Key, want.Key)
	case !bytes.Equal(got.Value, want.Value) || (got.Value == nil) != (want.Value == nil):
		return fmt.Errorf("value %x, want %x", got.Value, want.Value)
	case !want.Timestamp.IsZero() && got.Timestamp.UnixMilli() != want.Timestamp.UnixMilli():
		return fmt.Errorf("timestamp %v, want %v", got.Timestamp, want.Timestamp)
	case len(got.Headers) != len(want.Headers):
		return fmt.Errorf("%d headers, want %d", len(got.Headers), len(want.Headers))
	}
	for i := range got.Headers {
		g, w := got.Headers[i], want.Headers[i]
		if g.Key != w.Key || !bytes.Equal(g.Value, w.Value) || (g.Value == nil) != (w.Value == nil) {
			return fmt.Errorf("header %d: %q %x, want %q %x", i, g.Key, g.Value, w.Key, w.Value)
		}
	}
	return nil
}
