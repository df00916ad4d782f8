package broker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"milena/broker/api"
	"milena/broker/journal"
	journalmemory "milena/broker/journal/memory"
	"milena/broker/stored"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quiet completes options for tests.
func quiet(o Options) Options {
	o.Logger = slog.New(slog.DiscardHandler)
	if o.Journal == nil && o.OpenJournal == nil {
		o.Journal = journalmemory.New(journalmemory.Options{})
	}
	return o
}

// openBroker opens a broker and closes it with the test.
func openBroker(t testing.TB, o Options) *Broker {
	t.Helper()
	b, err := Open(context.Background(), quiet(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// newTestTopic creates a topic of one partition.
func newTestTopic(t testing.TB, b *Broker, name string) api.Partition {
	t.Helper()
	top, err := b.CreateTopic(context.Background(), api.TopicSpec{Name: name, Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	return api.Partition{Topic: top.ID}
}

// testBatch describes a batch of opaque values.
type testBatch struct {
	count    int
	text     string
	times    []int64
	producer int64 // id + 1
	epoch    int16
	sequence int32
}

func (tb testBatch) build(t testing.TB) []byte {
	t.Helper()
	n := max(tb.count, 1)
	var b stored.Builder
	h := stored.Header{
		ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, FirstTimestamp: 1000, MaxTimestamp: 1000,
		LastOffsetDelta: int32(n - 1), EncodedSize: int32(100 * n),
	}
	if len(tb.times) > 0 {
		h.FirstTimestamp, h.MaxTimestamp = tb.times[0], tb.times[0]
	}
	if tb.producer > 0 {
		h.ProducerID, h.ProducerEpoch, h.BaseSequence = tb.producer-1, tb.epoch, tb.sequence
	}
	for i := range n {
		var at int64
		if i < len(tb.times) {
			at = tb.times[i] - h.FirstTimestamp
			h.MaxTimestamp = max(h.MaxTimestamp, tb.times[i])
		}
		if err := b.Add(&stored.Record{
			OffsetDelta: int32(i), TimestampDelta: at,
			Key:     stored.Payload{Null: true, Schema: -1},
			Value:   stored.Payload{Schema: -1, Raw: fmt.Appendf(nil, "%s/%d", tb.text, i), HasRaw: true},
			Headers: []byte{0},
		}); err != nil {
			t.Fatal(err)
		}
	}
	b.Header = h
	out, err := b.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// append1 appends one batch.
func append1(t testing.TB, b *Broker, p api.Partition, tb testBatch) api.Appended {
	t.Helper()
	out, err := b.Append(context.Background(), api.Synced, []api.Append{{Partition: p, Batch: tb.build(t)}})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// read1 reads a partition at once.
func read1(t testing.TB, b *Broker, p api.Partition, offset int64) api.ReadResult {
	t.Helper()
	out, err := b.Read(context.Background(), api.Read{
		Partitions: []api.ReadPartition{{Partition: p, Offset: offset, BytesMax: 1 << 20}}, BytesMax: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// faultyJournal lets a test stop, count and fail the journal's writes.
type faultyJournal struct {
	journal.Journal

	mu       sync.Mutex // guards everything below
	appends  int
	syncs    int
	appended chan struct{} // gets a value with each append, if not nil
	holdSync chan struct{} // each sync takes a value first, if not nil
	failing  error         // of the next appends
	broken   error         // of the next syncs
}

func (j *faultyJournal) set(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

func (j *faultyJournal) Append(entries []journal.Entry) ([]journal.Position, error) {
	j.mu.Lock()
	failing, appended := j.failing, j.appended
	j.appends++
	j.mu.Unlock()
	if failing != nil {
		return nil, failing
	}
	out, err := j.Journal.Append(entries)
	if appended != nil {
		appended <- struct{}{}
	}
	return out, err
}

func (j *faultyJournal) Sync() error {
	j.mu.Lock()
	hold, broken := j.holdSync, j.broken
	j.syncs++
	j.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if broken != nil {
		return broken
	}
	return j.Journal.Sync()
}
