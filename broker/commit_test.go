package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"milena/broker/api"
	"milena/broker/journal"
	journalmemory "milena/broker/journal/memory"
)

func faulty() *faultyJournal {
	return &faultyJournal{Journal: journalmemory.New(journalmemory.Options{})}
}

// TestGroupCommit: everything that comes while one sync runs is the next group.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := faulty()
		var requests atomic.Int64
		b := openBroker(t, Options{Journal: j, Observer: Observer{Committed: func(c Commit) { requests.Add(int64(c.Requests)) }}})
		p := newTestTopic(t, b, "t")
		hold := make(chan struct{})
		j.set(func() { j.holdSync, j.syncs, j.appends = hold, 0, 0 })
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { append1(t, b, p, testBatch{}) })
			synctest.Wait() // so that the first one's sync runs when the others come
		}
		hold <- struct{}{}
		hold <- struct{}{}
		wg.Wait()
		j.set(func() { j.holdSync = nil })
		if j.syncs != 2 || j.appends != 2 {
			t.Fatalf("%d appends and %d syncs for 100 requests", j.appends, j.syncs)
		}
		if n := requests.Load(); n != 101 { // with the topic's
			t.Fatalf("observer counted %d requests", n)
		}
		if r := read1(t, b, p, 0); r.HighWatermark != 100 {
			t.Fatalf("high watermark %d", r.HighWatermark)
		}
	})
}

// TestWritten: acks=1 is answered before the sync, and not read before it.
func TestWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := faulty()
		b := openBroker(t, Options{Journal: j})
		p := newTestTopic(t, b, "t")
		hold := make(chan struct{})
		j.set(func() { j.holdSync = hold })
		synced := make(chan api.Appended, 1)
		go func() {
			out, err := b.Append(t.Context(), api.Written, []api.Append{{Partition: p, Batch: testBatch{}.build(t)}})
			if err != nil || out[0].Err != nil || out[0].BaseOffset != 0 {
				t.Errorf("written: %+v %v", out, err)
			}
			synced <- append1(t, b, p, testBatch{})
		}()
		synctest.Wait() // the first is answered, the second is queued
		if r := read1(t, b, p, 0); r.HighWatermark != 0 || len(r.Batches) != 0 {
			t.Errorf("read before the sync: %+v", r)
		}
		select {
		case a := <-synced:
			t.Errorf("synced before the sync: %+v", a)
		default:
		}
		hold <- struct{}{}
		hold <- struct{}{}
		if a := <-synced; a.Err != nil || a.BaseOffset != 1 {
			t.Errorf("synced: %+v", a)
		}
		j.set(func() { j.holdSync = nil })
		if r := read1(t, b, p, 0); r.HighWatermark != 2 {
			t.Errorf("high watermark %d", r.HighWatermark)
		}
	})
}

// TestListOffsetsWaitsForWritten: whoever was told that a batch is written finds
// it in the offsets, which are durable ones all the same. What doesn't depend on
// the end, and requests of others that are merely being synced, wait for nothing.
func TestListOffsetsWaitsForWritten(t *testing.T) {
	for _, c := range []struct {
		query  int64
		waits  bool
		offset int64
		broken error // of the sync
	}{
		{query: api.Latest, waits: true, offset: 1},
		{query: api.MaxTimestamp, waits: true, offset: 0},
		{query: 1, waits: true, offset: 0},
		{query: 1 << 50, waits: true, offset: -1},
		{query: api.Earliest, offset: 0},
		{query: api.LatestTiered, offset: -1},
		{query: api.Latest, waits: true, broken: errors.New("disk is gone"), offset: 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := faulty()
			b := openBroker(t, Options{Journal: j})
			p := newTestTopic(t, b, "t")
			hold := make(chan struct{})
			j.set(func() { j.holdSync, j.broken = hold, c.broken })
			list := func(ctx context.Context) (api.OffsetAnswer, error) {
				out, err := b.ListOffsets(ctx, []api.OffsetQuery{{Partition: p, Timestamp: c.query}})
				if err != nil {
					return api.OffsetAnswer{}, err
				}
				return out[0], nil
			}
			enqueue := func(d api.Durability) api.Pending {
				pending, err := b.Enqueue(t.Context(), d, []api.Append{{Partition: p, Batch: testBatch{}.build(t)}})
				if err != nil {
					t.Fatal(err)
				}
				return pending
			}
			if out, err := enqueue(api.Written).Wait(t.Context()); err != nil || out[0].Err != nil {
				t.Fatalf("written: %+v %v", out, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := list(ctx); (err != nil) != c.waits || c.waits && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("timestamp %d: %v before the sync, want to wait: %v", c.query, err, c.waits)
			}
			answer := make(chan api.OffsetAnswer, 1)
			go func() {
				a, err := list(t.Context())
				if err != nil {
					t.Error(err)
				}
				answer <- a
			}()
			synctest.Wait()
			hold <- struct{}{}
			if a := <-answer; a.Err != nil || a.Offset != c.offset {
				t.Errorf("timestamp %d: %+v, want offset %d", c.query, a, c.offset)
			}
			if c.broken != nil {
				return
			}
			pending := enqueue(api.Synced)
			synctest.Wait()
			if a, err := list(t.Context()); err != nil || a.Offset != c.offset {
				t.Errorf("timestamp %d: %+v %v while others sync", c.query, a, err)
			}
			hold <- struct{}{}
			if _, err := pending.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			j.set(func() { j.holdSync = nil })
		})
	}
}

