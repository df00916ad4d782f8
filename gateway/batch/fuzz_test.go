package batch

import (
	"bytes"
	"testing"
)

// FuzzBatch: nothing that a producer sends makes the reader panic or exceed its
// bounds, and a batch that is accepted is the same after it was rebuilt.
func FuzzBatch(f *testing.F) {
	for codec := None; codec <= Zstd; codec++ {
		f.Add(sample(f, 3, codec, nil))
	}
	f.Add(sample(f, 1, None, func(h *Header) { h.ProducerID, h.ProducerEpoch, h.BaseSequence = 1, 0, 0 }))
	codecs := &Codecs{BytesMax: 1 << 20}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > HeaderBytes {
			b = bytes.Clone(b)
			seal(b) // else only one in four billion goes further
		}
		h, err := Check(b, 1<<16)
		if err != nil {
			return
		}
		section, err := codecs.Decompress(nil, b[HeaderBytes:], h.Codec(), 0)
		if err != nil {
			return
		}
		if len(section) > 1<<20 {
			t.Fatalf("%d bytes decompressed", len(section))
		}
		again := Begin(nil)
		var it Records
		it.Reset(section, h.Count)
		var rec Record
		var records []Record
		for it.Next(&rec) {
			records = append(records, rec)
			again = AppendRecord(again, &rec)
		}
		if it.Err() != nil {
			return
		}
		h.Attributes &^= codecMask
		Finish(again, h)
		g, err := Check(again, 0)
		if err != nil || g != h {
			t.Fatalf("rebuilt: %+v, %v, want %+v", g, err, h)
		}
		it.Reset(again[HeaderBytes:], g.Count)
		for i := 0; it.Next(&rec); i++ {
			w := records[i]
			if !bytes.Equal(rec.Key, w.Key) || !bytes.Equal(rec.Value, w.Value) || !bytes.Equal(rec.Headers, w.Headers) ||
				(rec.Key == nil) != (w.Key == nil) || (rec.Value == nil) != (w.Value == nil) || rec.TimestampDelta != w.TimestampDelta || rec.Attributes != w.Attributes {
				t.Fatalf("record %d: %+v, want %+v", i, rec, w)
			}
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
	})
}

// FuzzDecompress: no codec panics or gives more than was allowed.
func FuzzDecompress(f *testing.F) {
	codecs := &Codecs{BytesMax: 1 << 20}
	for codec := None; codec <= Zstd; codec++ {
		b, err := codecs.Compress(nil, bytes.Repeat([]byte("abc"), 100), codec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(codec), b)
	}
	f.Fuzz(func(t *testing.T, codec byte, b []byte) {
		out, err := codecs.Decompress([]byte("x"), b, Codec(codec%8), 1<<16)
		if len(out) == 0 || out[0] != 'x' || len(out) > 1+1<<16 || err != nil && len(out) != 1 {
			t.Fatalf("%d bytes, %v", len(out), err)
		}
	})
}
