package envelope

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"milena/broker/stored"
	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/serde/schema"
	"milena/serde/wire"
)

// drawPayload draws a key or value of any kind, and the header that goes with it.
func drawPayload(t *rapid.T, header string) (payload []byte, hs []batch.RecordHeader) {
	tags := rapid.SliceOfN(rapid.StringN(0, 5, 20), 0, 4).Draw(t, "tags")
	datum := order(rapid.Int64().Draw(t, "id"), rapid.String().Draw(t, "name"), tags, blocks(rapid.IntRange(0, 2).Draw(t, "blocks")))
	other := event(rapid.Int64().Draw(t, "at"), rapid.String().Draw(t, "kind"))
	switch rapid.IntRange(0, 13).Draw(t, "kind of payload") {
	case 0:
		return nil, nil
	case 1:
		return []byte{}, nil
	case 2:
		return rapid.SliceOf(rapid.Byte()).Draw(t, "plain"), nil
	case 3: // a big-endian number: begins with zeros by chance
		return binary.BigEndian.AppendUint64(nil, rapid.Uint64Range(0, 1<<36).Draw(t, "number")), nil
	case 4:
		return framed(rapid.Int32Range(1, 12).Draw(t, "any id"), rapid.SliceOf(rapid.Byte()).Draw(t, "anything")), nil
	case 5:
		return datum, []batch.RecordHeader{idHeader(header, 7)}
	case 6:
		return datum, []batch.RecordHeader{idHeader(header, 8), guidHeader(header, orderGUID)}
	case 7:
		return other, []batch.RecordHeader{{Key: []byte(header), Value: rapid.SliceOf(rapid.Byte()).Draw(t, "header")}}
	case 8:
		b := framed(7, datum)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "place")]++
		return b, nil
	case 9:
		return framed(8, other), nil
	case 10:
		return framed(11, rapid.SliceOf(rapid.Byte()).Draw(t, "bare bytes")), nil
	}
	return framed(7, datum), nil
}

func drawBatch(t *rapid.T, tb testing.TB) []byte {
	var records []batch.Record
	for range rapid.IntRange(1, 12).Draw(t, "records") {
		var r batch.Record
		var hs, more []batch.RecordHeader
		r.Key, hs = drawPayload(t, wire.KeyHeader)
		r.Value, more = drawPayload(t, wire.ValueHeader)
		hs = append(hs, more...)
		for range rapid.IntRange(0, 2).Draw(t, "headers") {
			h := batch.RecordHeader{Key: []byte(rapid.String().Draw(t, "header key"))}
			if rapid.Bool().Draw(t, "has value") {
				h.Value = rapid.SliceOf(rapid.Byte()).Draw(t, "header value")
			}
			hs = append(hs, h)
		}
		r.Headers = batch.AppendHeaders(nil, hs...)
		r.TimestampDelta = rapid.Int64Range(-1<<40, 1<<40).Draw(t, "timestamp")
		r.Attributes = rapid.Int8().Draw(t, "attributes")
		records = append(records, r)
	}
	return build(tb, batch.Codec(rapid.IntRange(0, 4).Draw(t, "codec")), func(h *batch.Header) {
		if rapid.Bool().Draw(t, "idempotent") {
			h.ProducerID, h.ProducerEpoch, h.BaseSequence = 77, 3, rapid.Int32Range(0, 1<<31-1).Draw(t, "sequence")
		}
	}, records...)
}

// TestWhatIsProducedComesBack: produce, store, restart without a registry,
// rebuild; every record is the same, byte for byte, and the header but for the
// codec.
func TestWhatIsProducedComesBack(t *testing.T) {
	forms := map[Form]int{}
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t, nil)
		b := drawBatch(rt, t)
		s := r.mustStore(b, Policy{})
		for f, n := range r.forms {
			forms[f] += n
		}
		r.start(nil) // no program is compiled, no id is known
		r.registry.fail(errors.New("the registry must not be asked"))
		asked := r.registry.count()
		got := r.rebuild(s, 1000)
		if r.registry.count() != asked {
			rt.Fatal("asked the registry")
		}
		if !bytes.Equal(section(t, got), section(t, b)) {
			rt.Fatalf("records differ\n got %x\nwant %x", section(t, got), section(t, b))
		}
		h, err := batch.Parse(got)
		if err != nil {
			rt.Fatal(err)
		}
		want, err := batch.Parse(b)
		if err != nil {
			rt.Fatal(err)
		}
		codec := batch.None
		if want.Codec() != batch.None {
			codec = batch.LZ4
		}
		want.BaseOffset, want.LeaderEpoch, want.Attributes = 1000, 4, batch.Attributes(codec, false, false, false)
		want.MaxTimestamp = s.MaxTimestamp
		if h != want {
			rt.Fatalf("header %+v, want %+v", h, want)
		}
		sb := backend.StoredBatch{Bytes: s.Batch}
		if n := Size(sb); n != batch.HeaderBytes+len(section(t, got)) {
			rt.Fatalf("size %d, want %d", n, batch.HeaderBytes+len(section(t, got)))
		}
	})
	for _, f := range []Form{Rebuilt, WithOriginal, Raw} {
		if forms[f] == 0 {
			t.Errorf("no record was stored as %v, so nothing was shown about it", f)
		}
	}
}

