package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway"
	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/gatewaytest"
)

// holding is a broker whose appends are placed at once, and answered when the
// test says so.
type holding struct {
	*memory.Broker
	placed chan chan struct{} // of each append; closing it answers
	lists  chan struct{}      // gets a value with each ListOffsets
}

func newHolding() holding {
	return holding{memory.New(nil), make(chan chan struct{}, 100), make(chan struct{}, 100)}
}

func (h holding) Enqueue(ctx context.Context, d backend.Durability, batches []backend.Append) (backend.Pending, error) {
	p, err := h.Broker.Enqueue(ctx, d, batches)
	if err != nil {
		return nil, err
	}
	answer := make(chan struct{})
	h.placed <- answer
	return held{p, answer}, nil
}

func (h holding) ListOffsets(ctx context.Context, queries []backend.OffsetQuery) ([]backend.OffsetAnswer, error) {
	h.lists <- struct{}{}
	return h.Broker.ListOffsets(ctx, queries)
}

// next waits until the next append is placed, and returns what answers it.
func (h holding) next(t *testing.T) chan struct{} {
	t.Helper()
	select {
	case answer := <-h.placed:
		return answer
	case <-time.After(20 * time.Second):
		t.Fatal("no further append was placed")
		return nil
	}
}

type held struct {
	backend.Pending
	answer chan struct{}
}

func (h held) Wait(ctx context.Context) ([]backend.Appended, error) {
	select {
	case <-h.answer:
		return h.Pending.Wait(ctx)
	case <-ctx.Done():
		return nil, fmt.Errorf("append: %w", ctx.Err())
	}
}

// produce asks for the golden batch to be stored in each topic.
func produce(acks int16, topics ...string) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 1000
	for _, name := range topics {
		rt := kmsg.NewProduceRequestTopic()
		rt.Topic = name
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Records = goldenBatch()
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
	}
	return req
}

// produced reads the answer to a produce request of version 8.
func (c *client) produced(correlation int32) []kmsg.ProduceResponseTopic {
	c.t.Helper()
	req := produce(0)
	req.SetVersion(8)
	return c.answer(correlation, req).(*kmsg.ProduceResponse).Topics
}

func latest(topic string) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Timestamp = -1
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

// TestProduceRequestsArePendingTogether: each of a connection's produce requests
// gets its place before any of them is answered, also around one that has
// nothing to store; their answers leave in order whichever is ready first, and
// what isn't a produce request sees the end of all before it.
func TestProduceRequestsArePendingTogether(t *testing.T) {
	const requests = 8
	b := newHolding()
	g := gatewaytest.Start(t, gatewaytest.Options{Broker: b})
	c := dial(t, g.Addr)
	c.ask(9, metadata(true, "t", "u"))
	for i := range int32(requests) {
		topics := []string{"t", "u"}
		if i == 3 {
			topics = []string{"no such topic"}
		}
		c.write(request(8, i, produce([]int16{-1, 1}[i%2], topics...)))
	}
	c.write(request(5, requests, latest("t")))
	c.write(request(8, requests+1, produce(-1, "t")))
	var answers []chan struct{}
	for range requests - 1 {
		answers = append(answers, b.next(t))
	}
	if len(b.placed)+len(b.lists) > 0 {
		t.Fatal("what stands behind another kind of request, or that one, didn't wait")
	}
	for _, a := range slices.Backward(answers) {
		close(a)
	}
	offset := int64(0)
	for i := range int32(requests) {
		for _, topic := range c.produced(i) {
			p := topic.Partitions[0]
			if i == 3 {
				if p.ErrorCode != 3 {
					t.Errorf("unknown topic: code %d", p.ErrorCode)
				}
				continue
			}
			if p.ErrorCode != 0 || p.BaseOffset != offset {
				t.Errorf("answer %d: code %d, offset %d, want %d", i, p.ErrorCode, p.BaseOffset, offset)
			}
		}
		if i != 3 {
			offset++
		}
	}
	list := latest("t")
	list.SetVersion(5)
	if p := c.answer(requests, list).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]; p.Offset != offset {
		t.Errorf("latest offset %d, want %d", p.Offset, offset)
	}
	close(b.next(t))
	if p := c.produced(requests + 1)[0].Partitions[0]; p.BaseOffset != offset {
		t.Errorf("last: %+v, want offset %d", p, offset)
	}
}

// TestPendingAppendsHoldTheirMemory: a request that passed its turn on counts
// until it is answered.
func TestPendingAppendsHoldTheirMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, p := newHolding(), newPipes()
		frame := len(request(8, 0, produce(-1, "t")))
		g, err := gatewaytest.New(gatewaytest.Options{Broker: b, Server: func(o *gateway.Options) {
			// Three times the frame is reserved for each: room for two.
			o.Listen, o.FrameBytesMax, o.RequestBytesMax = p.listen, int32(frame), int64(8*frame)
		}})
		if err != nil {
			t.Fatal(err)
		}
		// The bubble's clock is behind the batch's.
		spec := backend.TopicSpec{Name: "t", Partitions: 1, Configs: map[string]string{"message.timestamp.type": "LogAppendTime"}}
		if _, err := b.CreateTopic(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		c := &client{t, p.dial()}
		for i := range int32(3) {
			c.write(request(8, i, produce(-1, "t")))
		}
		if synctest.Wait(); len(b.placed) != 2 {
			t.Fatalf("%d appends under way, there is room for 2", len(b.placed))
		}
		for i := range int32(3) {
			close(b.next(t))
			c.produced(i)
			if synctest.Wait(); len(b.placed) != min(2, 2-int(i)) {
				t.Fatalf("%d appends under way after answer %d", len(b.placed), i)
			}
		}
		if err := errors.Join(g.Close(t.Context()), c.conn.Close()); err != nil {
			t.Error(err)
		}
	})
}
