package backend_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/broker"
	"milena/broker/client"
	"milena/broker/journal"
	journalmemory "milena/broker/journal/memory"
	"milena/cmd/internal/backend"
	gateway "milena/gateway/backend"
	"milena/gateway/backend/backendtest"
	"milena/gateway/gatewaytest"
)

// slowJournal counts its syncs, each of which takes as long as that of a disk.
type slowJournal struct {
	journal.Journal
	took  time.Duration
	syncs atomic.Int64
}

func newSlowJournal(took time.Duration) *slowJournal {
	return &slowJournal{Journal: journalmemory.New(journalmemory.Options{}), took: took}
}

func (j *slowJournal) Sync() error {
	j.syncs.Add(1)
	time.Sleep(j.took)
	return j.Journal.Sync()
}

// TestPendingAppendsShareSyncs: one caller with many appends under way waits for
// few syncs, in one process and over gRPC. A sync each would be ten times what is
// allowed.
func TestPendingAppendsShareSyncs(t *testing.T) {
	const appends, allowed = 200, 20
	for _, c := range []struct {
		name string
		node func(t *testing.T, b *broker.Broker) gateway.Broker
	}{
		{"in process", func(_ *testing.T, b *broker.Broker) gateway.Broker { return backend.New(b) }},
		{"remote", func(t *testing.T, b *broker.Broker) gateway.Broker {
			r := dial(t, client.Options{Address: serve(t, b, broker.ServerOptions{}), Holder: "test"})
			ready(t, r)
			return backend.New(r)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newSlowJournal(20 * time.Millisecond)
			n := c.node(t, open(t, options(broker.Options{Journal: j})))
			topic, err := n.CreateTopic(t.Context(), gateway.TopicSpec{Name: "t", Partitions: 2})
			if err != nil {
				t.Fatal(err)
			}
			before := j.syncs.Load()
			pending := make([]gateway.Pending, appends)
			for i := range pending {
				b := (&backendtest.Batch{}).By(1, 0, int32(i/2))
				pending[i], err = n.Enqueue(t.Context(), gateway.Synced, []gateway.Append{
					{Partition: gateway.Partition{Topic: topic.ID, Index: int32(i % 2)}, Batch: b.Bytes(t)}})
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, p := range pending {
				out, err := p.Wait(t.Context())
				if err != nil || out[0].Err != nil || out[0].BaseOffset != int64(i/2) {
					t.Fatalf("append %d: %+v %v", i, out, err)
				}
			}
			if syncs := j.syncs.Load() - before; syncs > allowed {
				t.Errorf("%d syncs for %d appends, want %d at most", syncs, appends, allowed)
			}
		})
	}
}

// produceCount counts a client's produce requests, and how many of them were
// unanswered at a time.
type produceCount struct {
	mu                      sync.Mutex // guards everything below
	requests, open, mostNow int
}

func (c *produceCount) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if key != int16(kmsg.Produce) || err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.open++
	c.mostNow = max(c.mostNow, c.open)
}

func (c *produceCount) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	if key != int16(kmsg.Produce) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// TestFranzGoPipelines: an unmodified producer, idempotent or not, with five requests in
// flight on its connection waits for fewer syncs than it sends requests, and
// every record is there once, in order.
func TestFranzGoPipelines(t *testing.T) {
	const records = 60
	for _, acks := range []struct {
		name       string
		acks       kgo.Acks
		idempotent bool
	}{{"all", kgo.AllISRAcks(), true}, {"leader", kgo.LeaderAck(), false}} {
		t.Run(acks.name, func(t *testing.T) {
			j := newSlowJournal(20 * time.Millisecond)
			b := open(t, options(broker.Options{Journal: j}))
			g := gatewaytest.Start(t, gatewaytest.Options{Broker: backend.New(b)})
			var count produceCount
			opts := []kgo.Opt{
				kgo.SeedBrokers(g.Addr), kgo.DefaultProduceTopic("t"), kgo.AllowAutoTopicCreation(),
				kgo.RequiredAcks(acks.acks), kgo.ProducerLinger(time.Millisecond), kgo.WithHooks(&count),
				// One record fills a batch.
				kgo.ProducerBatchMaxBytes(1000), kgo.ProducerBatchCompression(kgo.NoCompression()),
			}
			if !acks.idempotent { // else that is its number
				opts = append(opts, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5))
			}
			cl, err := kgo.NewClient(opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			send(t, ctx, cl, 0, 1) // with what a producer asks for first
			before := j.syncs.Load()
			count.mu.Lock()
			count.requests = 0
			count.mu.Unlock()
			send(t, ctx, cl, 1, records)
			syncs := int(j.syncs.Load() - before)
			count.mu.Lock()
			requests, most := count.requests, count.mostNow
			count.mu.Unlock()
			t.Logf("%d requests, up to %d in flight, %d syncs", requests, most, syncs)
			if requests < records/2 || most < 2 {
				t.Fatalf("%d requests, up to %d in flight: the client doesn't do what is tested", requests, most)
			}
			if syncs > requests*2/3 {
				t.Errorf("%d syncs for %d requests", syncs, requests)
			}
			checkOrder(t, ctx, cl, records)
		})
	}
}

// send produces the records from number from on, and waits for them.
func send(t *testing.T, ctx context.Context, cl *kgo.Client, from, to int) {
	t.Helper()
	var wait sync.WaitGroup
	for i := from; i < to; i++ {
		wait.Add(1)
		cl.Produce(ctx, &kgo.Record{Value: fmt.Appendf(nil, "%0700d", i)}, func(r *kgo.Record, err error) {
			defer wait.Done()
			if err != nil || r.Offset != int64(i) {
				t.Errorf("record %d: offset %d, %v", i, r.Offset, err)
			}
		})
	}
	wait.Wait()
}

// checkOrder wants the numbers from 0 on, at their offsets.
func checkOrder(t *testing.T, ctx context.Context, cl *kgo.Client, records int) {
	t.Helper()
	cl.AddConsumePartitions(map[string]map[int32]kgo.Offset{"t": {0: kgo.NewOffset().AtStart()}})
	for next := 0; next < records; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		for r := range fetches.RecordsAll() {
			if want := fmt.Sprintf("%0700d", next); r.Offset != int64(next) || string(r.Value) != want {
				t.Fatalf("offset %d holds %q, want record %d", r.Offset, r.Value, next)
			}
			next++
		}
	}
}
