package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// consume reads n records in a group of two members and compares each with the
// one that was sent.
func consume(ctx context.Context, seed string, o *orders, n int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		member int
		record *kgo.Record
		err    error
	}
	results := make(chan result, 1000)
	for member := range 2 {
		cl, err := kgo.NewClient(kgo.SeedBrokers(seed), kgo.ConsumerGroup("demo"), kgo.ConsumeTopics(topic), kgo.FetchMaxWait(200*time.Millisecond))
		if err != nil {
			return err
		}
		defer cl.Close()
		go func() {
			for ctx.Err() == nil {
				fetches := cl.PollFetches(ctx)
				if err := fetches.Err(); err != nil && ctx.Err() == nil {
					results <- result{member, nil, err}
					return
				}
				for _, r := range fetches.Records() {
					select {
					case results <- result{member, r, nil}:
					case <-ctx.Done():
						return
					}
				}
			}
		}()
	}
	seen := make([]bool, n)
	var byMember [2]int
	began := time.Now()
	var first time.Time
	for got := 0; got < n; {
		select {
		case r := <-results:
			if r.err != nil {
				return fmt.Errorf("consume: %w", r.err)
			}
			if first.IsZero() {
				first = time.Now()
			}
			i, err := check(o, r.record)
			if err != nil {
				return err
			}
			byMember[r.member]++
			if !seen[i] {
				seen[i] = true
				got++
			}
		case <-ctx.Done():
			return fmt.Errorf("consume: %d of %d records: %w", got, n, ctx.Err())
		}
	}
	fmt.Printf("   %s, after %d ms for the group to form; members read %d and %d\n", rate(n, time.Since(first)), first.Sub(began).Milliseconds(), byMember[0], byMember[1])
	fmt.Printf("   0 missing, 0 different: keys, values, headers and timestamps are those that were sent\n")
	return nil
}

// check compares a record with the one of its number.
func check(o *orders, got *kgo.Record) (int, error) {
	if len(got.Headers) != 1 {
		return 0, fmt.Errorf("partition %d, offset %d: %d headers", got.Partition, got.Offset, len(got.Headers))
	}
	i, err := strconv.Atoi(string(got.Headers[0].Value))
	if err != nil {
		return 0, err
	}
	want, err := o.record(i)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(got.Key, want.Key) || !bytes.Equal(got.Value, want.Value) || !got.Timestamp.Equal(want.Timestamp) {
		return 0, fmt.Errorf("record %d came back different", i)
	}
	return i, nil
}