func TestTimestampsOfTheHeader(t *testing.T) {
	r := newRig(t, nil)
	records := func() []batch.Record {
		return []batch.Record{{TimestampDelta: 5}, {TimestampDelta: 900}, {TimestampDelta: -7}}
	}
	b := build(t, batch.None, func(h *batch.Header) {
		h.MaxTimestamp += 5000                                          // a lie
		h.Attributes = batch.Attributes(batch.None, true, false, false) // the log's to say
	}, records()...)
	h, err := batch.Parse(r.rebuild(r.mustStore(b, Policy{}), 0))
	if err != nil || h.LogAppendTime() || h.MaxTimestamp != h.FirstTimestamp+900 {
		t.Errorf("create time: %+v, %v", h, err)
	}
	h, err = batch.Parse(r.rebuild(r.mustStore(b, Policy{LogAppendTime: true}), 0))
	if err != nil || !h.LogAppendTime() || h.MaxTimestamp != 1234 || h.FirstTimestamp != 1234 {
		t.Errorf("append time: %+v, %v", h, err)
	}
	before1970 := build(t, batch.None, func(h *batch.Header) { h.FirstTimestamp = -1000 }, records()...)
	if s := r.mustStore(before1970, Policy{}); s.MaxTimestamp != -100 {
		t.Errorf("max timestamp %d", s.MaxTimestamp)
	}
}

func TestMarkersAndHolesAreRebuilt(t *testing.T) {
	r := newRig(t, nil)
	var b stored.Builder
	raw, err := b.AppendMarker(nil, 9, 2, 777, stored.Marker{Commit: true, CoordinatorEpoch: 3})
	if err != nil {
		t.Fatal(err)
	}
	h, err := batch.Parse(r.rebuild(Stored{Batch: raw}, 50))
	if err != nil || !h.Control() || !h.Transactional() || h.ProducerID != 9 || h.ProducerEpoch != 2 || h.Count != 1 || h.BaseOffset != 50 {
		t.Errorf("marker %+v, %v", h, err)
	}
	b.Reset()
	b.Header = stored.Header{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, LastOffsetDelta: 9}
	for _, delta := range []int32{2, 7} {
		p := stored.Payload{Schema: -1, Raw: []byte("v"), HasRaw: true}
		if err := b.Add(&stored.Record{OffsetDelta: delta, Key: stored.Payload{Null: true, Schema: -1}, Value: p}); err != nil {
			t.Fatal(err)
		}
		b.Header.ContentCRC = stored.UpdateContent(b.Header.ContentCRC, nil, []byte("v"), nil)
	}
	if raw, err = b.Append(nil); err != nil {
		t.Fatal(err)
	}
	got := r.rebuild(Stored{Batch: raw}, 50)
	h, err = batch.Parse(got)
	if err != nil || h.Count != 2 || h.LastOffsetDelta != 9 {
		t.Fatalf("holes: %+v, %v", h, err)
	}
	var want []byte
	for _, delta := range []int32{2, 7} {
		want = batch.AppendRecord(want, &batch.Record{OffsetDelta: delta, Value: []byte("v")})
	}
	if !bytes.Equal(section(t, got), want) {
		t.Errorf("holes: records %x, want %x", section(t, got), want)
	}
}