// TestFullDisk: the group is refused and leaves nothing behind; the next one
// that fits is stored.
func TestFullDisk(t *testing.T) {
	j := faulty()
	var full []bool
	b := openBroker(t, Options{Journal: j, Observer: Observer{Full: func(is bool) { full = append(full, is) }}})
	p := newTestTopic(t, b, "t")
	append1(t, b, p, testBatch{producer: 1})
	j.set(func() { j.failing = fmt.Errorf("write: %w", journal.ErrFull) })
	if a := append1(t, b, p, testBatch{producer: 1, sequence: 1}); !errors.Is(a.Err, api.ErrUnavailable) || a.BaseOffset != -1 {
		t.Fatalf("append on a full disk: %+v", a)
	}
	if _, err := b.CreateTopic(t.Context(), api.TopicSpec{Name: "u", Partitions: 1}); !errors.Is(err, api.ErrUnavailable) {
		t.Fatalf("create on a full disk: %v", err)
	}
	if _, err := b.CompareAndAppend(t.Context(), "k", 0, []byte("v")); !errors.Is(err, api.ErrUnavailable) {
		t.Fatalf("record on a full disk: %v", err)
	}
	if r := read1(t, b, p, 0); r.Err != nil || len(r.Batches) != 1 || !errors.Is(b.Ready(), errFull) {
		t.Fatalf("read on a full disk: %+v, ready %v", r, b.Ready())
	}
	j.set(func() { j.failing = journal.ErrTooLarge })
	if a := append1(t, b, p, testBatch{producer: 1, sequence: 1}); !errors.Is(a.Err, api.ErrTooLarge) {
		t.Fatalf("append of too much: %+v", a)
	}
	j.set(func() { j.failing = nil })
	if a := append1(t, b, p, testBatch{producer: 1, sequence: 1}); a.Err != nil || a.BaseOffset != 1 || a.Duplicate {
		t.Fatalf("append with room again: %+v", a)
	}
	if v, err := b.CompareAndAppend(t.Context(), "k", 0, []byte("v")); err != nil || v != 1 {
		t.Fatalf("record with room again: %d %v", v, err)
	}
	if id, err := b.NewProducerID(t.Context()); err != nil || id != 0 {
		t.Fatalf("producer id %d %v", id, err)
	}
	if !slices.Equal(full, []bool{true, false}) || b.Ready() != nil {
		t.Fatalf("the disk was full %v, ready %v", full, b.Ready())
	}
}

// TestFullDiskEnds: what still fits beside refused appends doesn't end it, time
// does, also if nobody appends.
func TestFullDiskEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := faulty()
		var full []bool
		b := openBroker(t, Options{Journal: j, CheckpointInterval: 10 * time.Second,
			Observer: Observer{Full: func(is bool) { full = append(full, is) }}})
		p := newTestTopic(t, b, "t")
		j.set(func() { j.failing = journal.ErrFull })
		append1(t, b, p, testBatch{count: 50})
		j.set(func() { j.failing = nil })
		append1(t, b, p, testBatch{})
		if !errors.Is(b.Ready(), errFull) {
			t.Fatalf("after a smaller append: %v", b.Ready())
		}
		time.Sleep(fullAfter + 11*time.Second)
		synctest.Wait()
		if b.Ready() != nil || !slices.Equal(full, []bool{true, false}) {
			t.Fatalf("ready %v, full %v", b.Ready(), full)
		}
		j.set(func() { j.failing = journal.ErrFull })
		append1(t, b, p, testBatch{count: 50})
		time.Sleep(2 * fullAfter)
		synctest.Wait()
		if !errors.Is(b.Ready(), errFull) {
			t.Fatalf("while probes are refused: %v", b.Ready())
		}
		j.set(func() { j.failing = nil })
		append1(t, b, p, testBatch{count: 50})
		if b.Ready() != nil {
			t.Fatal(b.Ready())
		}
	})
}

