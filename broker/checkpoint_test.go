package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"milena/broker/api"
	"milena/broker/catalog"
	catalogmemory "milena/broker/catalog/memory"
	"milena/broker/catalog/sqlite"
	"milena/broker/journal"
	"milena/broker/journal/fs"
	"milena/broker/journal/local"
	journalmemory "milena/broker/journal/memory"
)

// dump renders the whole state.
func dump(s *state) []string {
	rows := s.allRows()
	sortRows(rows)
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = fmt.Sprintf("%s %x %x", r.Section, r.Key, r.Value)
	}
	return out
}

// onMemory returns options for a journal on a file system and a catalog.
func onMemory(disk *fs.Memory, store catalog.Store) Options {
	return Options{
		Catalog: store,
		OpenJournal: func(from journal.Position) (journal.Journal, error) {
			return local.Open(local.Options{Dir: "/j", FS: disk, SegmentBytes: 16 << 10, Checkpoint: from})
		},
		GroupBytesMax: 4 << 10, ProducersMax: 6, CheckpointInterval: time.Hour,
	}
}

// history runs random operations against a broker; it stops at the first
// error that means trouble with the disk, which it returns.
type history struct {
	t      *testing.T
	b      *Broker
	rng    *rand.Rand
	topics []api.Topic
	next   map[int64]int32 // sequence numbers by producer
	names  int
}

func (h *history) step() error {
	ctx := context.Background()
	var err error
	switch n := h.rng.IntN(20); {
	case n == 0 || len(h.topics) == 0:
		h.names++
		var top api.Topic
		top, err = h.b.CreateTopic(ctx, api.TopicSpec{Name: fmt.Sprint("t", h.names), Partitions: 1 + h.rng.Int32N(3)})
		if err == nil {
			h.topics = append(h.topics, top)
			h.next = make(map[int64]int32)
		}
	case n == 1 && len(h.topics) > 1:
		i := h.rng.IntN(len(h.topics))
		if err = h.b.DeleteTopic(ctx, h.topics[i].ID); err == nil {
			h.topics = append(h.topics[:i], h.topics[i+1:]...)
		}
	case n == 2:
		_, err = h.b.NewProducerID(ctx)
	case n < 5:
		top := h.topics[h.rng.IntN(len(h.topics))]
		err = h.b.CommitOffsets(ctx, fmt.Sprint("g", h.rng.IntN(4)), []api.GroupOffset{{
			TopicID: top.ID, Partition: h.rng.Int32N(top.Partitions), Offset: h.rng.Int64N(100), Metadata: "m", ExpireTime: -1,
		}})
	case n == 5:
		err = h.b.DeleteGroupOffsets(ctx, fmt.Sprint("g", h.rng.IntN(4)), nil)
	case n < 8:
		key := fmt.Sprint("k", h.rng.IntN(5))
		r, loadErr := h.b.Load(ctx, key)
		if loadErr != nil {
			return loadErr
		}
		var value []byte
		if h.rng.IntN(4) > 0 {
			value = fmt.Appendf(nil, "%d", h.rng.Int())
		}
		_, err = h.b.CompareAndAppend(ctx, key, r.Version, value)
	case n == 8 && h.rng.IntN(6) == 0:
		err = h.bulk()
	default:
		err = h.append()
	}
	return err
}

// bulk fills more than a block of the index of one partition.
func (h *history) bulk() error {
	top := h.topics[h.rng.IntN(len(h.topics))]
	var call []api.Append
	for i := range 300 {
		call = append(call, api.Append{
			Partition: api.Partition{Topic: top.ID}, Batch: testBatch{times: []int64{int64(i)}}.build(h.t),
		})
	}
	_, err := h.b.Append(context.Background(), api.Synced, call)
	return err
}

func (h *history) append() error {
	var call []api.Append
	for range 1 + h.rng.IntN(4) {
		top := h.topics[h.rng.IntN(len(h.topics))]
		tb := testBatch{count: 1 + h.rng.IntN(4), text: fmt.Sprint(h.rng.Int()), times: []int64{h.rng.Int64N(1000)}}
		if h.rng.IntN(2) == 0 {
			tb.producer, tb.sequence = 1+h.rng.Int64N(9), h.rng.Int32N(3)
		}
		call = append(call, api.Append{
			Partition: api.Partition{Topic: top.ID, Index: h.rng.Int32N(top.Partitions)},
			Batch:     tb.build(h.t), Schemas: []api.Schema{schemaOf(fmt.Sprint(h.rng.IntN(20)))},
		})
	}
	out, err := h.b.Append(context.Background(), api.Synced, call)
	for _, a := range out {
		if errors.Is(a.Err, api.ErrUnavailable) {
			err = a.Err
		}
	}
	return err
}

// checkpointNow has the committer take a checkpoint and waits for it.
type checkpointNow struct {
	call
	b *Broker
}

func (op *checkpointNow) size() int64 { return 1 }

func (op *checkpointNow) stage(*staging) {
	if op.b.checkpointing {
		op.b.endCheckpoint(<-op.b.checkpoints)
	}
	op.b.lastCheckpoint()
}

