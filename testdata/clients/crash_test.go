package clients

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
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

// verify reads the whole topic and compares it with what was acknowledged. More
// may be there: records whose acknowledgement was lost.
func verify(t *testing.T, s *server, topic string, acked [][]int, o *orders) {
	t.Helper()
	seen := make([][]int, len(acked))
	cl := newClient(t, s, kgo.ConsumeTopics(topic))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !contains(seen, acked) {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%s: %v; seen %d %d %d of %d %d %d", topic, err, len(seen[0]), len(seen[1]), len(seen[2]), len(acked[0]), len(acked[1]), len(acked[2]))
		}
		fetches.EachRecord(func(r *kgo.Record) {
			var p int
			if _, err := fmt.Sscan(string(r.Key), &p); err != nil {
				t.Fatal(err)
			}
			native, _, err := o.codec.NativeFromBinary(r.Value[5:])
			if err != nil {
				t.Fatalf("%s: offset %d: %v", topic, r.Offset, err)
			}
			seen[p] = append(seen[p], int(native.(map[string]any)["id"].(int64)))
		})
	}
	for p := range seen {
		for i, v := range seen[p] {
			if v != i {
				t.Fatalf("%s: producer %d: record %d is number %d: lost, repeated or out of order", topic, p, i, v)
			}
		}
	}
}

func contains(seen, acked [][]int) bool {
	for p := range seen {
		if len(seen[p]) < len(acked[p]) {
			return false
		}
	}
	return true
}
