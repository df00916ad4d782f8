package record_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"milena/serde/record"
	"milena/serde/record/recordpb"
)

type v = recordpb.Value

// scalars are packed values beside what protobuf makes of them.
var scalars = []struct {
	name   string
	packed []byte
	value  *v
}{
	{"false", record.AppendBool(nil, false), &v{Kind: &recordpb.Value_BoolValue{}}},
	{"true", record.AppendBool(nil, true), &v{Kind: &recordpb.Value_BoolValue{BoolValue: true}}},
	{"int32 0", record.AppendInt32(nil, 0), &v{Kind: &recordpb.Value_Int32Value{}}},
	{"int32 least", record.AppendInt32(nil, math.MinInt32), &v{Kind: &recordpb.Value_Int32Value{Int32Value: math.MinInt32}}},
	{"int64 300", record.AppendInt64(nil, 300), &v{Kind: &recordpb.Value_Int64Value{Int64Value: 300}}},
	{"int64 -1", record.AppendInt64(nil, -1), &v{Kind: &recordpb.Value_Int64Value{Int64Value: -1}}},
	{"float", record.AppendFloat(nil, 1.5), &v{Kind: &recordpb.Value_FloatValue{FloatValue: 1.5}}},
	{"double", record.AppendDouble(nil, -0.1), &v{Kind: &recordpb.Value_DoubleValue{DoubleValue: -0.1}}},
	{"bytes", record.AppendBytes(nil, []byte{0, 255}), &v{Kind: &recordpb.Value_BytesValue{BytesValue: []byte{0, 255}}}},
	{"no bytes", record.AppendBytes(nil, nil), &v{Kind: &recordpb.Value_BytesValue{}}},
	{"string", record.AppendString(nil, "wörld"), &v{Kind: &recordpb.Value_StringValue{StringValue: "wörld"}}},
	{"timestamp", record.AppendTimestamp(nil, 1_750_000_000_000_001, true),
		&v{Kind: &recordpb.Value_TimestampValue{TimestampValue: &recordpb.TimestampValue{TimestampMicros: 1_750_000_000_000_001, IsUtc: true}}}},
	{"timestamp 0", record.AppendTimestamp(nil, 0, false),
		&v{Kind: &recordpb.Value_TimestampValue{TimestampValue: &recordpb.TimestampValue{}}}},
	{"date", record.AppendDate(nil, -1), &v{Kind: &recordpb.Value_DateValue{DateValue: &recordpb.DateValue{DaysSinceEpoch: -1}}}},
	{"time", record.AppendTime(nil, 86_399_999_999), &v{Kind: &recordpb.Value_TimeValue{TimeValue: &recordpb.TimeValue{TimeMicros: 86_399_999_999}}}},
	{"time 0", record.AppendTime(nil, 0), &v{Kind: &recordpb.Value_TimeValue{TimeValue: &recordpb.TimeValue{}}}},
	{"decimal", record.AppendDecimal(nil, record.Decimal{Unscaled: []byte{0x30, 0x39}, Precision: 9, Scale: 2}),
		&v{Kind: &recordpb.Value_DecimalValue{DecimalValue: &recordpb.DecimalValue{Value: []byte{0x30, 0x39}, Precision: 9, Scale: 2}}}},
	{"decimal of negative scale", record.AppendDecimal(nil, record.Decimal{Scale: -3}),
		&v{Kind: &recordpb.Value_DecimalValue{DecimalValue: &recordpb.DecimalValue{Scale: -3}}}},
	{"long decimal", record.AppendDecimal(nil, record.Decimal{Unscaled: make([]byte, 300)}),
		&v{Kind: &recordpb.Value_DecimalValue{DecimalValue: &recordpb.DecimalValue{Value: make([]byte, 300)}}}},
}

// TestScalarsAreProtobuf: a packed scalar is the wire form of its Value.
func TestScalarsAreProtobuf(t *testing.T) {
	for _, c := range scalars {
		want, err := proto.Marshal(c.value)
		if err != nil || !bytes.Equal(c.packed, want) {
			t.Errorf("%s: packed %x, protobuf %x, %v", c.name, c.packed, want, err)
		}
	}
}

// TestReader: what was appended is read back, one value after another.
func TestReader(t *testing.T) {
	var b []byte
	for _, c := range scalars {
		b = append(b, c.packed...)
	}
	b = record.AppendNull(b)
	b, at := record.BeginList(b)
	for range 100 {
		b = record.AppendInt32(b, 7)
	}
	b = record.EndList(b, at)
	r := record.NewReader(b)
	var it record.Item
	for _, c := range scalars {
		if err := r.Next(&it); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !proto.Equal(valueOf(t, &it), c.value) {
			t.Errorf("%s: read %v", c.name, valueOf(t, &it))
		}
	}
	if err := r.Next(&it); err != nil || it.Tag != record.TagNull {
		t.Errorf("null: tag %x, %v", it.Tag, err)
	}
	if err := r.Next(&it); err != nil || it.Tag != record.TagList || len(it.Content) != 200 {
		t.Errorf("list: tag %x, %d bytes, %v", it.Tag, len(it.Content), err)
	}
	if err := r.Next(&it); err != io.EOF || r.Offset() != len(b) {
		t.Errorf("end: %v at %d", err, r.Offset())
	}
}

