package broker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"milena/broker/api"
	"milena/broker/journal"
)

func schemaOf(text string) api.Schema {
	return api.Schema{Key: sha256.Sum256([]byte(text)), Encoded: []byte(text)}
}

// damagedJournal flips a bit of what is read at one position.
type damagedJournal struct {
	journal.Journal
	bad journal.Position
}

func (j *damagedJournal) ReadChunk(p journal.Position, off, length int, dst []byte) ([]byte, error) {
	out, err := j.Journal.ReadChunk(p, off, length, dst)
	if err == nil && p == j.bad {
		out[len(out)/2] ^= 4
	}
	return out, err
}

// TestCorruptBatch: a damaged batch is counted and never served, not even by a
// look-up; others are.
func TestCorruptBatch(t *testing.T) {
	j := &damagedJournal{Journal: faulty(), bad: -1}
	var corrupt []int64
	b := openBroker(t, Options{Journal: j, TailBytesMax: -1, Observer: Observer{
		Corrupt: func(_ api.Partition, base int64) { corrupt = append(corrupt, base) },
	}})
	p := newTestTopic(t, b, "t")
	for i := range 3 {
		append1(t, b, p, testBatch{times: []int64{int64(10 * i)}})
	}
	j.bad = b.state.topics.partition(p).current.Load().at(1).position
	if r := read1(t, b, p, 0); r.Err != nil || len(r.Batches) != 1 {
		t.Fatalf("read up to it: %+v", r)
	}
	r := read1(t, b, p, 1)
	if !errors.Is(r.Err, api.ErrCorrupt) || len(r.Batches) != 0 || r.HighWatermark != -1 {
		t.Fatalf("read at it: %+v", r)
	}
	if r := read1(t, b, p, 2); r.Err != nil || len(r.Batches) != 1 {
		t.Fatalf("read behind it: %+v", r)
	}
	answers, err := b.ListOffsets(t.Context(), []api.OffsetQuery{{Partition: p, Timestamp: 5}, {Partition: p, Timestamp: 15}})
	if err != nil || !errors.Is(answers[0].Err, api.ErrCorrupt) || answers[1].Err != nil || answers[1].Offset != 2 {
		t.Fatalf("look-ups: %+v %v", answers, err)
	}
	if fmt.Sprint(corrupt) != "[1 1 1]" {
		t.Fatalf("observer saw %v", corrupt)
	}
}

// TestTail: fresh reads come from memory, older ones from the journal, and the
// cache stays within its bytes.
func TestTail(t *testing.T) {
	var hits, misses int
	b := openBroker(t, Options{TailBytesMax: 4000, Observer: Observer{TailRead: func(hit bool) {
		if hit {
			hits++
		} else {
			misses++
		}
	}}})
	p := newTestTopic(t, b, "t")
	for i := range 200 {
		append1(t, b, p, testBatch{text: fmt.Sprint(i)})
		if b.tail.bytes > 4000 || len(b.tail.batches) != len(b.tail.order)-b.tail.head {
			t.Fatalf("tail has %d bytes, %d batches, %d keys", b.tail.bytes, len(b.tail.batches), len(b.tail.order)-b.tail.head)
		}
	}
	if r := read1(t, b, p, 199); len(r.Batches) != 1 || hits != 1 || misses != 0 {
		t.Fatalf("fresh read: %d hits, %d misses", hits, misses)
	}
	r := read1(t, b, p, 0)
	if len(r.Batches) != 200 || hits < 5 || misses < 150 {
		t.Fatalf("whole read: %d batches, %d hits, %d misses", len(r.Batches), hits, misses)
	}
	for i, sb := range r.Batches {
		if string(sb.Bytes) != string(testBatch{text: fmt.Sprint(i)}.build(t)) {
			t.Fatalf("batch %d differs", i)
		}
	}
}

