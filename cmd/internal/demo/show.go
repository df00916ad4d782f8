package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"milena/broker/brokerpb"
	"milena/serde/record/recordpb"
)

// show prints the first record of the topic's first partition that has one.
func show(ctx context.Context, address string) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	broker := brokerpb.NewBrokerClient(conn)
	for partition := range int32(4) {
		stream, err := broker.ReadRecords(ctx, &brokerpb.ReadRecordsRequest{Topic: topic, Partition: partition, RecordsMax: 1})
		if err != nil {
			return err
		}
		reply, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read partition %d: %w", partition, err)
		}
		r := reply.GetRecords()[0]
		value := &recordpb.RecordValue{}
		if err := proto.Unmarshal(r.GetValue().GetRecordValue(), value); err != nil {
			return fmt.Errorf("record value: %w", err)
		}
		if len(value.GetFields()) == 0 {
			return errors.New("the stored record is not a RecordValue with fields")
		}
		text, err := protojson.Marshal(value)
		if err != nil {
			return err
		}
		// protojson varies its white space on purpose.
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			return err
		}
		fmt.Printf("   partition %d, offset %d, schema id %d\n   %s\n", partition, r.GetOffset(), r.GetValue().GetSchemaId(), compact.String())
		return nil
	}
	return errors.New("no partition has a record")
}
