package kapi

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
	"milena/gateway/backend/memory"
	"milena/gateway/batch"
	"milena/gateway/envelope"
)

func fetchRequest(topic string, offset int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.MaxWaitMillis, req.MinBytes = 1<<20, 0, 1
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.FetchOffset, rp.PartitionMaxBytes, rp.CurrentLeaderEpoch = offset, 1<<20, -1
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

// askFetch returns the first partition of the answer.
func askFetch(t *testing.T, s *Server, version int16, req *kmsg.FetchRequest) kmsg.FetchResponseTopicPartition {
	t.Helper()
	resp := ask(t, s, version, req).(*kmsg.FetchResponse)
	if resp.ErrorCode != 0 || resp.SessionID != 0 {
		t.Fatalf("error %d, session %d", resp.ErrorCode, resp.SessionID)
	}
	return resp.Topics[0].Partitions[0]
}

func decompressed(t *testing.T, b []byte) []byte {
	t.Helper()
	h, err := batch.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	out, err := new(batch.Codecs).Decompress(nil, b[batch.HeaderBytes:], h.Codec(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// valuesOf are the values of all batches, joined by commas.
func valuesOf(t *testing.T, b []byte) string {
	t.Helper()
	var values []string
	for len(b) > 0 {
		first, rest, ok := batch.SplitFirst(b)
		if !ok {
			t.Fatalf("%d bytes that are no batch", len(b))
		}
		h, err := batch.Parse(first)
		if err != nil {
			t.Fatal(err)
		}
		var it batch.Records
		it.Reset(decompressed(t, first), h.Count)
		var rec batch.Record
		for it.Next(&rec) {
			values = append(values, string(rec.Value))
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
		b = rest
	}
	return strings.Join(values, ",")
}

func fetchValues(t *testing.T, s *Server, version int16, req *kmsg.FetchRequest) string {
	t.Helper()
	p := askFetch(t, s, version, req)
	if p.ErrorCode != 0 || p.RecordBatches == nil {
		t.Fatalf("%+v", p)
	}
	return valuesOf(t, p.RecordBatches)
}

// threeBatches makes a topic with three batches and returns it with the size of
// one.
func threeBatches(t *testing.T, s *Server, name string) (backend.Topic, int) {
	t.Helper()
	topic := mustCreate(t, s, name, 2, nil)
	size := 0
	for _, v := range []string{"a", "b", "c"} {
		b := producedBatch(t, batch.None, nil, plainValues(v+"1", v+"2")...)
		size = len(b)
		askProduce(t, s, 9, produceTo(name, -1, b))
	}
	return topic, size
}

func TestFetchSizes(t *testing.T) {
	s := newServer(t, Options{Clock: testClock})
	_, size := threeBatches(t, s, "t")
	for name, c := range map[string]struct {
		offset         int64
		partition, all int
		want           string
	}{
		"everything":           {0, 1 << 20, 1 << 20, "a1,a2,b1,b2,c1,c2"},
		"inside a batch":       {3, 1 << 20, 1 << 20, "b1,b2,c1,c2"},
		"at the end":           {6, 1 << 20, 1 << 20, ""},
		"partition limit 0":    {0, 0, 1 << 20, "a1,a2"},
		"first batch is whole": {2, 1, 1, "b1,b2"},
		"no batch is cut":      {0, 2*size + size/2, 1 << 20, "a1,a2,b1,b2"},
		"limit of the answer":  {0, 1 << 20, 2 * size, "a1,a2,b1,b2"},
		"negative limits":      {0, -5, -5, "a1,a2"},
	} {
		req := fetchRequest("t", c.offset)
		req.MaxBytes, req.Topics[0].Partitions[0].PartitionMaxBytes = int32(c.all), int32(c.partition)
		if got := fetchValues(t, s, 12, req); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestFetchBytesMax: what a client asks for beyond the bound of an answer comes
// with the next ones, and a batch beyond it comes whole.
func TestFetchBytesMax(t *testing.T) {
	const mib = 1 << 20
	s := newServer(t, Options{Clock: testClock})
	mustCreate(t, s, "t", 2, map[string]string{"max.message.bytes": "20000000"})
	offset := int64(0)
	for _, size := range []int{3 * mib, 3 * mib, 3 * mib, 9 * mib, mib} {
		value := strings.Repeat(string(rune('a'+offset)), size)
		askProduce(t, s, 9, produceTo("t", -1, producedBatch(t, batch.None, nil, plainValues(value)...)))
		offset++
	}
	for from, want := range map[int64]string{0: "ab", 1: "bc", 2: "c", 3: "d", 4: "e"} {
		req := fetchRequest("t", from)
		req.MaxBytes, req.Topics[0].Partitions[0].PartitionMaxBytes = 50*mib, 50*mib
		var got []byte
		for value := range strings.SplitSeq(fetchValues(t, s, 12, req), ",") {
			got = append(got, value[0])
		}
		if string(got) != want {
			t.Errorf("from %d: %s, want %s", from, got, want)
		}
	}
}

func TestFetchErrors(t *testing.T) {
	s := newServer(t, Options{Clock: testClock})
	topic, _ := threeBatches(t, s, "t")
	for name, c := range map[string]struct {
		version int16
		change  func(*kmsg.FetchRequest)
		want    *kerr.Error
	}{
		"beyond the end":    {12, func(r *kmsg.FetchRequest) { r.Topics[0].Partitions[0].FetchOffset = 7 }, kerr.OffsetOutOfRange},
		"negative offset":   {12, func(r *kmsg.FetchRequest) { r.Topics[0].Partitions[0].FetchOffset = -1 }, kerr.OffsetOutOfRange},
		"unknown topic":     {12, func(r *kmsg.FetchRequest) { r.Topics[0].Topic = "absent" }, kerr.UnknownTopicOrPartition},
		"unknown partition": {12, func(r *kmsg.FetchRequest) { r.Topics[0].Partitions[0].Partition = 2 }, kerr.UnknownTopicOrPartition},
		"unknown id":        {13, func(r *kmsg.FetchRequest) { r.Topics[0].TopicID[0]++ }, kerr.UnknownTopicID},
		"newer epoch":       {12, func(r *kmsg.FetchRequest) { r.Topics[0].Partitions[0].CurrentLeaderEpoch = 1000 }, kerr.UnknownLeaderEpoch},
	} {
		for _, isolation := range []int8{0, 1} {
			req := fetchRequest("t", 0)
			req.Topics[0].TopicID, req.IsolationLevel = topic.ID, isolation
			// Answered at once, however long the client would wait.
			req.MaxWaitMillis, req.MinBytes = 60_000, 1<<20
			c.change(req)
			p := askFetch(t, s, c.version, req)
			if p.ErrorCode != c.want.Code || p.HighWatermark != -1 || p.LastStableOffset != -1 || p.LogStartOffset != -1 || p.RecordBatches == nil || len(p.RecordBatches) != 0 {
				t.Errorf("%s: %+v, want %v", name, p, c.want)
			}
		}
	}
	for name, c := range map[string]struct{ id, epoch int32 }{"unknown session": {99, 5}, "no session": {0, 5}} {
		req := fetchRequest("t", 0)
		req.SessionID, req.SessionEpoch = c.id, c.epoch
		resp := ask(t, s, 12, req).(*kmsg.FetchResponse)
		if resp.ErrorCode != kerr.FetchSessionIDNotFound.Code || len(resp.Topics) != 0 {
			t.Errorf("%s: %+v", name, resp)
		}
	}
}

func TestFetchAnswerFields(t *testing.T) {
	s := newServer(t, Options{Clock: testClock})
	threeBatches(t, s, "t")
	for offset, records := range map[int64]bool{0: true, 6: false} {
		for _, isolation := range []int8{0, 1} {
			req := fetchRequest("t", offset)
			req.IsolationLevel = isolation
			p := askFetch(t, s, 12, req)
			if p.HighWatermark != 6 || p.LastStableOffset != 6 || p.LogStartOffset != 0 || p.PreferredReadReplica != -1 {
				t.Errorf("offset %d: %+v", offset, p)
			}
			if p.RecordBatches == nil || len(p.RecordBatches) > 0 != records {
				t.Errorf("offset %d: records %v", offset, p.RecordBatches)
			}
			if (p.AbortedTransactions == nil) != (isolation == 0) {
				t.Errorf("isolation %d: aborted %v", isolation, p.AbortedTransactions)
			}
		}
	}
	req := fetchRequest("t", 0)
	req.Topics = nil
	if resp := ask(t, s, 12, req).(*kmsg.FetchResponse); resp.ErrorCode != 0 || len(resp.Topics) != 0 {
		t.Errorf("no topics: %+v", resp)
	}
	// One bad partition doesn't spoil the others.
	req = fetchRequest("absent", 0)
	req.Topics = append(req.Topics, fetchRequest("t", 4).Topics...)
	resp := ask(t, s, 12, req).(*kmsg.FetchResponse)
	if resp.Topics[0].Partitions[0].ErrorCode != kerr.UnknownTopicOrPartition.Code || valuesOf(t, resp.Topics[1].Partitions[0].RecordBatches) != "c1,c2" {
		t.Errorf("%+v", resp.Topics)
	}
}

func TestFetchCodecs(t *testing.T) {
	for codec := batch.None; codec <= batch.Zstd; codec++ {
		s := newServer(t, Options{Clock: testClock})
		mustCreate(t, s, "t", 1, nil)
		topics := []string{"t"}
		for _, name := range envelope.CompressionNames() {
			mustCreate(t, s, name, 1, map[string]string{"compression.type": name})
			topics = append(topics, name)
		}
		for _, topic := range topics {
			askProduce(t, s, 9, produceTo(topic, -1, producedBatch(t, codec, nil, plainValues("a", "b")...)))
		}
		old := map[batch.Codec]batch.Codec{batch.Zstd: batch.LZ4} // for clients without zstd
		if codec != batch.Zstd {
			old[codec] = codec
		}
		for _, c := range []struct {
			topic   string
			version int16
			want    batch.Codec
		}{
			{"t", 10, codec}, {"t", 9, old[codec]}, {"producer", 10, codec}, {"uncompressed", 10, batch.None},
			{"gzip", 10, batch.Gzip}, {"gzip", 9, batch.Gzip}, {"snappy", 10, batch.Snappy}, {"lz4", 10, batch.LZ4},
			{"zstd", 10, batch.Zstd}, {"zstd", 9, batch.LZ4},
		} {
			p := askFetch(t, s, c.version, fetchRequest(c.topic, 0))
			h, err := batch.Parse(p.RecordBatches)
			if err != nil || h.Codec() != c.want || valuesOf(t, p.RecordBatches) != "a,b" {
				t.Errorf("%v, topic %s, v%d: codec %v, want %v, %v", codec, c.topic, c.version, h.Codec(), c.want, err)
			}
		}
	}
}

// flow records what a handler tells its connection.
type flow struct {
	parked, passed bool
	reserved       int64
}

func (f *flow) Park()                                        { f.parked = true }
func (f *flow) Pass()                                        { f.passed = true }
func (f *flow) Turn(context.Context) error                   { return nil }
func (f *flow) Reserve(_ context.Context, bytes int64) error { f.reserved += bytes; return nil }

// slowFlow has an answer before this one, and then no memory, for as long as the
// test wants.
type slowFlow struct {
	flow
	written, memory chan struct{}
}

func (f *slowFlow) Reserve(ctx context.Context, bytes int64) error {
	wait := f.written
	if bytes > 0 {
		wait = f.memory
	}
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// countingReads counts reads begun and reads that loaded batches.
type countingReads struct {
	*memory.Broker
	begun, loaded atomic.Int32
}

func (b *countingReads) Read(ctx context.Context, r backend.Read) ([]backend.ReadResult, error) {
	b.begun.Add(1)
	out, err := b.Broker.Read(ctx, r)
	if err == nil {
		b.loaded.Add(1)
	}
	return out, err
}

// TestFetchLoadsInTurn: nothing is read from the broker while an earlier answer
// is on its way, and nothing loaded before there is memory for it, however long
// that takes.
func TestFetchLoadsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &countingReads{Broker: memory.New(nil)}
		s := newServer(t, Options{Broker: b})
		mustCreate(t, s, "t", 1, nil)
		askProduce(t, s, 9, produceTo("t", -1, producedBatch(t, batch.None, func(h *batch.Header) { h.FirstTimestamp = time.Now().UnixMilli() }, plainValues("news")...)))
		f := &slowFlow{written: make(chan struct{}), memory: make(chan struct{})}
		req := fetchRequest("t", 0)
		req.Version = 12
		api, _ := s.Lookup(req.Key(), req.Version)
		done := make(chan *kmsg.FetchResponse, 1)
		go func() {
			resp, err := s.Handle(context.Background(), api, &Request{Msg: req, Conn: &Conn{}, Flow: f})
			if err != nil {
				t.Error(err)
			}
			done <- resp.(*kmsg.FetchResponse)
		}()
		synctest.Wait()
		if b.begun.Load() != 0 {
			t.Error("read before the answer before it has left")
		}
		close(f.written)
		synctest.Wait()
		if b.begun.Load() != 1 || b.loaded.Load() != 0 {
			t.Error("loaded without memory")
		}
		time.Sleep(time.Hour) // of the bubble's clock
		close(f.memory)
		if resp := <-done; valuesOf(t, resp.Topics[0].Partitions[0].RecordBatches) != "news" {
			t.Errorf("%+v", resp.Topics[0].Partitions[0])
		}
	})
}

func TestFetchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, Options{})
		mustCreate(t, s, "t", 1, nil)
		fetch := func(minBytes, waitMillis int32) (*kmsg.FetchResponse, *flow) {
			req := fetchRequest("t", 0)
			req.Version, req.MinBytes, req.MaxWaitMillis = 12, minBytes, waitMillis
			api, _ := s.Lookup(req.Key(), req.Version)
			f := &flow{}
			resp, err := s.Handle(context.Background(), api, &Request{Msg: req, Conn: &Conn{}, Flow: f})
			if err != nil {
				t.Error(err)
				return nil, f
			}
			return resp.(*kmsg.FetchResponse), f
		}
		start := time.Now()
		if _, f := fetch(1, 700); time.Since(start) != 700*time.Millisecond || !f.parked || f.reserved != 0 {
			t.Errorf("nothing there: %v, %+v", time.Since(start), f)
		}
		start = time.Now()
		if fetch(0, 700); time.Since(start) != 0 {
			t.Errorf("min bytes 0: %v", time.Since(start))
		}
		start = time.Now()
		done := make(chan string)
		go func() {
			resp, f := fetch(1, 60_000)
			if f.reserved == 0 {
				t.Error("an answer with data reserves memory")
			}
			done <- valuesOf(t, resp.Topics[0].Partitions[0].RecordBatches)
		}()
		synctest.Wait()
		time.Sleep(5 * time.Second) // of the bubble's clock
		askProduce(t, s, 9, produceTo("t", -1, producedBatch(t, batch.None, func(h *batch.Header) { h.FirstTimestamp = time.Now().UnixMilli() }, plainValues("news")...)))
		if got := <-done; got != "news" || time.Since(start) != 5*time.Second {
			t.Errorf("woken after %v with %q", time.Since(start), got)
		}
		start = time.Now()
		if resp, _ := fetch(100_000, 800); time.Since(start) != 800*time.Millisecond || valuesOf(t, resp.Topics[0].Partitions[0].RecordBatches) != "news" {
			t.Errorf("less than min bytes: %v", time.Since(start))
		}
		// A client that leaves ends the wait.
		ctx, cancel := context.WithCancel(context.Background())
		req := fetchRequest("t", 1)
		req.Version, req.MaxWaitMillis = 12, 60_000
		api, _ := s.Lookup(req.Key(), req.Version)
		left := make(chan error)
		go func() {
			_, err := s.Handle(ctx, api, &Request{Msg: req, Conn: &Conn{}})
			left <- err
		}()
		synctest.Wait()
		start = time.Now()
		cancel()
		<-left
		if time.Since(start) != 0 {
			t.Errorf("a client that left was waited for %v", time.Since(start))
		}
	})
}

// spoiling gives stored batches back with one byte changed, from an offset on.
type spoiling struct {
	*memory.Broker
	from int64
}

func (b spoiling) Read(ctx context.Context, r backend.Read) ([]backend.ReadResult, error) {
	results, err := b.Broker.Read(ctx, r)
	for i := range results {
		for j := range results[i].Batches {
			if sb := &results[i].Batches[j]; sb.BaseOffset >= b.from {
				sb.Bytes = bytes.Clone(sb.Bytes)
				sb.Bytes[len(sb.Bytes)-1]++
			}
		}
	}
	return results, err
}

func TestFetchNeverServesWhatDiffers(t *testing.T) {
	broker := spoiling{memory.New(testClock), 2}
	s := newServer(t, Options{Clock: testClock, Broker: broker})
	threeBatches(t, s, "t")
	s.envelope = newEngine(t, broker) // without the tail cache's entries
	if got := fetchValues(t, s, 12, fetchRequest("t", 0)); got != "a1,a2" {
		t.Errorf("before the damage: %q", got)
	}
	p := askFetch(t, s, 12, fetchRequest("t", 2))
	if p.ErrorCode != kerr.KafkaStorageError.Code || len(p.RecordBatches) != 0 || p.HighWatermark != -1 {
		t.Errorf("at the damage: %+v", p)
	}
}

var update = flag.Bool("update-frames", false, "rewrite the golden frames of Produce and Fetch")

// TestGoldenFrames: requests as bytes and the bytes of their answers, every
// version. The first line of a file says what it shows.
func TestGoldenFrames(t *testing.T) {
	s := newServer(t, Options{Clock: testClock})
	topic := mustCreate(t, s, "golden", 2, nil)
	anyID := [16]byte{0xaa, 0xbb, 0xcc, 0xdd, 0xaa, 0xbb, 0xcc, 0xdd, 0xaa, 0xbb, 0xcc, 0xdd, 0xaa, 0xbb, 0xcc, 0xdd}
	golden := func(name, what string, low, high int16, request func(version int16) kmsg.Request) {
		var out strings.Builder
		fmt.Fprintf(&out, "# %s\n", what)
		for v := low; v <= high; v++ {
			req := request(v)
			req.SetVersion(v)
			resp := ask(t, s, v, req)
			fmt.Fprintf(&out, "v%d request  %s\n", v, hex.EncodeToString(bytes.ReplaceAll(req.AppendTo(nil), topic.ID[:], anyID[:])))
			fmt.Fprintf(&out, "v%d response %s\n", v, hex.EncodeToString(bytes.ReplaceAll(resp.AppendTo(nil), topic.ID[:], anyID[:])))
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != string(want) {
			t.Errorf("%s differs:\n%s", path, out.String())
		}
	}
	golden("00_produce.txt", "Produce of a good batch to golden-0, a damaged one to golden-1, and one to a topic that isn't there", 3, 11, func(int16) kmsg.Request {
		bad := producedBatch(t, batch.None, nil, plainValues("b")...)
		bad[17] ^= 0xff
		req := produceTo("golden", -1, producedBatch(t, batch.None, nil, batch.Record{Key: []byte("k"), Value: []byte("v")}), bad)
		req.Topics = append(req.Topics, produceTo("absent", -1, producedBatch(t, batch.None, nil, plainValues("c")...)).Topics...)
		return req
	})
	golden("01_fetch.txt", "Fetch of golden-0 from offset 1, limited to one batch, and of golden-1 beyond its end", 4, 17, func(v int16) kmsg.Request {
		req := fetchRequest("golden", 1)
		req.MaxBytes, req.IsolationLevel = 1, 1
		req.Topics[0].TopicID = topic.ID
		second := fetchRequest("golden", 99).Topics[0].Partitions[0]
		second.Partition = 1
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
		return req
	})
}