// TestFailedSync: nothing is committed any more, durable data is read on.
func TestFailedSync(t *testing.T) {
	for name, fail := range map[string]func(*faultyJournal){
		"sync":   func(j *faultyJournal) { j.broken = errors.New("input/output error") },
		"append": func(j *faultyJournal) { j.failing = journal.ErrStopped },
	} {
		t.Run(name, func(t *testing.T) {
			j := faulty()
			stopped := 0
			b := openBroker(t, Options{Journal: j, Observer: Observer{Stopped: func(error) { stopped++ }}})
			p := newTestTopic(t, b, "t")
			append1(t, b, p, testBatch{})
			j.set(func() { fail(j) })
			if a := append1(t, b, p, testBatch{}); !errors.Is(a.Err, api.ErrUnavailable) || a.BaseOffset != -1 {
				t.Fatalf("append: %+v", a)
			}
			j.set(func() { j.broken, j.failing = nil, nil })
			appends := j.appends
			if _, err := b.Append(t.Context(), api.Synced, []api.Append{{Partition: p, Batch: testBatch{}.build(t)}}); !errors.Is(err, api.ErrUnavailable) {
				t.Fatalf("append after it: %v", err)
			}
			if err := b.CommitOffsets(t.Context(), "g", []api.GroupOffset{{Topic: "t", Offset: 1}}); !errors.Is(err, api.ErrUnavailable) {
				t.Fatalf("commit after it: %v", err)
			}
			if r := read1(t, b, p, 0); r.Err != nil || r.HighWatermark != 1 || len(r.Batches) != 1 {
				t.Fatalf("read after it: %+v", r)
			}
			if !errors.Is(b.Ready(), api.ErrUnavailable) || stopped != 1 || j.appends != appends {
				t.Fatalf("ready %v, stopped %d times, %d more appends", b.Ready(), stopped, j.appends-appends)
			}
		})
	}
}

// TestCloseAnswersAll: what is queued when Close comes is committed, and what
// comes later is refused.
func TestCloseAnswersAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := faulty()
		b := openBroker(t, Options{Journal: j})
		p := newTestTopic(t, b, "t")
		hold := make(chan struct{})
		j.set(func() { j.holdSync = hold })
		var stored atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if a := append1(t, b, p, testBatch{}); a.Err == nil {
					stored.Add(1)
				}
			})
		}
		waiting := make(chan error, 1)
		go func() {
			_, err := b.Read(t.Context(), api.Read{
				Partitions: []api.ReadPartition{{Partition: p, BytesMax: 1000}}, BytesMin: 1 << 20, BytesMax: 1 << 20, MaxWait: time.Hour,
			})
			waiting <- err
		}()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- b.Close() }()
		synctest.Wait()
		if err := <-waiting; !errors.Is(err, api.ErrUnavailable) {
			t.Errorf("waiting read: %v", err)
		}
		close(hold)
		wg.Wait()
		if err := <-closed; err != nil {
			t.Errorf("close: %v", err)
		}
		if stored.Load() != 20 {
			t.Errorf("%d of 20 stored", stored.Load())
		}
		if _, err := b.Append(t.Context(), api.Synced, []api.Append{{Partition: p, Batch: testBatch{}.build(t)}}); !errors.Is(err, api.ErrUnavailable) {
			t.Errorf("append after close: %v", err)
		}
	})
}

// TestQueueBytes: requests beyond the queue wait as long as their context
// allows, one larger than the whole queue goes through alone.
func TestQueueBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := faulty()
		b := openBroker(t, Options{Journal: j, QueueBytesMax: 1000})
		p := newTestTopic(t, b, "t")
		hold := make(chan struct{})
		j.set(func() { j.holdSync = hold })
		done := make(chan api.Appended, 1)
		go func() { done <- append1(t, b, p, testBatch{count: 300}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Append(ctx, api.Synced, []api.Append{{Partition: p, Batch: testBatch{}.build(t)}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("append to a full queue: %v", err)
		}
		close(hold)
		if a := <-done; a.Err != nil {
			t.Errorf("large append: %v", a.Err)
		}
		if a := append1(t, b, p, testBatch{}); a.Err != nil || a.BaseOffset != 300 {
			t.Errorf("append afterwards: %+v", a)
		}
	})
}

