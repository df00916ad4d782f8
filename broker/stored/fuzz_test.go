package stored_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"testing"

	"milena/broker/stored"
)

// FuzzOpen: whatever the bytes, reading ends without panic, and what can be
// read can be built again to the same content. Bytes are tried as they are and
// with size and CRC put right, so that the fuzzer gets past those.
func FuzzOpen(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(build(f, random(rand.New(rand.NewPCG(seed, 2)))))
	}
	for _, c := range goldens() {
		f.Add(build(f, c))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		check(t, raw)
		if len(raw) < 58 {
			return
		}
		raw = bytes.Clone(raw)
		binary.LittleEndian.PutUint32(raw[4:], uint32(len(raw)))
		end := len(raw) - 4
		binary.LittleEndian.PutUint32(raw[end:], crc32.Checksum(raw[:end], crc32.MakeTable(crc32.Castagnoli)))
		check(t, raw)
	})
}

func check(t *testing.T, raw []byte) {
	c, err := open(raw)
	if err != nil {
		return
	}
	if len(c.records) != int(c.header.Count) {
		t.Fatalf("%d records, count %d", len(c.records), c.header.Count)
	}
	distinct := map[[32]byte]bool{}
	for _, k := range c.keys {
		distinct[k] = true
	}
	if len(distinct) != len(c.keys) {
		return // Builder never writes one key twice
	}
	var b stored.Builder
	again, err := buildWith(&b, nil, c)
	if err != nil {
		t.Fatalf("read but not built: %v", err)
	}
	got, err := open(again)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(normal(got), normal(c)) {
		t.Fatalf("built again:\ngot  %+v\nwant %+v", got, c)
	}
}

// normal drops what foreign writers may spell differently: empty indexes and
// an explicit header block of none.
func normal(c content) content {
	for i := range c.records {
		for _, p := range []*stored.Payload{&c.records[i].Key, &c.records[i].Value} {
			if len(p.Indexes) == 0 {
				p.Indexes = nil
			}
		}
	}
	return c
}