func (b *Broker) checkpointForTest(t *testing.T) {
	t.Helper()
	op := &checkpointNow{b: b}
	if err := b.do(context.Background(), op, &op.call); err != nil {
		t.Fatal(err)
	}
}

// TestReplayEqualsLive: the state after random histories is the same live,
// from checkpoint and journal, and from the journal alone.
func TestReplayEqualsLive(t *testing.T) {
	for seed := range uint64(20) {
		disk := fs.NewMemory(seed)
		store := new(catalogmemory.Store)
		rng := rand.New(rand.NewPCG(seed, 3))
		var live []string
		h := &history{t: t, rng: rng, next: make(map[int64]int32)}
		for range 3 { // restarts
			b, err := Open(t.Context(), quiet(onMemory(disk, store)))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got := dump(b.state); live != nil && !reflect.DeepEqual(got, live) {
				t.Fatalf("seed %d: restart differs:\n%s\nlive\n%s", seed, strings.Join(got, "\n"), strings.Join(live, "\n"))
			}
			h.b = b
			for range 150 {
				if rng.IntN(25) == 0 {
					b.checkpointForTest(t)
				}
				if err := h.step(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			live = dump(b.state)
		}
		if start := journalStart(t, disk); start > 0 {
			continue // trimmed: the journal alone can't tell any more
		}
		b, err := Open(t.Context(), quiet(onMemory(disk, nil)))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := dump(b.state); !reflect.DeepEqual(got, live) {
			t.Fatalf("seed %d: replay differs:\n%s\nlive\n%s", seed, strings.Join(got, "\n"), strings.Join(live, "\n"))
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func journalStart(t *testing.T, disk *fs.Memory) journal.Position {
	t.Helper()
	j, err := local.Open(local.Options{Dir: "/j", FS: disk, SegmentBytes: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	return j.Start()
}

// failingStore lets saves fail, and reports damage.
type failingStore struct {
	catalogmemory.Store
	failing error
	damaged bool
	full    int
}

func (s *failingStore) Save(ctx context.Context, c catalog.Checkpoint) error {
	if s.failing != nil {
		return s.failing
	}
	if c.Full {
		s.full++
	}
	return s.Store.Save(ctx, c)
}

func (s *failingStore) Load(ctx context.Context, fn func(catalog.Row) error) (int64, error) {
	if s.damaged {
		_, _ = s.Store.Load(ctx, fn) // rows that turn out to be worth nothing
		return 0, catalog.ErrDamaged
	}
	return s.Store.Load(ctx, fn)
}

// TestFailedCheckpoint: commits go on, and the next checkpoint is whole.
func TestFailedCheckpoint(t *testing.T) {
	store := &failingStore{}
	disk := fs.NewMemory(1)
	var seen []error
	o := onMemory(disk, store)
	o.Observer.Checkpointed = func(c Checkpointed) { seen = append(seen, c.Err) }
	b, err := Open(t.Context(), quiet(o))
	if err != nil {
		t.Fatal(err)
	}
	p := newTestTopic(t, b, "t")
	b.checkpointForTest(t)
	append1(t, b, p, testBatch{producer: 1})
	store.failing = errors.New("no space")
	b.checkpointForTest(t)
	store.failing = nil
	append1(t, b, p, testBatch{producer: 1, sequence: 1})
	b.checkpointForTest(t)
	b.checkpointForTest(t) // nothing to save
	append1(t, b, p, testBatch{producer: 1, sequence: 2})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 4 || seen[0] != nil || seen[1] == nil || seen[2] != nil || seen[3] != nil || store.full != 2 {
		t.Fatalf("checkpoints %v, %d full", seen, store.full)
	}
	live := dump(b.state)
	for _, damaged := range []bool{false, true} {
		store.damaged = damaged
		b = openBroker(t, onMemory(disk, store))
		if got := dump(b.state); !reflect.DeepEqual(got, live) {
			t.Fatalf("damaged %v: state differs", damaged)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTrim: what deleted topics leave at the beginning of the journal goes,
// with a checkpoint behind it; and then a start needs that checkpoint.
func TestTrim(t *testing.T) {
	store := &failingStore{}
	disk := fs.NewMemory(1)
	b, err := Open(t.Context(), quiet(onMemory(disk, store)))
	if err != nil {
		t.Fatal(err)
	}
	old, kept := newTestTopic(t, b, "old"), newTestTopic(t, b, "kept")
	for i := range 200 {
		append1(t, b, old, testBatch{count: 5, text: fmt.Sprint(i)})
	}
	append1(t, b, kept, testBatch{text: "kept"})
	b.checkpointForTest(t)
	if b.journal.Start() != 0 {
		t.Fatal("live data was trimmed")
	}
	used := disk.Used()
	if err := b.DeleteTopic(t.Context(), old.Topic); err != nil {
		t.Fatal(err)
	}
	b.checkpointForTest(t)
	if b.journal.Start() == 0 || disk.Used() >= used {
		t.Fatalf("journal starts at %d, %d bytes of %d used", b.journal.Start(), disk.Used(), used)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	live := dump(b.state)
	b, err = Open(t.Context(), quiet(onMemory(disk, store)))
	if err != nil {
		t.Fatal(err)
	}
	if got := dump(b.state); !reflect.DeepEqual(got, live) {
		t.Fatal("state differs")
	}
	if r := read1(t, b, kept, 0); r.Err != nil || len(r.Batches) != 1 {
		t.Fatalf("read %+v", r)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	store.damaged = true
	if _, err := Open(t.Context(), quiet(onMemory(disk, store))); !errors.Is(err, errReplay) {
		t.Fatalf("open of a trimmed journal without checkpoint: %v", err)
	}
	store.damaged = false
	if _, err := Open(t.Context(), quiet(onMemory(fs.NewMemory(2), store))); err == nil {
		t.Fatal("a checkpoint was taken for another, empty journal")
	}
}

// TestMissingFile: without the file that data of a topic lies in, a start would
// only look like one.
func TestMissingFile(t *testing.T) {
	store, disk := new(catalogmemory.Store), fs.NewMemory(1)
	b, err := Open(t.Context(), quiet(onMemory(disk, store)))
	if err != nil {
		t.Fatal(err)
	}
	p := newTestTopic(t, b, "t")
	for i := range 200 {
		append1(t, b, p, testBatch{count: 5, text: fmt.Sprint(i)})
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := disk.List("/j")
	if err != nil || len(names) < 3 {
		t.Fatalf("files %v: %v", names, err)
	}
	first := slices.Min(names)
	if err := disk.Remove("/j/" + first); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), quiet(onMemory(disk, store)))
	if !errors.Is(err, errReplay) || !strings.Contains(err.Error(), "is needed: a file is missing") {
		t.Fatalf("open without %s: %v", first, err)
	}
}

// TestTrimmedAfterCheckpoint: a checkpoint that is older than the end of a topic
// names data that was trimmed since, which is as it should be.
func TestTrimmedAfterCheckpoint(t *testing.T) {
	store, older, disk := new(catalogmemory.Store), new(catalogmemory.Store), fs.NewMemory(1)
	b, err := Open(t.Context(), quiet(onMemory(disk, store)))
	if err != nil {
		t.Fatal(err)
	}
	p := newTestTopic(t, b, "t")
	for i := range 200 {
		append1(t, b, p, testBatch{count: 5, text: fmt.Sprint(i)})
	}
	b.checkpointForTest(t)
	copyStore(t, store, older)
	if err := b.DeleteTopic(t.Context(), p.Topic); err != nil {
		t.Fatal(err)
	}
	b.checkpointForTest(t)
	if b.journal.Start() == 0 {
		t.Fatal("nothing was trimmed")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	live := dump(b.state)
	b = openBroker(t, onMemory(disk, older))
	if got := dump(b.state); !reflect.DeepEqual(got, live) {
		t.Fatal("state differs")
	}
}

// TestStartIsQuick: an empty directory is ready at once.
func TestStartIsQuick(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	b := openBroker(t, Options{Catalog: store, OpenJournal: func(from journal.Position) (journal.Journal, error) {
		return local.Open(local.Options{Dir: filepath.Join(dir, "journal"), Checkpoint: from})
	}})
	if took := time.Since(began); b.Ready() != nil || took > 2*time.Second { // 300 ms on a quiet machine
		t.Fatalf("ready %v after %v", b.Ready(), took)
	}
}

// TestOpenFails: the stores are closed, and the error says what was attempted.
func TestOpenFails(t *testing.T) {
	want := errors.New("in use")
	_, err := Open(t.Context(), quiet(Options{
		Catalog:     new(catalogmemory.Store),
		OpenJournal: func(journal.Position) (journal.Journal, error) { return nil, want },
	}))
	if !errors.Is(err, want) {
		t.Fatal(err)
	}
	j := journalmemory.New(journalmemory.Options{})
	if _, err := j.Append([]journal.Entry{{Commit: []byte{recordVersion + 1}}}); err != nil {
		t.Fatal(err)
	}
	if _, err = Open(t.Context(), quiet(Options{Journal: j})); !errors.Is(err, errReplay) {
		t.Fatal(err)
	}
	if _, err = Open(t.Context(), Options{}); err == nil {
		t.Fatal("no journal, no error")
	}
	if _, err = Open(t.Context(), quiet(Options{QueueBytesMax: -1})); err == nil {
		t.Fatal("negative limit, no error")
	}
}

// copyStore copies the checkpoint of one store to another, as it is at the
// moment of a crash.
func copyStore(t *testing.T, from, to *catalogmemory.Store) {
	t.Helper()
	c := catalog.Checkpoint{Full: true}
	at, err := from.Load(context.Background(), func(r catalog.Row) error {
		c.Rows = append(c.Rows, catalog.Row{Section: r.Section, Key: append([]byte(nil), r.Key...), Value: append([]byte(nil), r.Value...)})
		return nil
	})
	if errors.Is(err, catalog.ErrNone) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Position = at
	if err := to.Save(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}
