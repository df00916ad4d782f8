package envelope

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"milena/gateway/batch"
	"milena/serde/schema"
)

// input is a batch as Store takes it.
func input(t testing.TB, b []byte, large bool) Produced {
	t.Helper()
	h, err := batch.Check(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Produced{Topic: topicID, TopicName: "orders", Header: h, Batch: b, Large: large}
}

// allGivenBack wants both budgets whole.
func allGivenBack(t *testing.T, e *Engine) {
	t.Helper()
	if !e.growth.TryAcquire(int64(e.opts.GrowthBytesMax)) || !e.large.TryAcquire(int64(e.opts.LargeBatchesMax)) {
		t.Error("memory wasn't given back")
	}
}

func TestDecompressedSizeIsBounded(t *testing.T) {
	r := newRig(t, func(o *Options) { o.SmallBatchBytes, o.BatchBytesMax, o.LargeBatchesMax = 1<<10, 1<<16, 1 })
	for _, c := range []struct {
		bytes int
		large bool
		want  error
	}{
		{100, false, nil}, {1 << 15, false, ErrLarge}, {1 << 15, true, nil},
		{1 << 17, false, ErrLarge}, {1 << 17, true, batch.ErrTooLarge}, {100, true, nil},
	} {
		for codec := batch.None; codec <= batch.Zstd; codec++ {
			b := build(t, codec, nil, values(make([]byte, c.bytes))...)
			want := c.want
			if codec == batch.None && want == ErrLarge { // nothing grows
				if want = nil; c.bytes > 1<<16 {
					want = batch.ErrTooLarge
				}
			}
			s, err := r.engine.Store(context.Background(), input(t, b, c.large))
			if !errors.Is(err, want) {
				t.Errorf("%d bytes, %v, large %v: %v, want %v", c.bytes, codec, c.large, err, want)
			}
			s.Hold.Release()
		}
	}
	// A large batch waits for a place as long as its context lasts.
	b := build(t, batch.Gzip, nil, values(make([]byte, 1<<15))...)
	first, err := r.engine.Store(context.Background(), input(t, b, true))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.engine.Store(ctx, input(t, b, true)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
	first.Hold.Release()
	first.Hold.Release() // harmless
	allGivenBack(t, r.engine)
}

// TestGrowthIsBounded: what small batches grow to is held until it is released,
// and when it is used up they count as large, without waiting.
func TestGrowthIsBounded(t *testing.T) {
	const size = 200 << 10
	r := newRig(t, func(o *Options) { o.GrowthBytesMax = 1 << 20 })
	b := build(t, batch.Zstd, nil, values(make([]byte, size))...)
	var holds []Hold
	for {
		s, err := r.engine.Store(context.Background(), input(t, b, false))
		if errors.Is(err, ErrLarge) {
			break
		}
		if err != nil || s.Hold.bytes < size-growthStep || s.Hold.bytes > size+growthStep {
			t.Fatalf("%d bytes held for %d: %v", s.Hold.bytes, size, err)
		}
		if holds = append(holds, s.Hold); len(holds) > 5 {
			t.Fatalf("%d batches of %d bytes in a budget of %d", len(holds), size, 1<<20)
		}
	}
	if len(holds) < 3 {
		t.Errorf("only %d batches of %d bytes in a budget of %d", len(holds), size, 1<<20)
	}
	// What doesn't grow needs nothing.
	plain := build(t, batch.None, nil, values(make([]byte, size))...)
	if s, err := r.engine.Store(context.Background(), input(t, plain, false)); err != nil || s.Hold != (Hold{}) {
		t.Errorf("plain: %+v, %v", s.Hold, err)
	}
	holds[0].Release()
	if s, err := r.engine.Store(context.Background(), input(t, b, false)); err != nil {
		t.Errorf("after a release: %v", err)
	} else {
		s.Hold.Release()
	}
	for i := range holds {
		holds[i].Release()
	}
	allGivenBack(t, r.engine)
}

// hostile makes a registry's schema 12 and a payload of count bytes that each
// stand for a long enum symbol.
func hostile(r *rig, count int) []byte {
	symbol := strings.Repeat("S", 100)
	r.registry.set(". 12", schema.Resolved{Type: schema.Avro, Text: `{"type":"array","items":{"type":"enum","name":"E","symbols":["` + symbol + `"]}}`})
	return framed(12, append(append(binary.AppendVarint(nil, int64(count)), make([]byte, count)...), 0))
}

// TestHostileBatchesStayBounded measures what batches allocate that want to grow
// from kilobytes to as much as they are let: by the codec, by the schema, and in
// one value. Each attempt is bounded by its limit, buffers that grow and what is
// stored beside each other included; how many there are at once is what the
// budgets bound.
func TestHostileBatchesStayBounded(t *testing.T) {
	const small, medium, most = 256 << 10, 1 << 20, 4 << 20
	limits := func(o *Options) { o.SmallBatchBytes, o.BatchBytesMax = small, most }
	r := newRig(t, limits)
	for name, b := range map[string][]byte{
		"one value":   build(t, batch.None, nil, values(hostile(r, 60_000))...),                            // 6 MB
		"many values": build(t, batch.None, nil, values(slicesOf(hostile(r, 600), 100)...)...),             // 60 kB each
		"compressed":  build(t, batch.Zstd, nil, values(slicesOf(make([]byte, 1<<16), 60)...)...),          // 4 MB
		"both":        build(t, batch.Zstd, nil, values(slicesOf(hostile(r, 20_000), 60)...)...),           // 1 MB, 2 MB each
		"too large":   build(t, batch.Zstd, nil, values(slicesOf(make([]byte, 1<<20), 60)...)...),          // 60 MB
		"original":    build(t, batch.Zstd, nil, values(slicesOf(hostile(r, 6000)[:5+3+6000], 100)...)...), // cut short
	} {
		for _, c := range []struct {
			places int64
			limit  uint64
			err    error
		}{{0, small, ErrLarge}, {1, medium, ErrLarge}, {int64(r.engine.opts.LargeBatchesMax), most, nil}} {
			in := input(t, b, false)
			in.Policy = in.Policy.withDefaults(Permissive, Permissive)
			// The schema's program is there: what it costs doesn't count.
			if s, err := r.engine.store(context.Background(), &in, c.places); err == nil {
				s.Hold.Release()
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := r.engine.store(context.Background(), &in, c.places)
			runtime.ReadMemStats(&after)
			s.Hold.Release()
			if c.err != nil && !errors.Is(err, c.err) && name != "original" {
				t.Errorf("%s with %d places: %v, want %v", name, c.places, err, c.err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 16*c.limit {
				t.Errorf("%s with %d places: %d KB allocated, limit is %d KB", name, c.places, got>>10, c.limit>>10)
			}
		}
	}
	allGivenBack(t, r.engine)
}

func slicesOf(b []byte, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = bytes.Clone(b)
	}
	return out
}
