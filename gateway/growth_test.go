package gateway_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway"
	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/gateway/envelope"
	"milena/gateway/gatewaytest"
)

// compressible is a batch of one value that decompresses to size bytes, the
// first of which say which it is.
func compressible(t *testing.T, size int, name string) []byte {
	t.Helper()
	value := append([]byte(name), bytes.Repeat([]byte{'.'}, size)...)
	section := batch.AppendRecord(nil, &batch.Record{Value: value})
	b, err := new(batch.Codecs).Compress(batch.Begin(nil), section, batch.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	batch.Finish(b, batch.Header{
		Attributes: batch.Attributes(batch.Zstd, false, false, false), LeaderEpoch: -1,
		ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 1,
	})
	return b
}

// TestBatchesThatGrow has many connections pipeline requests of several batches
// each, whose contents don't fit the memory for growth all at once, large ones
// among them: every request is answered, in order, and nobody waits for ever for
// memory that another one holds.
func TestBatchesThatGrow(t *testing.T) {
	const connections, requests, topics = 6, 8, 4
	g := gatewaytest.Start(t, gatewaytest.Options{
		Envelope: func(o *envelope.Options) {
			o.GrowthBytesMax, o.SmallBatchBytes, o.LargeBatchesMax = 256<<10, 128<<10, 2
		},
		Server: func(o *gateway.Options) { o.FrameBytesMax, o.RequestBytesMax = 64<<10, 64<<10 },
	})
	names := make([]string, topics)
	for i := range names {
		names[i] = fmt.Sprint("t", i)
		if _, err := g.Broker.CreateTopic(t.Context(), backend.TopicSpec{Name: names[i], Partitions: 1}); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for n := range connections {
		c := dial(t, g.Addr)
		var frames []byte
		for i := range requests {
			req := produce(-1, names...)
			for j := range req.Topics {
				size := []int{1000, 60_000, 100_000, 400_000}[(n+i+j)%4]
				req.Topics[j].Partitions[0].Records = compressible(t, size, fmt.Sprintf("%d/%d/", n, i))
			}
			frames = append(frames, request(8, int32(i), req)...)
		}
		go func() { _, _ = c.conn.Write(frames) }() // the answers show what arrived
		wait.Go(func() {
			for i := range int32(requests) {
				for _, topic := range c.produced(i) {
					if p := topic.Partitions[0]; p.ErrorCode != 0 {
						t.Errorf("request %d of connection %d: %s: code %d", i, n, topic.Topic, p.ErrorCode)
					}
				}
			}
		})
	}
	if wait.Wait(); t.Failed() {
		return
	}
	c := dial(t, g.Addr)
	for _, name := range names {
		next := map[int]int{}
		for offset := int64(0); offset < connections*requests; offset++ {
			req := fetch(name, offset, 0)
			req.MaxBytes = 1
			got := c.ask(11, req).(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches
			n, i := whichRecord(t, got)
			if next[n] != i {
				t.Fatalf("%s: record %d of connection %d where %d is next", name, i, n, next[n])
			}
			next[n]++
		}
	}
}

// whichRecord reads the numbers at the start of a batch's only value.
func whichRecord(t *testing.T, b []byte) (connection, request int) {
	t.Helper()
	h, err := batch.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	section, err := new(batch.Codecs).Decompress(nil, b[batch.HeaderBytes:], h.Codec(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var records batch.Records
	records.Reset(section, h.Count)
	var r batch.Record
	if !records.Next(&r) {
		t.Fatal(records.Err())
	}
	if _, err := fmt.Sscanf(string(r.Value[:20]), "%d/%d/", &connection, &request); err != nil {
		t.Fatalf("%q: %v", r.Value[:20], err)
	}
	return connection, request
}
