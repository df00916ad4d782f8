package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"
)

const subject = "orders-value"

const firstSchema = `{"type":"record","name":"Order","namespace":"shop","fields":[
  {"name":"id","type":"long"},
  {"name":"customer","type":"string"},
  {"name":"placed","type":{"type":"long","logicalType":"timestamp-millis"}},
  {"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
    {"name":"sku","type":"string"},{"name":"count","type":"int"},{"name":"cents","type":"long"}]}}}]}`

// secondSchema adds a field with a default: readers and writers of either
// version understand each other's data.
var secondSchema = strings.TrimSuffix(firstSchema, "]}") + `,{"name":"note","type":["null","string"],"default":null}]}`

// brokenSchema adds one without: a new reader can't read old orders.
var brokenSchema = strings.TrimSuffix(firstSchema, "]}") + `,{"name":"currency","type":"string"}]}`

// evolve registers two versions, is refused a third, and returns the id of the
// second.
func evolve(ctx context.Context, url string) (int, error) {
	client, err := sr.NewClient(sr.URLs(url))
	if err != nil {
		return 0, err
	}
	first, err := client.CreateSchema(ctx, subject, sr.Schema{Schema: firstSchema})
	if err != nil {
		return 0, fmt.Errorf("register: %w", err)
	}
	fmt.Printf("   %s version %d has id %d\n", subject, first.Version, first.ID)
	second, err := client.CreateSchema(ctx, subject, sr.Schema{Schema: secondSchema})
	if err != nil {
		return 0, fmt.Errorf("register a compatible change: %w", err)
	}
	fmt.Printf("   + note, with a default: compatible, version %d has id %d\n", second.Version, second.ID)
	verdict, err := client.CheckCompatibility(sr.WithParams(ctx, sr.Verbose), subject, -1, sr.Schema{Schema: brokenSchema})
	if err != nil {
		return 0, fmt.Errorf("check an incompatible change: %w", err)
	}
	if verdict.Is || len(verdict.Messages) == 0 {
		return 0, fmt.Errorf("an incompatible change was called compatible: %+v", verdict)
	}
	fmt.Printf("   + currency, without a default: refused\n")
	fmt.Printf("     %s\n", verdict.Messages[0])
	if _, err := client.CreateSchema(ctx, subject, sr.Schema{Schema: brokenSchema}); err == nil {
		return 0, fmt.Errorf("an incompatible change was registered")
	}
	return second.ID, nil
}
