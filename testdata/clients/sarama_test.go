package clients

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
)

// TestSarama produces, also idempotently, and consumes alone and in a group.
func TestSarama(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir(), "--default-partitions", "3")...)
	o := newOrders(t, s.register("sarama-value", orderSchema))
	const n = 300
	for _, tc := range []struct {
		name       string
		codec      sarama.CompressionCodec
		idempotent bool
		version    sarama.KafkaVersion
	}{
		{"plain", sarama.CompressionNone, false, sarama.V2_8_0_0},
		{"snappy", sarama.CompressionSnappy, true, sarama.V2_8_0_0},
		{"zstd", sarama.CompressionZSTD, true, sarama.V3_6_0_0},
		{"old", sarama.CompressionGZIP, false, sarama.V0_11_0_0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := sarama.NewConfig()
			config.Version = tc.version
			config.Producer.RequiredAcks = sarama.WaitForAll
			config.Producer.Return.Successes = true
			config.Producer.Compression = tc.codec
			config.Producer.Partitioner = sarama.NewManualPartitioner
			config.Consumer.Offsets.Initial = sarama.OffsetOldest
			if tc.idempotent {
				config.Producer.Idempotent = true
				config.Net.MaxOpenRequests = 1
			}
			topic := "sarama-" + tc.name
			sendWithSarama(t, s, o, config, topic, n)
			readWithSarama(t, s, o, config, topic, n)
			readInSaramaGroup(t, s, config, topic, n)
		})
	}
}

func sendWithSarama(t *testing.T, s *server, o *orders, config *sarama.Config, topic string, n int) {
	t.Helper()
	p, err := sarama.NewSyncProducer([]string{s.kafka}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var batch []*sarama.ProducerMessage
	for i := range n {
		batch = append(batch, &sarama.ProducerMessage{Topic: topic, Partition: int32(i % 3), Key: sarama.StringEncoder(fmt.Sprint(i)), Value: sarama.ByteEncoder(o.value(t, i)),
			Headers: []sarama.RecordHeader{{Key: []byte("h"), Value: []byte(fmt.Sprint(i))}}})
	}
	if err := p.SendMessages(batch); err != nil {
		t.Fatal(err)
	}
}

func checkMessage(t *testing.T, o *orders, m *sarama.ConsumerMessage) {
	t.Helper()
	var i int
	if _, err := fmt.Sscan(string(m.Key), &i); err != nil {
		t.Error(err)
	}
	if want := o.value(t, i); string(m.Value) != string(want) {
		t.Errorf("record %d: value %x, want %x", i, m.Value, want)
	}
	if len(m.Headers) != 1 || string(m.Headers[0].Value) != fmt.Sprint(i) {
		t.Errorf("record %d: headers %v", i, m.Headers)
	}
}

func readWithSarama(t *testing.T, s *server, o *orders, config *sarama.Config, topic string, n int) {
	t.Helper()
	c, err := sarama.NewConsumer([]string{s.kafka}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for partition := range int32(3) {
		pc, err := c.ConsumePartition(topic, partition, sarama.OffsetOldest)
		if err != nil {
			t.Fatal(err)
		}
		for offset := range n / 3 {
			select {
			case m := <-pc.Messages():
				if m.Offset != int64(offset) {
					t.Fatalf("offset %d, want %d", m.Offset, offset)
				}
				checkMessage(t, o, m)
			case <-time.After(20 * time.Second):
				t.Fatalf("partition %d: %d of %d records", partition, offset, n/3)
			}
		}
		pc.Close()
	}
}

// saramaGroup counts what its members get.
type saramaGroup struct {
	mu    sync.Mutex // guards seen
	seen  map[string]int
	all   int
	ended context.CancelFunc
}

func (*saramaGroup) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (*saramaGroup) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (g *saramaGroup) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			session.MarkMessage(m, "")
			g.mu.Lock()
			g.seen[string(m.Key)]++
			if len(g.seen) == g.all {
				g.ended()
			}
			g.mu.Unlock()
		case <-session.Context().Done():
			return nil
		}
	}
}

func readInSaramaGroup(t *testing.T, s *server, config *sarama.Config, topic string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	group := &saramaGroup{seen: map[string]int{}, all: n, ended: cancel}
	var running sync.WaitGroup
	for range 2 {
		cg, err := sarama.NewConsumerGroup([]string{s.kafka}, "group-of-"+topic, config)
		if err != nil {
			t.Fatal(err)
		}
		defer cg.Close()
		running.Go(func() {
			for ctx.Err() == nil {
				if err := cg.Consume(ctx, []string{topic}, group); err != nil && ctx.Err() == nil {
					t.Errorf("consume: %v", err)
					return
				}
			}
		})
	}
	running.Wait()
	if len(group.seen) != n {
		t.Errorf("the group read %d of %d records", len(group.seen), n)
	}
}
