package kapi

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// produceOfParts has so many topics, each with so many partitions.
func produceOfParts(version int16, topics, partitions int) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.SetVersion(version)
	for range topics {
		rt := kmsg.NewProduceRequestTopic()
		rt.Topic = "topic"
		for i := range partitions {
			rp := kmsg.NewProduceRequestTopicPartition()
			rp.Partition, rp.Records = int32(i), []byte{1, 2, 3}
			if i%2 == 1 {
				rp.Records = nil
			}
			rp.UnknownTags.Set(9, []byte("tag"))
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
	}
	return req
}

func TestGuard(t *testing.T) {
	s := newServer(t, Options{})
	for v := int16(3); v <= 11; v++ {
		api, _ := s.Lookup(int16(kmsg.Produce), v)
		for _, id := range []*string{nil, kmsg.StringPtr("id")} {
			req := produceOfParts(v, 3, 4)
			req.TransactionID = id
			body := req.AppendTo(nil)
			if err := api.Guard(v, body); err != nil {
				t.Errorf("v%d: %v", v, err)
			}
			for i := range body {
				if err := api.Guard(v, body[:i]); !errors.Is(err, errCut) {
					t.Fatalf("v%d cut at %d of %d: %v", v, i, len(body), err)
				}
			}
		}
		// Empty topics, as small as they can be, up to the size of a frame.
		count := producePartsMax + 1
		var empty []byte
		if v < 9 {
			empty = append(empty, 0xff, 0xff, 0, 1, 0, 0, 0, 1)
			empty = binary.BigEndian.AppendUint32(empty, uint32(count))
		} else {
			empty = append(empty, 0, 0, 1, 0, 0, 0, 1)
			empty = binary.AppendUvarint(empty, uint64(count+1))
		}
		empty = append(empty, make([]byte, 6*count)...)
		if err := api.Guard(v, empty); !errors.Is(err, ErrTooManyParts) {
			t.Errorf("v%d: %d topics: %v", v, count, err)
		}
	}
	tags := append([]byte{0, 0, 1, 0, 0, 0, 1, 1}, binary.AppendUvarint(nil, producePartsMax+1)...)
	api, _ := s.Lookup(int16(kmsg.Produce), 9)
	if err := api.Guard(9, append(tags, make([]byte, 2*producePartsMax+2)...)); !errors.Is(err, ErrTooManyParts) {
		t.Errorf("tags: %v", err)
	}
}

// FuzzGuard: what passes the guard has no more parts than it says, and what
// decodes passes it once it is written as it should be (the message library
// takes any negative length for null).
func FuzzGuard(f *testing.F) {
	for v := int16(3); v <= 11; v++ {
		body := produceOfParts(v, 2, 2).AppendTo(nil)
		f.Add(v, body)
		f.Add(v, body[:len(body)/2])
	}
	api := &API{entry: table()[0]}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if version < api.min || version > api.max {
			return
		}
		passed := api.Guard(version, body) == nil
		req := kmsg.NewPtrProduceRequest()
		req.SetVersion(version)
		if req.ReadFrom(body) != nil {
			return
		}
		parts := len(req.Topics)
		for _, rt := range req.Topics {
			parts += len(rt.Partitions)
		}
		if passed && parts > producePartsMax {
			t.Fatalf("passes with %d parts", parts)
		}
		if err := api.Guard(version, req.AppendTo(nil)); err != nil && !errors.Is(err, ErrTooManyParts) {
			t.Fatalf("decodes, but: %v", err)
		}
	})
}

func TestFrameBytesMax(t *testing.T) {
	s := newServer(t, Options{})
	for _, api := range s.APIs() {
		want := int32(smallFrameBytesMax)
		if api.Key() == int16(kmsg.Produce) {
			want = 100 << 20
		}
		if got := api.FrameBytesMax(100 << 20); got != want {
			t.Errorf("%s: %d bytes", api.Name(), got)
		}
		if got := api.FrameBytesMax(1000); got != 1000 {
			t.Errorf("%s with a limit of 1000: %d bytes", api.Name(), got)
		}
	}
}
