package envelope

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/serde/schema"
)

// FuzzStore: whatever bytes a producer puts into values and headers, a
// permissive topic takes them, and after a restart gives back the same.
func FuzzStore(f *testing.F) {
	f.Add([]byte("key"), framed(7, order(1, "x", []string{"a", "b"}, counted)), []byte{0, 0, 0, 0, 7})
	f.Add(framed(8, event(1, "x")), order(1, "x", []string{"a", "b"}, split), append([]byte{1}, orderGUID[:]...))
	f.Add([]byte{}, framed(11, nil), []byte{1, 2})
	f.Add([]byte{0, 0, 0, 0, 10}, []byte{0, 0, 0, 0, 77, 1}, []byte{})
	r := newRig(f, nil)
	f.Fuzz(func(t *testing.T, key, value, header []byte) {
		r.t = t
		r.reset()
		block := batch.AppendHeaders(nil, batch.RecordHeader{Key: []byte("__value_schema_id"), Value: header})
		b := build(t, batch.None, nil, batch.Record{Key: key, Value: value}, batch.Record{Value: value, Headers: block}, batch.Record{Key: value})
		s, err := r.store(b, Policy{})
		if errors.Is(err, schema.ErrUnavailable) {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, "rebuilt", r.rebuild(s, 0), b)
	})
}

// FuzzRebuild: bytes from a disk never make the engine panic, and are served only if they pass
// every check.
func FuzzRebuild(f *testing.F) {
	r := newRig(f, nil)
	for _, how := range []blocks{oneBlock, counted, split} {
		s, err := r.store(build(f, batch.None, nil, values(framed(7, order(1, "x", []string{"a", "b"}, how)), []byte("plain"))...), Policy{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Batch)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = bytes.Clone(raw)
		if n := len(raw) - 4; n > 0 { // else only one in four billion goes further
			binary.LittleEndian.PutUint32(raw[n:], crc32.Checksum(raw[:n], crc32.MakeTable(crc32.Castagnoli)))
		}
		b, err := r.engine.Rebuild(context.Background(), nil, backend.StoredBatch{Bytes: raw}, Served{})
		if err != nil {
			if !errors.Is(err, backend.ErrCorrupt) || len(b) != 0 {
				t.Fatalf("%d bytes, %v", len(b), err)
			}
			return
		}
		if _, err := batch.Parse(b); err != nil {
			t.Fatal(err)
		}
	})
}