// valueOf turns a scalar into its Value.
func valueOf(t testing.TB, it *record.Item) *v {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Errorf("tag %x, content %x: %v", it.Tag, it.Content, err)
		}
	}
	switch it.Tag {
	case record.TagBool:
		return &v{Kind: &recordpb.Value_BoolValue{BoolValue: it.Bits != 0}}
	case record.TagInt32:
		return &v{Kind: &recordpb.Value_Int32Value{Int32Value: int32(it.Bits)}}
	case record.TagInt64:
		return &v{Kind: &recordpb.Value_Int64Value{Int64Value: int64(it.Bits)}}
	case record.TagFloat:
		return &v{Kind: &recordpb.Value_FloatValue{FloatValue: math.Float32frombits(uint32(it.Bits))}}
	case record.TagDouble:
		return &v{Kind: &recordpb.Value_DoubleValue{DoubleValue: math.Float64frombits(it.Bits)}}
	case record.TagBytes:
		return &v{Kind: &recordpb.Value_BytesValue{BytesValue: it.Content}}
	case record.TagString:
		return &v{Kind: &recordpb.Value_StringValue{StringValue: string(it.Content)}}
	case record.TagTimestamp:
		micros, utc, err := it.Timestamp()
		check(err)
		return &v{Kind: &recordpb.Value_TimestampValue{TimestampValue: &recordpb.TimestampValue{TimestampMicros: micros, IsUtc: utc}}}
	case record.TagDate:
		days, err := it.Date()
		check(err)
		return &v{Kind: &recordpb.Value_DateValue{DateValue: &recordpb.DateValue{DaysSinceEpoch: days}}}
	case record.TagTime:
		micros, err := it.Time()
		check(err)
		return &v{Kind: &recordpb.Value_TimeValue{TimeValue: &recordpb.TimeValue{TimeMicros: micros}}}
	case record.TagDecimal:
		d, err := it.Decimal()
		check(err)
		return &v{Kind: &recordpb.Value_DecimalValue{DecimalValue: &recordpb.DecimalValue{
			Value: d.Unscaled, Precision: d.Precision, Scale: d.Scale}}}
	}
	return &v{}
}

// TestReaderRefuses: malformed values are ErrPacked.
func TestReaderRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"record tag":            "7a00",
		"unknown tag":           "ff",
		"int without varint":    "10",
		"int cut off":           "1080",
		"varint over 64 bits":   "10ffffffffffffffffff02",
		"float cut off":         "25000000",
		"double cut off":        "2900000000000000",
		"string without length": "3a",
		"string cut off":        "3a0261",
		"length over 64 bits":   "3affffffffffffffffff02",
		"huge length":           "3affffffffffffffff7f",
	} {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		r := record.NewReader(b)
		var it record.Item
		if err := r.Next(&it); !errors.Is(err, record.ErrPacked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, it := range map[string]record.Item{
		"another tag":             {Tag: record.TagString},
		"field twice":             {Tag: record.TagDecimal, Content: []byte{0x10, 1, 0x10, 1}},
		"unknown field":           {Tag: record.TagDecimal, Content: []byte{0x20, 1}},
		"field without value":     {Tag: record.TagDecimal, Content: []byte{0x10}},
		"value longer than bytes": {Tag: record.TagDecimal, Content: []byte{0x0a, 2, 1}},
	} {
		if _, err := it.Decimal(); !errors.Is(err, record.ErrPacked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDataError(t *testing.T) {
	for want, e := range map[string]record.DataError{
		"a.b[2]: ends too early at byte 7":             {Offset: 7, Path: "a.b[2]", Reason: record.ReasonTruncated},
		"bytes after the end of the value at byte 300": {Offset: 300, Reason: record.ReasonTrailing},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestKindNames(t *testing.T) {
	seen := map[string]bool{}
	for k := record.KindNull; k <= record.KindUnion; k++ {
		if s := k.String(); s == "" || s == "unknown" || seen[s] {
			t.Errorf("kind %d: %q", k, s)
		} else {
			seen[s] = true
		}
	}
	if s := record.Kind(200).String(); s != "unknown" {
		t.Error(s)
	}
}

func TestNoAllocation(t *testing.T) {
	b := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		b = b[:0]
		for i := range scalars {
			b = append(b, scalars[i].packed...)
		}
		var at int
		b, at = record.BeginList(b)
		b = record.AppendTimestamp(record.AppendInt64(b, 5), 1, true)
		b = record.EndList(record.AppendDecimal(b, record.Decimal{Unscaled: b[:3]}), at)
		r := record.NewReader(b)
		var it record.Item
		for r.Next(&it) == nil {
			_, _ = it.Decimal()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzReader: no bytes make a Reader panic or run past its end, and each value
// lies within the bytes.
func FuzzReader(f *testing.F) {
	for _, c := range scalars {
		f.Add(c.packed)
	}
	f.Add([]byte{0, 0x72, 2, 0x10, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := record.NewReader(b)
		var it record.Item
		for {
			before := r.Offset()
			err := r.Next(&it)
			if err != nil {
				if errors.Is(err, io.EOF) != (before == len(b)) || r.Offset() != before {
					t.Fatalf("%v at %d of %d", err, before, len(b))
				}
				return
			}
			if r.Offset() <= before || r.Offset() > len(b) || len(it.Content) > r.Offset()-before {
				t.Fatalf("from %d to %d of %d, %d bytes", before, r.Offset(), len(b), len(it.Content))
			}
			_, _, _ = it.Timestamp()
			_, _ = it.Date()
			_, _ = it.Time()
			_, _ = it.Decimal()
		}
	})
}