// TestWrongContentIsNeverServed: whatever is wrong with what is stored, the
// answer is a storage error, and it is counted.
func TestWrongContentIsNeverServed(t *testing.T) {
	r := newRig(t, nil)
	s := r.mustStore(build(t, batch.None, nil, values(framed(7, order(1, "x", nil, oneBlock)), []byte("plain"))...), Policy{})
	b, err := stored.Open(s.Batch)
	if err != nil {
		t.Fatal(err)
	}
	var builder stored.Builder
	alter := func(change func(*stored.Record), header func(*stored.Header)) []byte {
		builder.Reset()
		builder.Header = b.Header
		if header != nil {
			header(&builder.Header)
		}
		for i := range b.SchemaCount() {
			if _, err := builder.SchemaIndex(b.SchemaKey(i)); err != nil {
				t.Fatal(err)
			}
		}
		it := b.Records()
		var rec stored.Record
		for it.Next(&rec) {
			if change != nil {
				change(&rec)
			}
			if err := builder.Add(&rec); err != nil {
				t.Fatal(err)
			}
		}
		out, err := builder.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	flipped := bytes.Clone(s.Batch)
	flipped[len(flipped)-10]++
	for name, raw := range map[string][]byte{
		"content CRC":     alter(nil, func(h *stored.Header) { h.ContentCRC++ }),
		"id":              alter(func(r *stored.Record) { r.Value.ID++ }, nil),
		"raw value":       alter(func(r *stored.Record) { r.Value.Raw = append([]byte(nil), "plein"...) }, nil),
		"header":          alter(func(r *stored.Record) { r.Headers = batch.AppendHeaders(nil, batch.RecordHeader{Key: []byte("x")}) }, nil),
		"null for empty":  alter(func(r *stored.Record) { r.Key = stored.Payload{Schema: -1, HasRaw: true, Raw: []byte{}} }, nil),
		"packed value":    alter(func(r *stored.Record) { r.Value.Packed = append(bytes.Clone(r.Value.Packed), 0) }, nil),
		"mapping version": alter(func(r *stored.Record) { r.Value.Mapping = 99 }, nil),
		"style":           alter(func(r *stored.Record) { r.Value.Style = 99 }, nil),
		"flipped byte":    flipped,
		"cut":             s.Batch[:len(s.Batch)-1],
		"nothing":         nil,
	} {
		r.reset()
		dst := []byte("before")
		out, err := r.engine.Rebuild(context.Background(), dst, backend.StoredBatch{Bytes: raw}, Served{})
		if !errors.Is(err, backend.ErrCorrupt) || string(out) != "before" || r.mismatches != 1 {
			t.Errorf("%s: %d bytes, %v, %d mismatches", name, len(out), err, r.mismatches)
		}
	}
	// Programs that are gone, and a broker that hasn't got the schema or can't
	// be asked.
	r.start(nil)
	r.schemas = map[backend.Key]backend.Schema{}
	sb := backend.StoredBatch{Bytes: s.Batch}
	if _, err := r.engine.Rebuild(context.Background(), nil, sb, Served{}); !errors.Is(err, backend.ErrCorrupt) {
		t.Errorf("schema missing: %v", err)
	}
	wrong := schema.Resolved{Type: schema.Avro, Text: eventText}
	r.schemas[backend.Key(b.SchemaKey(0))] = backend.Schema{Encoded: wrong.AppendBinary(nil)}
	if _, err := r.engine.Rebuild(context.Background(), nil, sb, Served{}); !errors.Is(err, backend.ErrCorrupt) {
		t.Errorf("schema of another key: %v", err)
	}
	r.start(func(o *Options) { o.Schemas = unavailable{} })
	if _, err := r.engine.Rebuild(context.Background(), nil, sb, Served{}); !errors.Is(err, backend.ErrUnavailable) || errors.Is(err, backend.ErrCorrupt) || r.mismatches != 0 {
		t.Errorf("broker out of reach: %v, %d mismatches", err, r.mismatches)
	}
}

type unavailable struct{}

func (unavailable) Schema(context.Context, backend.Key) (backend.Schema, error) {
	return backend.Schema{}, backend.ErrUnavailable
}

func TestRebuildAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's pools allocate")
	}
	r := newRig(t, nil)
	for _, codec := range []batch.Codec{batch.None, batch.LZ4} {
		s := r.mustStore(hundred(t, codec), Policy{})
		sb := backend.StoredBatch{Bytes: s.Batch}
		dst := make([]byte, 0, 64<<10)
		if n := testing.AllocsPerRun(20, func() {
			if _, err := r.engine.Rebuild(context.Background(), dst, sb, Served{}); err != nil {
				t.Fatal(err)
			}
		}); n > 1 {
			t.Errorf("%v: %v allocations a batch", codec, n)
		}
	}
}

// hundred is a batch of 100 enveloped records with keys.
func hundred(t testing.TB, codec batch.Codec) []byte {
	var records []batch.Record
	for i := range 100 {
		records = append(records, batch.Record{Key: []byte("customer-1"), TimestampDelta: int64(i),
			Value: framed(7, order(int64(i)<<20, "a name of ordinary length, as orders have them", []string{"tag", "another tag", "a third"}, oneBlock))})
	}
	return build(t, codec, nil, records...)
}

func BenchmarkStore100(b *testing.B) {
	r := newRig(b, nil)
	p := hundred(b, batch.None)
	s := r.mustStore(p, Policy{})
	r.engine.Acknowledge(s.Schemas)
	h, err := batch.Check(p, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.engine.Store(context.Background(), Produced{Topic: topicID, Header: h, Batch: p}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRebuild100(b *testing.B) {
	for _, codec := range []batch.Codec{batch.None, batch.LZ4} {
		b.Run(codec.String(), func(b *testing.B) {
			r := newRig(b, nil)
			p := hundred(b, codec)
			s := r.mustStore(p, Policy{})
			var dst []byte
			b.SetBytes(int64(batch.HeaderBytes + len(section(b, p))))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = r.engine.Rebuild(context.Background(), dst[:0], backend.StoredBatch{Bytes: s.Batch}, Served{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
