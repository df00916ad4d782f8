package milenatest_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"milena/cmd/milenatest"
)

// A producer and a consumer with a schema that is there from the start. In a
// test, Start replaces New and Close.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	m, err := milenatest.New(ctx, milenatest.Options{
		Topics:  []milenatest.Topic{{Name: "greetings", Config: map[string]string{"milena.value.validation": "strict"}}},
		Schemas: []milenatest.Schema{{Subject: "greetings-value", Text: `"string"`}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = m.Close(ctx) }() // nothing to save

	client, err := kgo.NewClient(kgo.SeedBrokers(m.Kafka), kgo.ConsumeTopics("greetings"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	// The envelope of Confluent's serializers, and "hello" as Avro writes it.
	value := binary.BigEndian.AppendUint32([]byte{0}, uint32(m.ID("greetings-value")))
	value = append(append(value, 10), "hello"...)
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "greetings", Value: value}).FirstErr(); err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range client.PollFetches(ctx).Records() {
		fmt.Printf("%s at offset %d\n", r.Value[6:], r.Offset)
	}
	// Output: hello at offset 0
}
