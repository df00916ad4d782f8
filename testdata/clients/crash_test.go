package clients

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestKillInTheMiddle kills the process with signal 9 while producers run, and
// wants every acknowledged record once and in order after a restart.
func TestKillInTheMiddle(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir())...)
	o := newOrders(t, s.register("crash-value", orderSchema))
	const producers = 3
	for round := range 3 {
		topic := fmt.Sprintf("crash-%d", round)
		var mu sync.Mutex
		acked := make([][]int, producers) // sequence numbers of each producer, in the order of acknowledgement
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for p := range producers {
			cl := newClient(t, s, kgo.DefaultProduceTopic(topic), kgo.RecordDeliveryTimeout(2*time.Second))
			running.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					cl.Produce(ctx, &kgo.Record{Key: fmt.Appendf(nil, "%d", p), Value: o.value(t, i)}, func(r *kgo.Record, err error) {
						if err == nil {
							mu.Lock()
							acked[p] = append(acked[p], i)
							mu.Unlock()
						}
					})
				}
			})
		}
		eventually(t, 30*time.Second, "5,000 acknowledged records", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(acked[0]) > 5000 && len(acked[1]) > 5000 && len(acked[2]) > 5000
		})
		s.kill()
		cancel()
		running.Wait()
		s.restart()
		mu.Lock()
		verify(t, s, topic, acked, o)
		mu.Unlock()
	}
}

// TestKillUnderProducers kills the process twice while idempotent producers run
// and go on against the next one on the same port: what they send again is not
// stored again, and nothing is lost or changes places.
func TestKillUnderProducers(t *testing.T) {
	s := start(t, "--data-dir", t.TempDir(), "--kafka-listen", lastingAddress(t),
		"--registry-listen", "127.0.0.1:0", "--broker-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	o := newOrders(t, s.register("resumed-value", orderSchema))
	const producers, each = 3, 20_000
	var mu sync.Mutex
	acked := make([][]int, producers)
	var failed error
	total := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(acked[0]) + len(acked[1]) + len(acked[2])
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var running sync.WaitGroup
	for p := range producers {
		cl := newClient(t, s, kgo.DefaultProduceTopic("resumed"), kgo.MaxBufferedRecords(2000), kgo.ProducerBatchMaxBytes(16<<10))
		running.Go(func() {
			for i := range each {
				cl.Produce(ctx, &kgo.Record{Key: fmt.Appendf(nil, "%d", p), Value: o.value(t, i)}, func(_ *kgo.Record, err error) {
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						failed = errors.Join(failed, fmt.Errorf("producer %d, record %d: %w", p, i, err))
						return
					}
					acked[p] = append(acked[p], i)
				})
			}
			if err := cl.Flush(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, fmt.Errorf("producer %d: %w", p, err))
			}
		})
	}
	for _, n := range []int{5000, 25_000} {
		eventually(t, time.Minute, fmt.Sprint(n, " acknowledged records"), func() bool { return total() > n })
		s.kill()
		s.restart()
	}
	running.Wait()
	if total() != producers*each || failed != nil {
		t.Fatalf("%d records acknowledged, want %d: %s", total(), producers*each, tail(fmt.Sprint(failed), 1000))
	}
	verify(t, s, "resumed", acked, o)
}

// verify reads the whole topic and compares it with what was acknowledged. More
// may be there: records whose acknowledgement was lost.
func verify(t *testing.T, s *server, topic string, acked [][]int, o *orders) {
	t.Helper()
	seen := make([][]int, len(acked))
	cl := newClient(t, s, kgo.ConsumeTopics(topic))
	for _, r := range consume(t, cl, int(s.end(t, cl, topic))) {
		var p int
		if _, err := fmt.Sscan(string(r.Key), &p); err != nil {
			t.Fatal(err)
		}
		native, _, err := o.codec.NativeFromBinary(r.Value[5:])
		if err != nil {
			t.Fatalf("%s: offset %d: %v", topic, r.Offset, err)
		}
		seen[p] = append(seen[p], int(native.(map[string]any)["id"].(int64)))
	}
	for p := range seen {
		for i, v := range seen[p] {
			if v != i {
				t.Fatalf("%s: producer %d: record %d is number %d: lost, repeated or out of order", topic, p, i, v)
			}
		}
		if len(seen[p]) < len(acked[p]) {
			t.Errorf("%s: producer %d: %d records of %d acknowledged ones", topic, p, len(seen[p]), len(acked[p]))
		}
	}
}

// end is the end of the topic's only partition.
func (s *server) end(t *testing.T, cl *kgo.Client, topic string) int64 {
	t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	rt, rp := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	rt.Topic, rp.Timestamp = topic, -1
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(t.Context(), cl)
	if err != nil || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("list offsets: %v, %+v", err, resp)
	}
	return resp.Topics[0].Partitions[0].Offset
}
