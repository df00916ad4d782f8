package stored_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"milena/broker/stored"
)

// content is a batch as a test makes and compares it.
type content struct {
	header  stored.Header
	keys    [][32]byte
	records []stored.Record
}

func build(t testing.TB, c content) []byte {
	t.Helper()
	var b stored.Builder
	out, err := buildWith(&b, nil, c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func buildWith(b *stored.Builder, dst []byte, c content) ([]byte, error) {
	b.Reset()
	b.Header = c.header
	for _, k := range c.keys {
		if _, err := b.SchemaIndex(k); err != nil {
			return nil, err
		}
	}
	for i := range c.records {
		if err := b.Add(&c.records[i]); err != nil {
			return nil, err
		}
	}
	return b.Append(dst)
}

// open reads everything back, in the normal form that readers see.
func open(raw []byte) (content, error) {
	b, err := stored.Open(raw)
	if err != nil {
		return content{}, err
	}
	c := content{header: b.Header}
	for i := range b.SchemaCount() {
		c.keys = append(c.keys, b.SchemaKey(i))
	}
	it := b.Records()
	var r stored.Record
	for it.Next(&r) {
		c.records = append(c.records, r)
	}
	return c, it.Err()
}

// random returns a batch in normal form.
func random(r *rand.Rand) content {
	var c content
	for range r.IntN(4) * r.IntN(6) {
		var k [32]byte
		for i := range k {
			k[i] = byte(r.Uint32())
		}
		c.keys = append(c.keys, k)
	}
	blob := func(n int) []byte {
		b := make([]byte, r.IntN(n))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	payload := func() stored.Payload {
		p := stored.Payload{Schema: -1}
		if r.IntN(5) == 0 {
			p.Null = true
			return p
		}
		p.Framing = stored.Framing(r.IntN(4))
		if p.Framing == stored.FramingPrefix {
			p.ID = r.Uint32() >> r.IntN(32)
		}
		if len(c.keys) > 0 && r.IntN(3) > 0 {
			p.Schema = r.IntN(len(c.keys))
			p.Style, p.Mapping = uint8(r.IntN(3)), 1
			p.Packed = blob(300)
		}
		if p.Schema < 0 || r.IntN(4) == 0 {
			p.HasRaw, p.Raw = true, blob(40)
		}
		if r.IntN(4) == 0 {
			p.Indexes = append(blob(4), 1)
		}
		return p
	}
	offset := int32(0)
	stamp := int64(0)
	profile := [2]stored.Payload{payload(), payload()}
	for range r.IntN(30) {
		if r.IntN(6) == 0 {
			offset += int32(r.IntN(300))
		}
		if r.IntN(3) == 0 {
			stamp = r.Int64() >> r.IntN(64)
		} else {
			stamp += 5
		}
		rec := stored.Record{OffsetDelta: offset, TimestampDelta: stamp, Key: profile[0], Value: profile[1], Headers: []byte{0}}
		if r.IntN(3) == 0 {
			rec.Key, rec.Value = payload(), payload()
		}
		if r.IntN(5) == 0 {
			rec.Attributes = int8(r.IntN(256))
		}
		if r.IntN(3) == 0 {
			rec.Headers = append([]byte{2}, blob(20)...)
		}
		c.records = append(c.records, rec)
		offset++
	}
	c.header = stored.Header{
		Transactional: r.IntN(2) == 0, Control: r.IntN(9) == 0, LogAppendTime: r.IntN(2) == 0,
		Codec: uint8(r.IntN(5)), ProducerID: r.Int64() - 1, ProducerEpoch: int16(r.Uint32()), BaseSequence: int32(r.Uint32()),
		FirstTimestamp: r.Int64(), MaxTimestamp: -r.Int64(), Count: int32(len(c.records)),
		LastOffsetDelta: offset + int32(r.IntN(3)), EncodedSize: int32(r.Uint32() >> 1), ContentCRC: r.Uint32(),
	}
	return c
}

func TestRoundTrip(t *testing.T) {
	var b stored.Builder
	for seed := range uint64(2000) {
		want := random(rand.New(rand.NewPCG(seed, 1)))
		raw, err := buildWith(&b, []byte("before"), want)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !bytes.HasPrefix(raw, []byte("before")) {
			t.Fatalf("seed %d: dst was changed", seed)
		}
		raw = raw[len("before"):]
		got, err := open(raw)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d:\ngot  %+v\nwant %+v", seed, got, want)
		}
		if h, err := stored.ParseHeader(raw); err != nil || h != want.header {
			t.Fatalf("seed %d: header %+v, %v", seed, h, err)
		}
	}
}

// TestDamage flips every bit of a batch and cuts it everywhere.
func TestDamage(t *testing.T) {
	raw := build(t, random(rand.New(rand.NewPCG(7, 1))))
	for i := range raw {
		for bit := range 8 {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << bit
			_, err := stored.Open(bad)
			if !errors.Is(err, stored.ErrCorrupt) && !(i == 0 && errors.Is(err, stored.ErrVersion)) {
				t.Fatalf("bit %d of byte %d: %v", bit, i, err)
			}
			if err := stored.Verify(bad); err == nil {
				t.Fatalf("verify, bit %d of byte %d: no error", bit, i)
			}
		}
		if _, err := stored.Open(raw[:i]); !errors.Is(err, stored.ErrCorrupt) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	if _, err := stored.Open(append(bytes.Clone(raw), 0)); !errors.Is(err, stored.ErrCorrupt) {
		t.Fatalf("one byte more: %v", err)
	}
}

func TestBuilderRefuses(t *testing.T) {
	null := stored.Payload{Null: true}
	raw := stored.Payload{Schema: -1, HasRaw: true}
	cases := []struct {
		name    string
		header  stored.Header
		records []stored.Record
	}{
		{"schema index", stored.Header{}, []stored.Record{{Key: null, Value: stored.Payload{Schema: 0}}}},
		{"no content", stored.Header{}, []stored.Record{{Key: null, Value: stored.Payload{Schema: -1}}}},
		{"null with raw", stored.Header{}, []stored.Record{{Key: stored.Payload{Null: true, HasRaw: true}, Value: raw}}},
		{"framing", stored.Header{}, []stored.Record{{Key: null, Value: stored.Payload{Schema: -1, HasRaw: true, Framing: 4}}}},
		{"same offset", stored.Header{LastOffsetDelta: 5}, []stored.Record{{Key: null, Value: raw}, {Key: null, Value: raw}}},
		{"offset beyond", stored.Header{LastOffsetDelta: 1}, []stored.Record{{Key: null, Value: raw, OffsetDelta: 2}}},
		{"codec", stored.Header{Codec: 5}, nil},
		{"negative span", stored.Header{LastOffsetDelta: -1}, nil},
		{"negative size", stored.Header{EncodedSize: -1}, nil},
	}
	for _, c := range cases {
		var b stored.Builder
		_, err := buildWith(&b, nil, content{header: c.header, records: c.records})
		if !errors.Is(err, stored.ErrInvalid) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSchemaIndex(t *testing.T) {
	var b stored.Builder
	for range 2 {
		b.Reset()
		for i := range 100 {
			for j := range i + 1 {
				got, err := b.SchemaIndex([32]byte{byte(j), 1})
				if err != nil || got != j {
					t.Fatalf("key %d of %d: %d, %v", j, i, got, err)
				}
			}
		}
	}
	b.Reset()
	for i := range 1 << 16 {
		if _, err := b.SchemaIndex([32]byte{byte(i), byte(i >> 8)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.SchemaIndex([32]byte{0, 0, 1}); !errors.Is(err, stored.ErrInvalid) {
		t.Fatalf("one key too many: %v", err)
	}
}

// TestContentCRC compares with the definition, spelled out.
func TestContentCRC(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 300)
	cases := []struct {
		key, value, headers []byte
		tail                string
	}{
		{nil, nil, nil, "\x01\x01\x00"},
		{[]byte{}, nil, []byte{0}, "\x00\x01\x00"},
		{nil, []byte{}, []byte{0}, "\x01\x00\x00"},
		{[]byte("k"), []byte("vv"), []byte("\x02\x02h\x01"), "\x02k\x04vv\x02\x02h\x01"},
		{nil, long, nil, "\x01\xd8\x04" + string(long) + "\x00"},
	}
	seen := map[uint32]string{}
	sum, all := uint32(0), ""
	for _, c := range cases {
		got := stored.UpdateContent(0, c.key, c.value, c.headers)
		want := crc32.Checksum([]byte(c.tail), crc32.MakeTable(crc32.Castagnoli))
		if got != want || stored.UpdateContentTail(0, []byte(c.tail)) != want {
			t.Errorf("%q: %x, want %x", c.tail, got, want)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q have one CRC", c.tail, other)
		}
		seen[got] = c.tail
		sum = stored.UpdateContent(sum, c.key, c.value, c.headers)
		all += c.tail
	}
	if want := crc32.Checksum([]byte(all), crc32.MakeTable(crc32.Castagnoli)); sum != want {
		t.Errorf("all: %x, want %x", sum, want)
	}
}

func TestMarker(t *testing.T) {
	var b stored.Builder
	for _, want := range []stored.Marker{{Commit: true, CoordinatorEpoch: 7}, {CoordinatorEpoch: math.MaxInt32}} {
		raw, err := b.AppendMarker(nil, 42, 3, 1000, want)
		if err != nil {
			t.Fatal(err)
		}
		batch, err := stored.Open(raw)
		if err != nil {
			t.Fatal(err)
		}
		h := batch.Header
		if !h.Control || !h.Transactional || h.ProducerID != 42 || h.ProducerEpoch != 3 || h.BaseSequence != -1 || h.Count != 1 || h.MaxTimestamp != 1000 {
			t.Errorf("header %+v", h)
		}
		if got, err := batch.Marker(); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	batch, err := stored.Open(build(t, content{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Marker(); !errors.Is(err, stored.ErrCorrupt) {
		t.Errorf("marker of a plain batch: %v", err)
	}
}

// typical returns a batch of records of about size bytes as most producers
// send them.
func typical(count, size int) content {
	c := content{keys: [][32]byte{{1}}}
	for i := range count {
		c.records = append(c.records, stored.Record{
			OffsetDelta: int32(i), TimestampDelta: int64(i / 3),
			Key:     stored.Payload{Null: true, Schema: -1},
			Value:   stored.Payload{Framing: stored.FramingPrefix, ID: 100_001, Schema: 0, Style: 1, Mapping: 1, Packed: bytes.Repeat([]byte{byte(i)}, size)},
			Headers: []byte{0},
		})
	}
	c.header = stored.Header{LastOffsetDelta: int32(count - 1), ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1}
	return c
}

// TestCompact: what a record costs besides its value, and that neither side
// allocates.
func TestCompact(t *testing.T) {
	c := typical(1000, 200)
	raw := build(t, c)
	if over := float64(len(raw)-1000*200) / 1000; over > 4.2 {
		t.Errorf("%.2f bytes beside each value", over)
	}
	var b stored.Builder
	dst := make([]byte, 0, 2*len(raw))
	if n := testing.AllocsPerRun(5, func() { _, _ = buildWith(&b, dst, c) }); n != 0 {
		t.Errorf("building allocates %v times", n)
	}
	if n := testing.AllocsPerRun(5, func() {
		batch, err := stored.Open(raw)
		if err != nil {
			t.Error(err)
		}
		it := batch.Records()
		var r stored.Record
		n := 0
		for it.Next(&r) {
			n++
		}
		if n != 1000 {
			t.Error(n)
		}
	}); n != 0 {
		t.Errorf("reading allocates %v times", n)
	}
}

func BenchmarkBuild(b *testing.B) {
	c := typical(100, 240)
	var builder stored.Builder
	dst := build(b, c)
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := buildWith(&builder, dst[:0], c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/record")
}

func BenchmarkRead(b *testing.B) {
	raw := build(b, typical(100, 240))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	var r stored.Record
	for b.Loop() {
		batch, err := stored.Open(raw)
		if err != nil {
			b.Fatal(err)
		}
		it := batch.Records()
		for it.Next(&r) {
		}
		if it.Err() != nil {
			b.Fatal(it.Err())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/record")
}
