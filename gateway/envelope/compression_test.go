package envelope

import (
	"context"
	"testing"

	"milena/broker/stored"
	"milena/gateway/backend"
	"milena/gateway/batch"
)

// TestCompressionOf: the names are all different, and what is none of them is
// the producer's choice.
func TestCompressionOf(t *testing.T) {
	seen := map[Compression]string{}
	for _, name := range CompressionNames() {
		c := CompressionOf(name)
		if other, ok := seen[c]; ok {
			t.Errorf("%s means the same as %s", name, other)
		}
		seen[c] = name
	}
	for _, name := range []string{"", "none", "GZIP", "brotli", "unknown"} {
		if c := CompressionOf(name); c != (Compression{}) {
			t.Errorf("%q means %+v", name, c)
		}
	}
}

// TestServedCompression: for every choice of topic, producer and client, the
// codec is right, the records are the producer's, and the producer's own bytes
// are used exactly where their codec will do.
func TestServedCompression(t *testing.T) {
	r := newRig(t, on)
	for i, name := range CompressionNames() {
		for codec := batch.None; codec <= batch.Zstd; codec++ {
			b := build(t, codec, nil, values(framed(7, order(1, "x", []string{"a"}, counted)), []byte("plain"))...)
			s := r.mustStore(b, Policy{})
			offset := int64(100*i) + int64(codec)
			r.put(b, s, offset)
			for _, zstd := range []bool{true, false} {
				want := codec
				if name == "uncompressed" {
					want = batch.None
				}
				for c := batch.Gzip; c <= batch.Zstd; c++ {
					if c.String() == name {
						want = c
					}
				}
				hit := want == codec && (zstd || codec != batch.Zstd)
				if want == batch.Zstd && !zstd {
					want = batch.LZ4
				}
				r.reset()
				got, err := r.engine.Serve(context.Background(), nil, backend.Partition{Topic: topicID},
					backend.StoredBatch{BaseOffset: offset, LeaderEpoch: 4, AppendTime: 1234, Bytes: s.Batch},
					Served{Compression: CompressionOf(name), Zstd: zstd})
				if err != nil {
					t.Fatal(err)
				}
				h, err := batch.Parse(got)
				if err != nil || h.Codec() != want || (r.hits[true] == 1) != hit {
					t.Errorf("topic %s, producer %v, zstd %v: codec %v, want %v; hits %v, want %v: %v", name, codec, zstd, h.Codec(), want, r.hits, hit, err)
				}
				same(t, name, got, r.rebuild(s, offset))
			}
		}
	}
}

// TestMarkersStayPlain: clients don't decompress control batches.
func TestMarkersStayPlain(t *testing.T) {
	r := newRig(t, nil)
	var b stored.Builder
	raw, err := b.AppendMarker(nil, 9, 1, 1000, stored.Marker{Commit: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range CompressionNames() {
		got, err := r.engine.Rebuild(context.Background(), nil, backend.StoredBatch{Bytes: raw}, Served{Compression: CompressionOf(name), Zstd: true})
		if err != nil {
			t.Fatal(err)
		}
		if h, err := batch.Parse(got); err != nil || h.Codec() != batch.None || !h.Control() {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}
