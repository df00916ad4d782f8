package clients

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/avrov2"
)

// Visit is written by Confluent's Avro serializer, which encodes with hamba:
// arrays and maps in blocks with a byte size.
type Visit struct {
	ID     int64             `avro:"id"`
	Page   string            `avro:"page"`
	Steps  []string          `avro:"steps"`
	Labels map[string]string `avro:"labels"`
}

// TestConfluentAvro registers, produces and reads back with librdkafka and
// Confluent's Go serializer and deserializer, and wants the records stored
// without their bytes although hamba's blocks are not the usual ones.
func TestConfluentAvro(t *testing.T) {
	s := start(t, append(ports(), "--data-dir", t.TempDir(), "--tail-cache-bytes", "0")...)
	client, err := schemaregistry.NewClient(schemaregistry.NewConfig(s.registry))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ser, err := avrov2.NewSerializer(client, serde.ValueSerde, avrov2.NewSerializerConfig())
	if err != nil {
		t.Fatal(err)
	}
	deser, err := avrov2.NewDeserializer(client, serde.ValueSerde, avrov2.NewDeserializerConfig())
	if err != nil {
		t.Fatal(err)
	}
	p, err := kafka.NewProducer(&kafka.ConfigMap{"bootstrap.servers": s.kafka, "enable.idempotence": true, "compression.type": "lz4"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	topic := "visits"
	const n = 500
	sent := make([][]byte, n)
	acks := make(chan kafka.Event, n)
	for i := range n {
		v := Visit{ID: int64(i), Page: fmt.Sprintf("/p/%d", i)}
		for j := range i % 3 {
			v.Steps = append(v.Steps, fmt.Sprintf("step %d", j))
		}
		if i%2 == 1 {
			v.Labels = map[string]string{"browser": "links"}
		}
		if sent[i], err = ser.Serialize(topic, &v); err != nil {
			t.Fatal(err)
		}
		if err := p.Produce(&kafka.Message{TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: 0}, Value: sent[i]}, acks); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		switch m := (<-acks).(type) {
		case *kafka.Message:
			if m.TopicPartition.Error != nil {
				t.Fatal(m.TopicPartition.Error)
			}
		default:
			t.Fatalf("%v", m)
		}
	}
	if got := s.metric(`milena_stored_records_total{form="rebuilt"}`); got != n {
		t.Errorf("%v records are stored to be rebuilt, want %d", got, n)
	}
	c, err := kafka.NewConsumer(&kafka.ConfigMap{"bootstrap.servers": s.kafka, "group.id": "visits", "auto.offset.reset": "earliest", "check.crcs": true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Subscribe(topic, nil); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(40 * time.Second)
	for i := 0; i < n; {
		m, err := c.ReadMessage(time.Second)
		if err != nil {
			var ke kafka.Error
			if errors.As(err, &ke) && ke.IsTimeout() && time.Now().Before(deadline) {
				continue
			}
			t.Fatalf("after %d records: %v", i, err)
		}
		if string(m.Value) != string(sent[i]) {
			t.Fatalf("record %d: %x, want %x", i, m.Value, sent[i])
		}
		var v Visit
		if err := deser.DeserializeInto(topic, m.Value, &v); err != nil {
			t.Fatal(err)
		}
		if v.ID != int64(i) {
			t.Fatalf("record %d has id %d", i, v.ID)
		}
		i++
	}
}
