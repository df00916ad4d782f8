// Command demo runs the main job end to end against a milena binary and tells
// what happened: it registers schemas, produces enveloped records with an
// ordinary Kafka client, shows a stored one, and consumes them back, byte for
// byte. It is what `make demo` runs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	binary := flag.String("binary", "bin/milena", "the milena binary to run")
	records := flag.Int("records", 10_000, "records to produce")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := run(ctx, *binary, *records); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run tells the story. Each step prints what it saw.
func run(ctx context.Context, binary string, records int) error {
	dir, err := os.MkdirTemp("", "milena-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("1. Start everything in one process, data in %s\n", dir)
	server, err := start(ctx, binary, dir)
	if err != nil {
		return err
	}
	defer server.kill()

	fmt.Printf("\n2. Register a schema and let it evolve\n")
	id, err := evolve(ctx, server.registry)
	if err != nil {
		return err
	}
	o, err := newOrders(id)
	if err != nil {
		return err
	}

	fmt.Printf("\n3. Produce %d orders through the Kafka port (franz-go, Avro in Confluent envelopes)\n", records)
	if err := produce(ctx, server.kafka, o, records); err != nil {
		return err
	}

	fmt.Printf("\n4. One stored record, read through the broker's gRPC API, no schema needed\n")
	if err := show(ctx, server.broker); err != nil {
		return err
	}

	fmt.Printf("\n5. Consume them in a group of two and compare every byte\n")
	if err := consume(ctx, server.kafka, o, records); err != nil {
		return err
	}
	forms, err := server.forms(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("   stored forms: %s\n", forms)
	fmt.Printf("\n6. Stop\n")
	if err := server.stop(ctx); err != nil {
		return err
	}
	fmt.Printf("   drained, exit code 0\n\nEverything came back as it was sent.\n")
	return nil
}

// rate is n per second, readable.
func rate(n int, d time.Duration) string {
	return fmt.Sprintf("%d records in %d ms, %.0f a second", n, d.Milliseconds(), float64(n)/d.Seconds())
}