// TestEntries: a group larger than GroupBytesMax becomes several entries in
// one append, and one call's batches stay in order.
func TestEntries(t *testing.T) {
	j := faulty()
	b := openBroker(t, Options{Journal: j, GroupBytesMax: 1000, TailBytesMax: -1})
	p := newTestTopic(t, b, "t")
	var call []api.Append
	for i := range 40 {
		call = append(call, api.Append{Partition: p, Batch: testBatch{text: fmt.Sprint(i)}.build(t)})
	}
	appends := j.appends
	out, err := b.Append(t.Context(), api.Synced, call)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range out {
		if a.Err != nil || a.BaseOffset != int64(i) {
			t.Fatalf("outcome %d: %+v", i, a)
		}
	}
	if j.appends != appends+1 {
		t.Fatalf("%d appends", j.appends-appends)
	}
	entries := 0
	if err := j.Replay(t.Context(), 0, func(_ journal.Position, e journal.Entry) error {
		entries++
		if len(e.Chunk) > 1000 {
			t.Errorf("chunk of %d bytes", len(e.Chunk))
		}
		return checkEntry(e)
	}); err != nil || entries < 5 {
		t.Fatalf("%d entries: %v", entries, err)
	}
	r := read1(t, b, p, 0)
	if len(r.Batches) != 40 {
		t.Fatalf("read %d batches: %v", len(r.Batches), r.Err)
	}
	for i, sb := range r.Batches {
		if want := (testBatch{text: fmt.Sprint(i)}).build(t); string(sb.Bytes) != string(want) {
			t.Fatalf("batch %d differs", i)
		}
	}
}

// TestLimits: what a caller controls is bounded.
func TestLimits(t *testing.T) {
	b := openBroker(t, Options{
		BatchBytesMax: 200, SchemaBytesMax: 10, SchemasBytesMax: 15, TopicsMax: 2, PartitionsMax: 5,
		RecordBytesMax: 10, RecordsBytesMax: 25, OffsetMetadataBytesMax: 3, OffsetsMax: 1,
	})
	p := newTestTopic(t, b, "t")
	if a := append1(t, b, p, testBatch{count: 100}); !errors.Is(a.Err, api.ErrTooLarge) {
		t.Errorf("large batch: %v", a.Err)
	}
	for _, c := range []struct {
		text string
		want error
	}{{"12345678901", api.ErrTooLarge}, {"1234567890", nil}, {"123456", api.ErrUnavailable}, {"12345", nil}, {"1234567890", nil}} {
		out, err := b.Append(t.Context(), api.Synced, []api.Append{{Partition: p, Batch: testBatch{}.build(t), Schemas: []api.Schema{schemaOf(c.text)}}})
		if err != nil || !errors.Is(out[0].Err, c.want) {
			t.Errorf("schema of %d bytes: %v %v, want %v", len(c.text), err, out[0].Err, c.want)
		}
	}
	for _, c := range []struct {
		name       string
		partitions int32
		want       error
	}{{"many", 5, api.ErrInvalid}, {"u", 4, nil}, {"v", 1, api.ErrInvalid}} {
		if _, err := b.CreateTopic(t.Context(), api.TopicSpec{Name: c.name, Partitions: c.partitions}); !errors.Is(err, c.want) {
			t.Errorf("topic %s: %v, want %v", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		key, value string
		version    int64
		want       error
	}{
		{"a", "12345678901", 0, api.ErrTooLarge}, {"a", "1234567890", 0, nil}, {"b", "1234567890", 0, nil},
		{"c", "123", 0, api.ErrUnavailable}, {"b", "1", 1, nil}, {"c", "123", 0, nil}, {"", "x", 0, api.ErrInvalid},
	} {
		if _, err := b.CompareAndAppend(t.Context(), c.key, c.version, []byte(c.value)); !errors.Is(err, c.want) {
			t.Errorf("record %s: %v, want %v", c.key, err, c.want)
		}
	}
	for _, c := range []struct {
		group, metadata string
		want            error
	}{{"g", "1234", api.ErrTooLarge}, {"g", "123", nil}, {"h", "", api.ErrUnavailable}, {"g", "", nil}} {
		err := b.CommitOffsets(t.Context(), c.group, []api.GroupOffset{{Topic: "t", Metadata: c.metadata}})
		if !errors.Is(err, c.want) {
			t.Errorf("offset of %s: %v, want %v", c.group, err, c.want)
		}
	}
}
