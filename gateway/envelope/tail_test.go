package envelope

import (
	"bytes"
	"context"
	"testing"

	"milena/gateway/backend"
	"milena/gateway/batch"
)

// serve asks for a stored batch as Fetch does.
func (r *rig) serve(s Stored, offset int64, zstd bool) []byte {
	r.t.Helper()
	b, err := r.engine.Serve(context.Background(), nil, backend.Partition{Topic: topicID},
		backend.StoredBatch{BaseOffset: offset, LeaderEpoch: 4, AppendTime: 1234, Bytes: s.Batch}, Served{Zstd: zstd})
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

func (r *rig) put(produced []byte, s Stored, offset int64) {
	h, err := batch.Check(produced, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.engine.Tail().Put(backend.Partition{Topic: topicID}, produced,
		batch.Stamp{BaseOffset: offset, LeaderEpoch: 4, MaxTimestamp: s.MaxTimestamp}, s, h.Count)
}

func on(o *Options) { o.TailOff = false }

func TestTailServesTheProducersOwnBatch(t *testing.T) {
	r := newRig(t, on)
	for codec := batch.None; codec <= batch.Zstd; codec++ {
		offset := int64(codec) * 10
		b := build(t, codec, nil, values(framed(7, order(1, "x", []string{"a"}, counted)), []byte("plain"))...)
		s := r.mustStore(b, Policy{})
		cold := r.serve(s, offset, true)
		r.put(b, s, offset)
		b[batch.HeaderBytes+2]++ // the caller's bytes are used again
		r.reset()
		warm := r.serve(s, offset, true)
		if r.hits[true] != 1 {
			t.Fatalf("%v: hits %v", codec, r.hits)
		}
		h, err := batch.Parse(warm)
		if err != nil || h.Codec() != codec || h.BaseOffset != offset || h.LeaderEpoch != 4 {
			t.Errorf("%v: %+v, %v", codec, h, err)
		}
		same(t, codec.String(), warm, cold)
		old := r.serve(s, offset, false)
		if h, err = batch.Parse(old); err != nil || h.Codec() == batch.Zstd {
			t.Errorf("%v for a client without zstd: %+v, %v", codec, h, err)
		}
	}
}

func TestTailKeepsOnlyExactBatches(t *testing.T) {
	r := newRig(t, on)
	b := build(t, batch.None, nil, values(framed(7, order(1, "x", []string{"a", "b"}, split)))...)
	s := r.mustStore(b, Policy{})
	r.put(b, s, 0)
	if r.serve(s, 0, true); r.hits[true] != 0 || r.engine.Tail().Bytes() != 0 {
		t.Errorf("hits %v, %d bytes", r.hits, r.engine.Tail().Bytes())
	}
}

// TestTailIsTiedToTheStoredBatch: a broker that lost a batch which it never made
// durable gives its offset to another one.
func TestTailIsTiedToTheStoredBatch(t *testing.T) {
	r := newRig(t, on)
	lost := build(t, batch.None, nil, values([]byte("lost"))...)
	r.put(lost, r.mustStore(lost, Policy{}), 5)
	kept := build(t, batch.None, nil, values([]byte("kept"))...)
	s := r.mustStore(kept, Policy{})
	same(t, "batch at the same offset", r.serve(s, 5, true), kept)
	if r.engine.Tail().Bytes() != 0 {
		t.Errorf("the lost batch is still there")
	}
	r.put(lost, r.mustStore(lost, Policy{}), 5)
	r.put(kept, s, 5)
	r.reset()
	if same(t, "batch put over another", r.serve(s, 5, true), kept); r.hits[true] != 1 {
		t.Errorf("hits %v", r.hits)
	}
}

func TestTailIsBounded(t *testing.T) {
	const limit = 10_000
	r := newRig(t, func(o *Options) { o.TailOff, o.TailBytesMax = false, limit })
	b := build(t, batch.None, nil, values(bytes.Repeat([]byte("x"), 900))...)
	s := r.mustStore(b, Policy{})
	for i := range int64(100) {
		r.put(b, s, i)
		if n := r.engine.Tail().Bytes(); n > limit {
			t.Fatalf("%d bytes after %d batches", n, i+1)
		}
	}
	r.reset()
	r.serve(s, 99, true)
	r.serve(s, 0, true)
	if r.hits[true] != 1 || r.hits[false] != 1 {
		t.Errorf("hits %v, want the newest kept and the oldest gone", r.hits)
	}
	huge := build(t, batch.None, nil, values(make([]byte, limit/2))...)
	before := r.engine.Tail().Bytes()
	r.put(huge, r.mustStore(huge, Policy{}), 1000)
	if r.engine.Tail().Bytes() != before {
		t.Errorf("one batch took half of the cache")
	}
}

func TestTailOff(t *testing.T) {
	r := newRig(t, nil)
	b := build(t, batch.None, nil, values([]byte("v"))...)
	s := r.mustStore(b, Policy{})
	r.put(b, s, 0)
	if r.serve(s, 0, true); r.hits[false] != 1 || r.engine.Tail().Bytes() != 0 {
		t.Errorf("hits %v", r.hits)
	}
}
