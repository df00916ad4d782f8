package gatewaytest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"milena/gateway/gatewaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, addr string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addr), kgo.AllowAutoTopicCreation()}, opts...)...)
	if err != nil {
		t.Fatalf("new client: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// consume polls until it has n records, and returns them by value.
func consume(ctx context.Context, t *testing.T, c *kgo.Client, n int) map[string]int {
	t.Helper()
	got := map[string]int{}
	for count := 0; count < n; {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", count, n, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			got[string(r.Value)]++
			count++
		})
	}
	return got
}

// TestFranzGo produces with the library's default, an idempotent producer, in
// every codec, and reads back without and with a group.
func TestFranzGo(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const each = 200
	total := 0
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		p := client(t, g.Addr, kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic("t"))
		for i := range each {
			p.Produce(ctx, kgo.StringRecord(fmt.Sprintf("%s-%d", name, i)), func(_ *kgo.Record, err error) {
				if err != nil {
					t.Errorf("produce: %v", err)
				}
			})
		}
		if err := p.Flush(ctx); err != nil {
			t.Fatalf("flush: %v", err)
		}
		total += each
	}
	for name, opts := range map[string][]kgo.Opt{
		"assigned": {kgo.ConsumeTopics("t")},
		"group":    {kgo.ConsumeTopics("t"), kgo.ConsumerGroup("g"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit()},
	} {
		c := client(t, g.Addr, opts...)
		got := consume(ctx, t, c, total)
		if len(got) != total {
			t.Errorf("%s: %d values of %d", name, len(got), total)
		}
		if name == "group" {
			if err := c.CommitUncommittedOffsets(ctx); err != nil {
				t.Errorf("commit: %v", err)
			}
		}
		c.Close()
	}
	offsets, err := g.Broker.GroupOffsets(ctx, "g")
	if err != nil || len(offsets) != 1 || offsets[0].Offset != int64(total) {
		t.Errorf("committed: %+v, %v", offsets, err)
	}
}

// TestFranzGoSpeaksTheNewest: the client takes the highest version of each API
// that both know, so an advertised range that isn't true shows here.
func TestFranzGoSpeaksTheNewest(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{})
	c := client(t, g.Addr)
	for _, api := range g.Handlers.APIs() {
		switch kmsg.Key(api.Key()) {
		case kmsg.Produce, kmsg.Fetch, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.ApiVersions, kmsg.InitProducerID:
			continue // TestFranzGo sends them
		}
		resp, err := c.SeedBrokers()[0].Request(t.Context(), kmsg.RequestForKey(api.Key()))
		if err != nil {
			t.Errorf("%s: %v", api.Name(), err)
		} else if resp.GetVersion() != api.Max() {
			t.Errorf("%s: the client chose v%d of v%d to v%d", api.Name(), resp.GetVersion(), api.Min(), api.Max())
		}
	}
}
