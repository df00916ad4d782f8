package batch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// sample returns a batch of n records with the given codec.
func sample(t testing.TB, n int, codec Codec, change func(*Header)) []byte {
	t.Helper()
	var section []byte
	for i := range n {
		section = AppendRecord(section, &Record{OffsetDelta: int32(i), TimestampDelta: int64(i), Value: fmt.Appendf(nil, "value-%04d", i)})
	}
	h := Header{LeaderEpoch: -1, Attributes: Attributes(codec, false, false, false), LastOffsetDelta: int32(n - 1),
		FirstTimestamp: 1000, MaxTimestamp: 1000 + int64(n) - 1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: int32(n)}
	if change != nil {
		change(&h)
	}
	b, err := new(Codecs).Compress(Begin(nil), section, codec)
	if err != nil {
		t.Fatal(err)
	}
	Finish(b, h)
	return b
}

func TestLayoutIsThatOfTheProtocolDefinitions(t *testing.T) {
	b := sample(t, 3, None, func(h *Header) { h.ProducerID, h.ProducerEpoch, h.BaseSequence = 7, 2, 40 })
	var k kmsg.RecordBatch
	if err := k.ReadFrom(b); err != nil {
		t.Fatal(err)
	}
	h, err := Check(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := kmsg.RecordBatch{FirstOffset: h.BaseOffset, Length: int32(len(b) - 12), PartitionLeaderEpoch: h.LeaderEpoch, Magic: 2,
		CRC: int32(binary.BigEndian.Uint32(b[17:])), Attributes: h.Attributes, LastOffsetDelta: h.LastOffsetDelta, FirstTimestamp: h.FirstTimestamp,
		MaxTimestamp: h.MaxTimestamp, ProducerID: h.ProducerID, ProducerEpoch: h.ProducerEpoch, FirstSequence: h.BaseSequence,
		NumRecords: h.Count, Records: b[HeaderBytes:]}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", k) {
		t.Errorf("\n got %+v\nwant %+v", got, k)
	}
	var rec kmsg.Record
	if err := rec.ReadFrom(b[HeaderBytes:]); err != nil || string(rec.Value) != "value-0000" {
		t.Errorf("first record %+v, %v", rec, err)
	}
}

