package broker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"milena/broker"
	"milena/broker/api"
	"milena/broker/brokerpb"
	"milena/broker/client"
	journalmemory "milena/broker/journal/memory"
	"milena/broker/stored"
	"milena/serde/format"
	"milena/serde/record"
	"milena/serde/record/recordpb"
	"milena/serde/schema"
)

// node is a broker behind a server on a free port.
type node struct {
	*broker.Broker
	server  *broker.Server
	address string
	stop    func()
}

func start(t *testing.T, o broker.Options, so broker.ServerOptions) *node {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	so.Logger = o.Logger
	o.Journal = journalmemory.New(journalmemory.Options{})
	b, err := broker.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := broker.NewServer(b, so)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	n := &node{Broker: b, server: s, address: l.Addr().String()}
	n.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		s.Shutdown(ctx)
		if ctx.Err() != nil {
			t.Error("shutdown had to cut calls off")
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Cleanup(n.stop)
	return n
}

func (n *node) client(t *testing.T, holder string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{
		Address: n.address, Holder: holder, Logger: slog.New(slog.DiscardHandler),
		Retry: time.Millisecond, RetryMax: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// rpc returns a bare client.
func (n *node) rpc(t *testing.T) brokerpb.BrokerClient {
	t.Helper()
	conn, err := grpc.NewClient(n.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return brokerpb.NewBrokerClient(conn)
}

// eventually waits for a state that comes by itself.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func topicOf(t *testing.T, n *node, name string) api.Partition {
	t.Helper()
	top, err := n.CreateTopic(context.Background(), api.TopicSpec{Name: name, Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	return api.Partition{Topic: top.ID}
}

func rawBatch(t *testing.T, text string) []byte {
	t.Helper()
	var b stored.Builder
	if err := b.Add(&stored.Record{
		Key: stored.Payload{Null: true, Schema: -1}, Value: stored.Payload{Schema: -1, Raw: []byte(text), HasRaw: true}, Headers: []byte{0},
	}); err != nil {
		t.Fatal(err)
	}
	b.Header = stored.Header{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, EncodedSize: 100}
	out, err := b.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestErrorsTravel: every sentinel arrives at the client as itself.
func TestErrorsTravel(t *testing.T) {
	n := start(t, broker.Options{BatchBytesMax: 500}, broker.ServerOptions{})
	c := n.client(t, "gateway")
	eventually(t, "the client is ready", func() bool { return c.Ready() == nil })
	ctx := t.Context()
	p := topicOf(t, n, "t")
	check := func(name string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	_, err := c.TopicByName(ctx, "u")
	check("unknown topic", err, api.ErrUnknownTopic)
	_, err = c.CreateTopic(ctx, api.TopicSpec{Name: "t", Partitions: 1})
	check("topic exists", err, api.ErrTopicExists)
	_, err = c.CreateTopic(ctx, api.TopicSpec{Name: "a b", Partitions: 1})
	check("invalid", err, api.ErrInvalid)
	_, err = c.Schema(ctx, api.Key{1})
	check("unknown schema", err, api.ErrUnknownSchema)
	_, err = c.CompareAndAppend(ctx, "k", 3, []byte("v"))
	check("conflict", err, api.ErrConflict)
	r, err := c.Read(ctx, api.Read{Partitions: []api.ReadPartition{{Partition: p, Offset: 5, BytesMax: 1000}}, BytesMax: 1000})
	if err != nil {
		t.Fatal(err)
	}
	check("offset out of range", r[0].Err, api.ErrOffsetOutOfRange)
	out, err := c.Append(ctx, api.Synced, []api.Append{
		{Partition: p, Batch: rawBatch(t, "one")}, {Partition: p, Batch: make([]byte, 501)}, {Partition: p, Batch: rawBatch(t, "two")},
	})
	if err != nil || out[0].Err != nil || out[2].Err != nil || out[2].BaseOffset != 1 {
		t.Fatalf("append: %+v %v", out, err)
	}
	check("too large", out[1].Err, api.ErrTooLarge)
	rival := n.client(t, "rival")
	eventually(t, "the rival is refused", func() bool { return errors.Is(rival.Ready(), api.ErrLeaseHeld) })
	_, err = rival.Append(ctx, api.Synced, []api.Append{{Partition: p, Batch: rawBatch(t, "x")}})
	check("append of the rival", err, api.ErrUnavailable)
	check("commit of the rival", rival.CommitOffsets(ctx, "g", []api.GroupOffset{{Topic: "t"}}), api.ErrLeaseHeld)
	_, err = n.rpc(t).CommitOffsets(ctx, &brokerpb.CommitOffsetsRequest{Session: make([]byte, 16), Group: "g"})
	if err == nil {
		t.Error("commit without the lease")
	}
	if list, err := rival.ListTopics(ctx); err != nil || len(list) != 1 {
		t.Errorf("topics of the rival: %v %v", list, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the rival gets the lease", func() bool { return rival.Ready() == nil })
}

// TestLeaseInProcess: a remote gateway is refused while the one in process
// holds the lease.
func TestLeaseInProcess(t *testing.T) {
	n := start(t, broker.Options{}, broker.ServerOptions{})
	local, err := n.AcquireLease("in process")
	if err != nil {
		t.Fatal(err)
	}
	c := n.client(t, "remote")
	eventually(t, "the remote one is refused", func() bool { return errors.Is(c.Ready(), api.ErrLeaseHeld) })
	local.Release()
	eventually(t, "the remote one gets it", func() bool { return c.Ready() == nil })
	if _, err := n.AcquireLease("in process"); !errors.Is(err, api.ErrLeaseHeld) {
		t.Fatalf("second lease: %v", err)
	}
}

// session opens a session by hand.
func session(t *testing.T, ctx context.Context, rpc brokerpb.BrokerClient) (grpc.BidiStreamingClient[brokerpb.SessionRequest, brokerpb.SessionReply], []byte) {
	t.Helper()
	st, err := rpc.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Send(&brokerpb.SessionRequest{Holder: "by hand"}); err != nil {
		t.Fatal(err)
	}
	reply, err := st.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return st, reply.Session
}

func publish(t *testing.T, ctx context.Context, rpc brokerpb.BrokerClient, id []byte) grpc.BidiStreamingClient[brokerpb.PublishRequest, brokerpb.PublishReply] {
	t.Helper()
	st, err := rpc.Publish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Send(&brokerpb.PublishRequest{Session: id}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Recv(); err != nil {
		t.Fatal(err)
	}
	return st
}

func batchPart(p api.Partition, batch []byte) *brokerpb.PublishPart {
	return &brokerpb.PublishPart{Part: &brokerpb.PublishPart_Batch{Batch: &brokerpb.PublishBatch{
		TopicId: p.Topic[:], Partition: p.Index, Size: int64(len(batch)), Data: batch,
	}}}
}

// TestPublishStreams: a second stream of the session begins when the first has
// ended with all its calls answered.
func TestPublishStreams(t *testing.T) {
	n := start(t, broker.Options{}, broker.ServerOptions{})
	p := topicOf(t, n, "t")
	rpc := n.rpc(t)
	_, id := session(t, t.Context(), rpc)
	first := publish(t, t.Context(), rpc, id)
	for call := range uint64(50) {
		if err := first.Send(&brokerpb.PublishRequest{Call: call, Parts: []*brokerpb.PublishPart{batchPart(p, rawBatch(t, fmt.Sprint("first ", call)))}, Last: true}); err != nil {
			t.Fatal(err)
		}
	}
	second := publish(t, t.Context(), rpc, id)
	// No call of the first stream is taken any more.
	before, err := n.ListOffsets(t.Context(), []api.OffsetQuery{{Partition: p, Timestamp: api.Latest}})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Send(&brokerpb.PublishRequest{Call: 1, Parts: []*brokerpb.PublishPart{batchPart(p, rawBatch(t, "second"))}, Last: true}); err != nil {
		t.Fatal(err)
	}
	reply, err := second.Recv()
	if err != nil || reply.Appended[0].BaseOffset != before[0].Offset {
		t.Fatalf("%v %v, want offset %d", reply, err, before[0].Offset)
	}
	answered := 0
	for {
		reply, err := first.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				t.Fatal("the first stream ended well")
			}
			break
		}
		if reply.Failure == nil { // else it was refused as the stream ended
			answered++
		}
	}
	if int64(answered) != before[0].Offset {
		t.Fatalf("%d calls answered, %d stored", answered, before[0].Offset)
	}
}

// TestPublishGarbage: what no client sends ends the stream, with the reason,
// and nothing else.
func TestPublishGarbage(t *testing.T) {
	n := start(t, broker.Options{BatchBytesMax: 1000, SchemaBytesMax: 100}, broker.ServerOptions{CallBytesMax: 3000})
	p := topicOf(t, n, "t")
	good := rawBatch(t, "x")
	more := func(b []byte) *brokerpb.PublishPart {
		return &brokerpb.PublishPart{Part: &brokerpb.PublishPart_More{More: b}}
	}
	claims := func(size int64, data []byte) *brokerpb.PublishPart {
		return &brokerpb.PublishPart{Part: &brokerpb.PublishPart_Batch{Batch: &brokerpb.PublishBatch{TopicId: p.Topic[:], Size: size, Data: data}}}
	}
	schemaPart := func(key []byte, size int64) *brokerpb.PublishPart {
		return &brokerpb.PublishPart{Part: &brokerpb.PublishPart_Schema{Schema: &brokerpb.PublishSchema{Key: key, Size: size}}}
	}
	cases := map[string][]*brokerpb.PublishRequest{
		"no batch":           {{Call: 1, Last: true}},
		"empty part":         {{Call: 1, Parts: []*brokerpb.PublishPart{{}}}},
		"more first":         {{Call: 1, Parts: []*brokerpb.PublishPart{more(good)}}},
		"short topic id":     {{Call: 1, Parts: []*brokerpb.PublishPart{{Part: &brokerpb.PublishPart_Batch{Batch: &brokerpb.PublishBatch{TopicId: []byte{1}}}}}}},
		"huge claim":         {{Call: 1, Parts: []*brokerpb.PublishPart{claims(1<<60, nil)}}},
		"negative claim":     {{Call: 1, Parts: []*brokerpb.PublishPart{claims(-1, nil)}}},
		"more than claimed":  {{Call: 1, Parts: []*brokerpb.PublishPart{claims(3, []byte("1234"))}}},
		"less than claimed":  {{Call: 1, Parts: []*brokerpb.PublishPart{claims(9, []byte("1234"))}, Last: true}},
		"part inside part":   {{Call: 1, Parts: []*brokerpb.PublishPart{claims(9, []byte("1234")), batchPart(p, good)}}},
		"call inside call":   {{Call: 1, Parts: []*brokerpb.PublishPart{batchPart(p, good)}}, {Call: 2, Parts: []*brokerpb.PublishPart{batchPart(p, good)}, Last: true}},
		"schema first":       {{Call: 1, Parts: []*brokerpb.PublishPart{schemaPart(make([]byte, 32), 1)}}},
		"short schema key":   {{Call: 1, Parts: []*brokerpb.PublishPart{batchPart(p, good), schemaPart([]byte{1}, 1)}}},
		"huge schema":        {{Call: 1, Parts: []*brokerpb.PublishPart{batchPart(p, good), schemaPart(make([]byte, 32), 101)}}},
		"call of many bytes": {{Call: 1, Parts: []*brokerpb.PublishPart{claims(1000, make([]byte, 1000)), claims(1000, make([]byte, 1000)), claims(1000, nil)}}},
	}
	rpc := n.rpc(t)
	_, id := session(t, t.Context(), rpc)
	for name, requests := range cases {
		st := publish(t, t.Context(), rpc, id)
		for _, r := range requests {
			if err := st.Send(r); err != nil {
				break // the reason comes with Recv
			}
		}
		if reply, err := st.Recv(); err == nil {
			t.Errorf("%s: answered %v", name, reply)
		}
	}
	st := publish(t, t.Context(), rpc, id)
	if err := st.Send(&brokerpb.PublishRequest{Call: 7, Parts: []*brokerpb.PublishPart{batchPart(p, good)}, Last: true}); err != nil {
		t.Fatal(err)
	}
	if reply, err := st.Recv(); err != nil || reply.Call != 7 || reply.Appended[0].GetFailure() != nil || reply.Appended[0].BaseOffset != 0 {
		t.Fatalf("after all that: %v %v", reply, err)
	}
	if bad, err := rpc.Publish(t.Context()); err == nil {
		if err := bad.Send(&brokerpb.PublishRequest{Session: []byte("short")}); err == nil {
			if _, err := bad.Recv(); err == nil {
				t.Fatal("published without a session")
			}
		}
	}
}

// TestSilentSession: the lease of a gateway that sends nothing ends.
func TestSilentSession(t *testing.T) {
	n := start(t, broker.Options{Lease: 50 * time.Millisecond}, broker.ServerOptions{})
	st, id := session(t, t.Context(), n.rpc(t))
	pub := publish(t, t.Context(), n.rpc(t), id)
	if _, err := st.Recv(); err == nil {
		t.Fatal("the session goes on")
	}
	if _, err := pub.Recv(); err == nil {
		t.Fatal("the publish stream goes on")
	}
	c := n.client(t, "next")
	eventually(t, "the next one gets the lease", func() bool { return c.Ready() == nil })
	time.Sleep(150 * time.Millisecond) // three times its time to live
	if _, err := c.CompareAndAppend(t.Context(), "k", 0, []byte("v")); err != nil {
		t.Fatalf("a renewed lease: %v", err)
	}
}

// TestServerStops: waiting calls end, and clients find the next server.
func TestServerStops(t *testing.T) {
	n := start(t, broker.Options{}, broker.ServerOptions{})
	c := n.client(t, "gateway")
	eventually(t, "the client is ready", func() bool { return c.Ready() == nil })
	p := topicOf(t, n, "t")
	waiting := make(chan error, 1)
	go func() {
		_, err := c.Read(t.Context(), api.Read{
			Partitions: []api.ReadPartition{{Partition: p, BytesMax: 1000}}, BytesMin: 1, BytesMax: 1000, MaxWait: time.Hour,
		})
		waiting <- err
	}()
	following := make(chan error, 1)
	go func() {
		following <- c.ReadRecords(t.Context(), client.ReadRecords{Topic: "t", Follow: true}, func(api.DecodedRecord) error { return nil })
	}()
	time.Sleep(20 * time.Millisecond) // so that they wait; either way they fail
	n.stop()
	for _, ch := range []chan error{waiting, following} {
		if err := <-ch; !errors.Is(err, api.ErrUnavailable) {
			t.Errorf("a waiting call: %v", err)
		}
	}
	eventually(t, "the client is not ready", func() bool { return c.Ready() != nil })
	if _, err := c.Append(t.Context(), api.Synced, []api.Append{{Partition: p, Batch: rawBatch(t, "x")}}); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("append: %v", err)
	}
	if err := c.CommitOffsets(t.Context(), "g", []api.GroupOffset{{Topic: "t"}}); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("commit: %v", err)
	}
	if _, err := c.ListTopics(t.Context()); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("list: %v", err)
	}
}

// TestTopicsWatch: a client answers from its copy, which follows the broker.
func TestTopicsWatch(t *testing.T) {
	n := start(t, broker.Options{}, broker.ServerOptions{})
	c := n.client(t, "")
	eventually(t, "the client is ready", func() bool { return c.Ready() == nil })
	ctx := t.Context()
	made, err := c.CreateTopic(ctx, api.TopicSpec{Name: "mine", Partitions: 2})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got, err := c.TopicByName(ctx, "mine"); err != nil || got.ID != made.ID || got.Partitions != 2 {
			t.Fatalf("own topic: %+v %v", got, err)
		}
		if err := c.DeleteTopic(ctx, made.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := c.TopicByName(ctx, "mine"); !errors.Is(err, api.ErrUnknownTopic) {
			t.Fatalf("deleted topic: %v", err)
		}
		if _, err := c.TopicByID(ctx, made.ID); !errors.Is(err, api.ErrUnknownTopic) {
			t.Fatalf("deleted topic by id: %v", err)
		}
		if made, err = c.CreateTopic(ctx, api.TopicSpec{Name: "mine", Partitions: 2}); err != nil {
			t.Fatal(err)
		}
	}
	other := topicOf(t, n, "other")
	if got, err := c.TopicByID(ctx, other.Topic); err != nil || got.Name != "other" {
		t.Fatalf("another's topic: %+v %v", got, err)
	}
	if err := n.DeleteTopic(ctx, other.Topic); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another's deletion is seen", func() bool {
		_, err := c.TopicByID(ctx, other.Topic)
		return errors.Is(err, api.ErrUnknownTopic)
	})
}

// TestReadRecords: a subscriber gets RecordValues decoded by the stored
// schema, and what could not be decoded as it is.
func TestReadRecords(t *testing.T) {
	n := start(t, broker.Options{}, broker.ServerOptions{})
	p := topicOf(t, n, "users")
	resolved := schema.Resolved{Type: schema.Avro, Text: `{"type":"record","name":"User","fields":[{"name":"id","type":"long"},{"name":"name","type":"string"}]}`}
	program, err := format.Compile(resolved)
	if err != nil {
		t.Fatal(err)
	}
	var b stored.Builder
	index, err := b.SchemaIndex(resolved.Key())
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(3) {
		packed, style, err := program.Decode(nil, append([]byte{byte(2 * i), 6}, "bob"...))
		if err != nil || style != record.StyleCanonical {
			t.Fatal(style, err)
		}
		if err := b.Add(&stored.Record{
			OffsetDelta: i, TimestampDelta: int64(i),
			Key:     stored.Payload{Schema: -1, Raw: []byte("key"), HasRaw: true},
			Value:   stored.Payload{Framing: stored.FramingPrefix, ID: 42, Schema: index, Style: uint8(style), Mapping: record.MappingVersion, Packed: packed},
			Headers: []byte{4, 2, 'h', 2, 'v', 2, 'n', 1},
		}); err != nil {
			t.Fatal(err)
		}
	}
	b.Header = stored.Header{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, FirstTimestamp: 1000, MaxTimestamp: 1002, LastOffsetDelta: 2, EncodedSize: 200}
	batch, err := b.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := []api.Append{
		{Partition: p, Batch: batch, Schemas: []api.Schema{{Key: api.Key(resolved.Key()), Encoded: resolved.AppendBinary(nil)}}},
		{Partition: p, Batch: rawBatch(t, "raw")},
	}
	if out, err := n.Append(t.Context(), api.Synced, calls); err != nil || out[0].Err != nil || out[1].Err != nil {
		t.Fatal(out, err)
	}
	c := n.client(t, "")
	var got []api.DecodedRecord
	err = c.ReadRecords(t.Context(), client.ReadRecords{Topic: "users", Offset: 1}, func(r api.DecodedRecord) error {
		got = append(got, r)
		return nil
	})
	if err != nil || len(got) != 3 {
		t.Fatalf("%d records: %v", len(got), err)
	}
	var value recordpb.RecordValue
	if err := proto.Unmarshal(got[0].Value.RecordValue, &value); err != nil {
		t.Fatal(err)
	}
	if value.Fields["id"].GetInt64Value() != 1 || value.Fields["name"].GetStringValue() != "bob" {
		t.Fatalf("value is %s", protojson.Format(&value))
	}
	r := got[0]
	if r.Offset != 1 || r.Timestamp != 1001 || string(r.Key.Raw) != "key" || r.Value.Framing != api.FramingPrefix || r.Value.SchemaID != 42 ||
		r.Value.Schema != api.Key(resolved.Key()) || len(r.Headers) != 2 || string(r.Headers[0].Value) != "v" || r.Headers[1].Value != nil {
		t.Fatalf("record is %+v", r)
	}
	if last := got[2]; last.Offset != 3 || string(last.Value.Raw) != "raw" || !last.Key.Null || last.Value.RecordValue != nil {
		t.Fatalf("raw record is %+v", last)
	}
	// A limit, a follower that gets what comes later, and errors.
	count := 0
	if err := c.ReadRecords(t.Context(), client.ReadRecords{Topic: "users", RecordsMax: 2}, func(api.DecodedRecord) error { count++; return nil }); err != nil || count != 2 {
		t.Fatalf("%d records: %v", count, err)
	}
	enough := errors.New("enough")
	go func() {
		_, _ = n.Append(context.Background(), api.Synced, []api.Append{{Partition: p, Batch: rawBatch(t, "later")}})
	}()
	if err := c.ReadRecords(t.Context(), client.ReadRecords{Topic: "users", Offset: 4, Follow: true}, func(r api.DecodedRecord) error {
		if string(r.Value.Raw) != "later" {
			t.Errorf("followed to %+v", r)
		}
		return enough
	}); !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if err := c.ReadRecords(t.Context(), client.ReadRecords{Topic: "none"}, nil); !errors.Is(err, api.ErrUnknownTopic) {
		t.Fatal(err)
	}
	if err := c.ReadRecords(t.Context(), client.ReadRecords{Topic: "users", Offset: 99}, nil); !errors.Is(err, api.ErrOffsetOutOfRange) {
		t.Fatal(err)
	}
}

// TestFetchBytesMax: a caller that doesn't take its answer holds memory that
// others wait for, and gives it back when it goes.
func TestFetchBytesMax(t *testing.T) {
	n := start(t, broker.Options{}, broker.ServerOptions{FetchBytesMax: 1, PieceBytes: 64 << 10})
	p := topicOf(t, n, "large")
	// Far more than flow control lets through to a caller that doesn't read.
	for range 4 {
		out, err := n.Append(t.Context(), api.Synced, []api.Append{{Partition: p, Batch: rawBatch(t, strings.Repeat("x", 8<<20))}})
		if err != nil || out[0].Err != nil {
			t.Fatalf("append: %+v %v", out, err)
		}
	}
	rpc := n.rpc(t)
	request := &brokerpb.FetchRequest{
		Partitions: []*brokerpb.FetchPartition{{TopicId: p.Topic[:], BytesMax: 1 << 20}}, BytesMax: 1 << 20,
	}
	idle, leave := context.WithCancel(t.Context())
	defer leave()
	st, err := rpc.Fetch(idle, request)
	if err != nil {
		t.Fatal(err)
	}
	first, err := st.Recv()
	if err != nil || first.Bytes < 32<<20 {
		t.Fatalf("first reply says %d bytes, %v", first.GetBytes(), err)
	}
	fetch := func(limit time.Duration) (int, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		st, err := rpc.Fetch(ctx, request)
		for got := 0; ; {
			var m *brokerpb.FetchReply
			if err == nil {
				m, err = st.Recv()
			}
			if errors.Is(err, io.EOF) {
				return got, nil
			}
			if err != nil {
				return got, err
			}
			for _, part := range m.Parts {
				got += len(part.GetBatch().GetData()) + len(part.GetMore())
			}
		}
	}
	if got, err := fetch(200 * time.Millisecond); status.Code(err) != codes.DeadlineExceeded || got != 0 {
		t.Errorf("a second call got %d bytes, %v", got, err)
	}
	leave()
	if got, err := fetch(20 * time.Second); err != nil || got < 32<<20 {
		t.Errorf("after the first one left: %d bytes, %v", got, err)
	}
}