// TestIndex compares the index with plain walks over random batches, also
// views of the past, which must not change.
func TestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var draft view
	var refs []batchRef
	var past []view
	for i := range 3*blockRefs + 17 {
		r := batchRef{baseOffset: draft.high, maxTimestamp: rng.Int64N(int64(i) + 10), length: uint32(i)}
		draft.add(r)
		draft.high += 1 + rng.Int64N(4)
		refs = append(refs, r)
		if i%97 == 0 || i%blockRefs < 2 {
			past = append(past, draft)
		}
	}
	past = append(past, draft)
	for _, v := range past {
		n := v.len()
		for i := range n {
			if *v.at(i) != refs[i] {
				t.Fatalf("view of %d: entry %d is %+v", n, i, *v.at(i))
			}
		}
		for range 300 {
			offset := rng.Int64N(v.high + 1)
			want := n
			for i := range n {
				if v.end(i) > offset {
					want = i
					break
				}
			}
			if got := v.find(offset); got != want {
				t.Fatalf("view of %d: find %d is %d, want %d", n, offset, got, want)
			}
			from, at := rng.IntN(n), rng.Int64N(int64(n)+20)
			want = n
			for i := from; i < n; i++ {
				if refs[i].maxTimestamp >= at {
					want = i
					break
				}
			}
			if got := v.findTime(from, at); got != want {
				t.Fatalf("view of %d: time %d from %d is %d, want %d", n, at, from, got, want)
			}
			end := rng.IntN(n + 1)
			newest, any := int64(0), false
			for i := range end {
				if !any || refs[i].maxTimestamp > newest {
					newest, any = refs[i].maxTimestamp, true
				}
			}
			if got, ok := v.newest(end); got != newest || ok != any {
				t.Fatalf("view of %d: newest before %d is %d %v, want %d %v", n, end, got, ok, newest, any)
			}
		}
	}
}

// TestReadStoredBytes: what batches take as they are stored bounds a read too,
// and one that is full by it doesn't wait for more encoded bytes.
func TestReadStoredBytes(t *testing.T) {
	b := openBroker(t, Options{ReadBytesMax: 10_000})
	p := newTestTopic(t, b, "t")
	for range 5 {
		append1(t, b, p, testBatch{text: strings.Repeat("x", 4000)}) // 100 bytes encoded
	}
	r := api.Read{
		Partitions: []api.ReadPartition{{Partition: p, BytesMax: 1 << 20}},
		BytesMin:   500, BytesMax: 1 << 20, MaxWait: time.Hour,
	}
	var reserved int64
	r.Reserve = func(_ context.Context, bytes int64) error { reserved += bytes; return nil }
	out, err := b.Read(t.Context(), r)
	if err != nil || out[0].Err != nil || len(out[0].Batches) != 2 {
		t.Fatalf("%d batches, %v", len(out[0].Batches), err)
	}
	if want := int64(len(out[0].Batches[0].Bytes)+len(out[0].Batches[1].Bytes)) + 200; reserved != want {
		t.Errorf("%d bytes reserved, want %d", reserved, want)
	}
	full := errors.New("full")
	r.Reserve = func(context.Context, int64) error { return full }
	if _, err := b.Read(t.Context(), r); !errors.Is(err, full) {
		t.Errorf("without memory: %v", err)
	}
}

// TestReadWaitsForWritten: an offset that a producer learned before the sync is
// not out of range.
func TestReadWaitsForWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := faulty()
		b := openBroker(t, Options{Journal: j})
		p := newTestTopic(t, b, "t")
		hold := make(chan struct{})
		j.set(func() { j.holdSync = hold })
		batches := []api.Append{{Partition: p, Batch: testBatch{}.build(t)}, {Partition: p, Batch: testBatch{}.build(t)}}
		out, err := b.Append(t.Context(), api.Written, batches)
		if err != nil || out[1].BaseOffset != 1 {
			t.Fatalf("written: %+v %v", out, err)
		}
		read := make(chan api.ReadResult, 1)
		go func() { read <- read1(t, b, p, 1) }()
		synctest.Wait()
		select {
		case r := <-read:
			t.Errorf("read before the sync: %+v", r)
		default:
		}
		hold <- struct{}{}
		if r := <-read; r.Err != nil || len(r.Batches) != 1 || r.HighWatermark != 2 {
			t.Errorf("read after the sync: %+v", r)
		}
		j.set(func() { j.holdSync = nil })
		if r := read1(t, b, p, 3); !errors.Is(r.Err, api.ErrOffsetOutOfRange) {
			t.Errorf("an offset that nobody has: %+v", r)
		}
	})
}