// TestCheckRefuses goes through the damages of a produced batch and the error
// that Kafka 4.4 answers each with.
func TestCheckRefuses(t *testing.T) {
	raw := func(change func([]byte) []byte) []byte { return change(sample(t, 3, None, nil)) }
	with := func(change func(*Header)) []byte { return sample(t, 3, None, change) }
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"nothing":                {nil, ErrInvalid},
		"few bytes":              {make([]byte, 16), ErrInvalid},
		"no header":              {raw(func(b []byte) []byte { return b[:60] }), ErrInvalid},
		"cut":                    {raw(func(b []byte) []byte { return b[:len(b)-1] }), ErrInvalid},
		"two batches":            {raw(func(b []byte) []byte { return append(b, b...) }), ErrInvalid},
		"magic 0":                {raw(func(b []byte) []byte { b[16] = 0; return b }), ErrInvalid},
		"magic 1":                {raw(func(b []byte) []byte { b[16] = 1; return b }), ErrInvalid},
		"magic 3":                {raw(func(b []byte) []byte { b[16] = 3; return b }), ErrCorrupt},
		"length beyond":          {raw(func(b []byte) []byte { binary.BigEndian.PutUint32(b[8:], 10000); return b }), ErrInvalid},
		"length 20":              {raw(func(b []byte) []byte { binary.BigEndian.PutUint32(b[8:], 20); return b }), ErrCorrupt},
		"length negative":        {raw(func(b []byte) []byte { b[8] = 0xff; return b }), ErrCorrupt},
		"length largest":         {raw(func(b []byte) []byte { binary.BigEndian.PutUint32(b[8:], math.MaxInt32); return b }), ErrInvalid},
		"CRC":                    {raw(func(b []byte) []byte { b[17]++; return b }), ErrCorrupt},
		"flipped byte":           {raw(func(b []byte) []byte { b[70]++; return b }), ErrCorrupt},
		"control":                {with(func(h *Header) { h.Attributes |= control }), ErrInvalid},
		"codec 5":                {with(func(h *Header) { h.Attributes |= 5 }), ErrInvalid},
		"base offset":            {with(func(h *Header) { h.BaseOffset = 1 }), ErrInvalid},
		"count 0":                {with(func(h *Header) { h.Count, h.LastOffsetDelta = 0, -1 }), ErrInvalid},
		"count negative":         {with(func(h *Header) { h.Count, h.LastOffsetDelta = -1, -2 }), ErrInvalid},
		"count against delta":    {with(func(h *Header) { h.LastOffsetDelta = 7 }), ErrInvalid},
		"count of 2 billion":     {with(func(h *Header) { h.Count, h.LastOffsetDelta = math.MaxInt32, math.MaxInt32-1 }), ErrInvalid},
		"transaction without id": {with(func(h *Header) { h.Attributes |= transactional }), ErrInvalid},
		"id without sequence":    {with(func(h *Header) { h.ProducerID, h.ProducerEpoch = 5, 0 }), ErrInvalid},
		"id without epoch":       {with(func(h *Header) { h.ProducerID, h.BaseSequence = 5, 0 }), ErrInvalid},
		"large and damaged":      {raw(func(b []byte) []byte { b[17]++; return append(b, make([]byte, 2000)...) }), ErrTooLarge},
	} {
		_, err := Check(c.b, 1000)
		var typed *Error
		if !errors.Is(err, c.want) || !errors.As(err, &typed) || typed.Reason == "" {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for name, b := range map[string][]byte{"plain": with(nil), "unknown attribute bit": with(func(h *Header) { h.Attributes |= 1 << 9 }),
		"epoch and timestamps of any kind": with(func(h *Header) { h.LeaderEpoch, h.FirstTimestamp, h.MaxTimestamp = 99, -1, 5 })} {
		if _, err := Check(b, len(b)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecordsRefuse(t *testing.T) {
	good := AppendRecord(nil, &Record{Value: []byte("v")})
	second := AppendRecord(nil, &Record{OffsetDelta: 1, Value: []byte("w")})
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	body := func(b ...byte) []byte { return append([]byte{byte(len(b) << 1)}, b...) }
	for name, c := range map[string]struct {
		section []byte
		count   int32
		record  int32
	}{
		"too many counted":       {join(good, second), 3, -1},
		"too few counted":        {join(good, second), 1, -1},
		"negative count":         {good, -1, -1},
		"length beyond":          {append([]byte{0x7e}, good[1:]...), 1, 0},
		"length negative":        {append([]byte{1}, good[1:]...), 1, 0},
		"gap":                    {join(good, AppendRecord(nil, &Record{OffsetDelta: 5, Value: []byte("w")})), 2, 1},
		"delta twice":            {join(good, good), 2, 1},
		"empty record":           {join([]byte{0}, make([]byte, 8)), 1, 0},
		"key beyond":             {body(0, 0, 0, 40, 1, 0, 0), 1, 0},
		"key length -2":          {body(0, 0, 0, 3, 1, 0, 0), 1, 0},
		"value beyond":           {body(0, 0, 0, 1, 40, 0, 0), 1, 0},
		"no header count":        {body(0, 0, 0, 1, 6, 1, 2, 3), 1, 0},
		"header count negative":  {body(0, 0, 0, 1, 1, 1, 0), 1, 0},
		"header count too large": {body(0, 0, 0, 1, 1, 0x80, 0x80, 1), 1, 0},
		"null header key":        {body(0, 0, 0, 1, 1, 2, 1, 1), 1, 0},
		"bytes after headers":    {body(0, 0, 0, 1, 1, 0, 0, 0), 1, 0},
		"header value beyond":    {body(0, 0, 0, 1, 1, 2, 0, 40), 1, 0},
		"endless varint":         {body(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), 1, 0},
	} {
		var it Records
		it.Reset(c.section, c.count)
		var rec Record
		for it.Next(&rec) {
		}
		var typed *Error
		if err := it.Err(); !errors.Is(err, ErrInvalid) || !errors.As(err, &typed) || typed.Record != c.record {
			t.Errorf("%s: %v, want record %d", name, err, c.record)
		}
	}
}

func TestNullEmptyAndDuplicateHeaders(t *testing.T) {
	headers := []RecordHeader{{[]byte("trace"), nil}, {[]byte("empty"), []byte{}}, {[]byte("dup"), []byte("1")}, {[]byte("dup"), []byte("2")}, {[]byte{}, []byte("x")}}
	in := []Record{{}, {Key: []byte{}, Value: []byte{}}, {Key: []byte("k"), Headers: AppendHeaders(nil, headers...)}}
	var section []byte
	for i := range in {
		in[i].OffsetDelta, in[i].TimestampDelta, in[i].Attributes = int32(i), -int64(i)<<40, int8(-i)
		if n := len(section); len(AppendRecord(section, &in[i]))-n != RecordBytes(&in[i]) {
			t.Errorf("record %d: RecordBytes is wrong", i)
		}
		section = AppendRecord(section, &in[i])
	}
	in[0].Headers, in[1].Headers = []byte{0}, []byte{0}
	var it Records
	it.Reset(section, int32(len(in)))
	var rec Record
	for i := 0; it.Next(&rec); i++ {
		if fmt.Sprintf("%#v", rec) != fmt.Sprintf("%#v", in[i]) {
			t.Errorf("record %d\n got %#v\nwant %#v", i, rec, in[i])
		}
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	var hs Headers
	hs.Reset(rec.Headers)
	var h RecordHeader
	for i := 0; hs.Next(&h); i++ {
		if fmt.Sprintf("%#v", h) != fmt.Sprintf("%#v", headers[i]) {
			t.Errorf("header %d: %#v", i, h)
		}
	}
}

func TestStamp(t *testing.T) {
	b := sample(t, 3, Gzip, func(h *Header) { h.MaxTimestamp, h.Attributes = 9999, h.Attributes|logAppendTime })
	Stamp{BaseOffset: 1 << 40, LeaderEpoch: 3, MaxTimestamp: 1002}.Apply(b)
	h, err := Parse(b)
	if err != nil || h.BaseOffset != 1<<40 || h.LeaderEpoch != 3 || h.LogAppendTime() || h.MaxTimestamp != 1002 || h.FirstTimestamp != 1000 || h.Codec() != Gzip {
		t.Errorf("create time: %+v, %v", h, err)
	}
	Stamp{BaseOffset: 5, LogAppendTime: true, AppendTime: 77}.Apply(b)
	h, err = Parse(b)
	if err != nil || !h.LogAppendTime() || h.MaxTimestamp != 77 || h.FirstTimestamp != 77 {
		t.Errorf("append time: %+v, %v", h, err)
	}
}

func TestIterationAllocatesNothing(t *testing.T) {
	b := sample(t, 100, None, nil)
	var rec Record
	if n := testing.AllocsPerRun(20, func() {
		h, err := Check(b, 0)
		if err != nil {
			t.Fatal(err)
		}
		var it Records
		it.Reset(b[HeaderBytes:], h.Count)
		for it.Next(&rec) {
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRoundTrip(t *testing.T) {
	codecs := new(Codecs)
	optional := rapid.Custom(func(t *rapid.T) []byte {
		if rapid.Bool().Draw(t, "null") {
			return nil
		}
		return rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
	})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "records")
		codec := Codec(rapid.IntRange(0, 4).Draw(t, "codec"))
		var section []byte
		var want []Record
		for i := range n {
			var hs []RecordHeader
			for range rapid.IntRange(0, 3).Draw(t, "headers") {
				hs = append(hs, RecordHeader{[]byte(rapid.String().Draw(t, "key")), optional.Draw(t, "value")})
			}
			r := Record{OffsetDelta: int32(i), TimestampDelta: rapid.Int64().Draw(t, "ts"), Attributes: rapid.Int8().Draw(t, "attributes"),
				Key: optional.Draw(t, "key"), Value: optional.Draw(t, "value"), Headers: AppendHeaders(nil, hs...)}
			section, want = AppendRecord(section, &r), append(want, r)
		}
		b, err := codecs.Compress(Begin(nil), section, codec)
		if err != nil {
			t.Fatal(err)
		}
		Finish(b, Header{Attributes: Attributes(codec, false, false, false), Count: int32(n), LastOffsetDelta: int32(n) - 1, ProducerID: -1})
		h, err := Check(b, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := codecs.Decompress(nil, b[HeaderBytes:], h.Codec(), len(section))
		if err != nil {
			t.Fatal(err)
		}
		var it Records
		it.Reset(got, h.Count)
		var rec Record
		for i := 0; it.Next(&rec); i++ {
			if fmt.Sprintf("%#v", rec) != fmt.Sprintf("%#v", want[i]) {
				t.Fatalf("record %d: %#v, want %#v", i, rec, want[i])
			}
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
	})
}
