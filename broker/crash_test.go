package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"milena/broker/api"
	catalogmemory "milena/broker/catalog/memory"
	"milena/broker/journal/fs"
	"milena/broker/stored"
)

// model is what a partition must hold: every acknowledged batch once, in
// order. A batch that was not acknowledged may be there or not, at its place.
type model struct {
	batches []modelBatch
	next    int32 // sequence number
}

type modelBatch struct {
	text   string
	acked  bool
	offset int64
}

// TestCrash runs seeded histories of appends on a file system that loses what
// wasn't synced, and compares what is there after each restart with the model:
// the producer repeats what was not acknowledged, as a client would.
func TestCrash(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { crashHistory(t, seed) })
	}
}

func crashHistory(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	disk := fs.NewMemory(seed)
	store := new(catalogmemory.Store)
	m := make([]model, 3)
	var topic api.TopicID
	for round := range 4 {
		b, err := Open(t.Context(), quiet(onMemory(disk, store)))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if topic == (api.TopicID{}) {
			top, err := b.CreateTopic(t.Context(), api.TopicSpec{Name: "t", Partitions: int32(len(m))})
			if err != nil {
				t.Fatal(err)
			}
			topic = top.ID
		}
		for i := range m {
			m[i].verify(t, b, api.Partition{Topic: topic, Index: int32(i)})
		}
		// The disk fails some time later, in the midst of a write or sync.
		left := 5 + rng.IntN(60)
		how := rng.IntN(3)
		disk.SetFault(func(op fs.Op, _ string, size int) (int, error) {
			if op != fs.OpWrite && op != fs.OpSync {
				return 0, nil
			}
			if left--; left > 0 {
				return 0, nil
			}
			switch {
			case op == fs.OpSync || how == 0:
				return 0, errors.New("input/output error")
			case how == 1:
				return size / 2, errors.New("input/output error")
			}
			return 0, nil // the power fails, not the disk
		})
		for range 80 {
			if rng.IntN(30) == 0 {
				b.checkpointForTestMaybe()
			}
			if !appendModel(t, b, topic, m, rng) {
				break
			}
		}
		// The power fails while the process runs; closing what is left of it
		// writes to the lost disk.
		lost := disk
		if rng.IntN(3) == 0 {
			disk = lost.Kill()
		} else {
			disk = lost.Crash(rng.Uint64())
		}
		kept := new(catalogmemory.Store)
		copyStore(t, store, kept)
		store = kept
		lost.SetFault(nil)
		_ = b.Close()
	}
}

// appendModel sends one call of a few batches and notes what becomes of each;
// false when the broker takes no more.
func appendModel(t *testing.T, b *Broker, topic api.TopicID, m []model, rng *rand.Rand) bool {
	var call []api.Append
	var at []*modelBatch
	for range 1 + rng.IntN(3) {
		i := rng.IntN(len(m))
		tb := testBatch{count: 1 + rng.IntN(3), text: fmt.Sprintf("%d.%d", i, len(m[i].batches)), producer: 1 + int64(i), sequence: m[i].next}
		m[i].next += int32(tb.count)
		m[i].batches = append(m[i].batches, modelBatch{text: fmt.Sprintf("%s*%d", tb.text, tb.count)})
		call = append(call, api.Append{Partition: api.Partition{Topic: topic, Index: int32(i)}, Batch: tb.build(t)})
		at = append(at, nil)
		at[len(at)-1] = &m[i].batches[len(m[i].batches)-1]
	}
	out, err := b.Append(context.Background(), api.Synced, call)
	if err != nil {
		return false
	}
	ok := true
	for i, a := range out {
		if a.Err != nil {
			ok = false
			continue
		}
		// Slices may have moved: find the batch again.
		index := call[i].Partition.Index
		for n := range m[index].batches {
			if mb := &m[index].batches[n]; mb.text == at[i].text {
				mb.acked, mb.offset = true, a.BaseOffset
			}
		}
	}
	return ok
}

// verify compares a partition with the model, and lets the model forget what
// was not acknowledged and isn't there: that must be at the end.
func (m *model) verify(t *testing.T, b *Broker, p api.Partition) {
	t.Helper()
	r := read1(t, b, p, 0)
	if r.Err != nil {
		t.Fatalf("read: %v", r.Err)
	}
	if len(r.Batches) > len(m.batches) {
		t.Fatalf("%d batches, sent %d", len(r.Batches), len(m.batches))
	}
	for i, sb := range r.Batches {
		opened, err := stored.Open(sb.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		records := opened.Records()
		var rec stored.Record
		records.Next(&rec)
		text := string(rec.Value.Raw[:len(rec.Value.Raw)-2])
		want := m.batches[i]
		if got := fmt.Sprintf("%s*%d", text, opened.Header.Count); got != want.text || want.acked && want.offset != sb.BaseOffset {
			t.Fatalf("batch %d is %s at %d, want %s at %d", i, got, sb.BaseOffset, want.text, want.offset)
		}
	}
	for _, lost := range m.batches[len(r.Batches):] {
		if lost.acked {
			t.Fatalf("acknowledged batch %s is lost", lost.text)
		}
	}
	m.batches = m.batches[:len(r.Batches)]
	m.next = 0
	for _, sb := range r.Batches {
		h, err := stored.ParseHeader(sb.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		m.next += h.LastOffsetDelta + 1
	}
	// A repeated newest batch is recognised.
	if n := len(r.Batches); n > 0 {
		out, err := b.Append(context.Background(), api.Synced, []api.Append{{Partition: p, Batch: append([]byte(nil), r.Batches[n-1].Bytes...)}})
		if err != nil || out[0].Err != nil || !out[0].Duplicate || out[0].BaseOffset != r.Batches[n-1].BaseOffset {
			t.Fatalf("repeated batch: %+v %v", out, err)
		}
	}
}

// checkpointForTestMaybe is checkpointForTest for a broker that may be broken.
func (b *Broker) checkpointForTestMaybe() {
	op := &checkpointNow{b: b}
	_ = b.do(context.Background(), op, &op.call)
}
