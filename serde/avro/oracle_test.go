package avro

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/linkedin/goavro/v2"
	tavro "github.com/twmb/avro"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"milena/serde/record"
	"milena/serde/record/recordpb"
)

// TestOracleGoavro: goavro reads the same values from random payloads as a
// program does. Schemas have no logical types, which goavro treats in its own
// way, and no types that it refuses.
func TestOracleGoavro(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawProgram(t, false)
		if s.Root().Kind == KindBytes {
			t.Skip("bare")
		}
		codec, err := goavro.NewCodec(s.Canonical())
		if err != nil {
			t.Skip(err)
		}
		g := payloadGen{t: t, items: 200, plain: true, style: record.Style(rapid.IntRange(0, 2).Draw(t, "style"))}
		payload := g.value(nil, s.Root(), 0)
		packed, _, err := checkPayload(t, p, payload)
		if err != nil {
			t.Fatal(err)
		}
		native, rest, err := codec.NativeFromBinary(payload)
		if err != nil && bytes.Contains([]byte(err.Error()), []byte("duplicate key")) {
			t.Skip("goavro refuses maps with a repeated key")
		}
		if err != nil || len(rest) != 0 {
			t.Fatalf("schema %s payload %x: goavro: %v, %d bytes left", s.Canonical(), payload, err, len(rest))
		}
		want := &recordpb.RecordValue{}
		if v := oracleValue(s.Root(), native); s.Root().Kind == KindRecord {
			want = v.GetRecordValue()
		} else {
			want.Fields = map[string]*recordpb.Value{record.BareField: v}
		}
		var got recordpb.RecordValue
		mapForm, err := p.AppendRecordValue(nil, packed)
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(mapForm, &got); err != nil || !proto.Equal(&got, want) {
			t.Fatalf("schema %s payload %x: got %v, goavro has %v, %v", s.Canonical(), payload, &got, want, err)
		}
		compared++
	})
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

// oracleValue turns what goavro has decoded into the form that the package
// comment of serde/record gives.
func oracleValue(t *Type, v any) *recordpb.Value {
	switch t.Kind {
	case KindRecord:
		rv := &recordpb.RecordValue{Fields: map[string]*recordpb.Value{}}
		for i := range t.Fields {
			rv.Fields[t.Fields[i].Name] = oracleValue(t.Fields[i].Type, v.(map[string]any)[t.Fields[i].Name])
		}
		return &recordpb.Value{Kind: &recordpb.Value_RecordValue{RecordValue: rv}}
	case KindArray:
		l := &recordpb.ListValue{}
		for _, e := range v.([]any) {
			l.Values = append(l.Values, oracleValue(t.Items, e))
		}
		return &recordpb.Value{Kind: &recordpb.Value_ListValue{ListValue: l}}
	case KindMap:
		rv := &recordpb.RecordValue{Fields: map[string]*recordpb.Value{}}
		for k, e := range v.(map[string]any) {
			rv.Fields[k] = oracleValue(t.Items, e)
		}
		return &recordpb.Value{Kind: &recordpb.Value_RecordValue{RecordValue: rv}}
	case KindUnion:
		return oracleUnion(t, v)
	default:
		return valueOf(v)
	}
}

func oracleUnion(t *Type, v any) *recordpb.Value {
	others := 0
	for _, b := range t.Branches {
		if b.Kind != KindNull {
			others++
		}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return &recordpb.Value{}
	}
	for _, b := range t.Branches {
		if e, ok := m[b.FullName()]; ok {
			some := oracleValue(b, e)
			if others == 1 {
				return some
			}
			return &recordpb.Value{Kind: &recordpb.Value_RecordValue{RecordValue: &recordpb.RecordValue{
				Fields: map[string]*recordpb.Value{b.FullName(): some}}}}
		}
	}
	return &recordpb.Value{Kind: &recordpb.Value_StringValue{StringValue: fmt.Sprintf("no branch for %v", m)}}
}

// TestOracleTwmb: what a program accepts, twmb/avro accepts too, and whole, also
// after a mutation; and for some (maps have no order there) twmb/avro writes
// what is seen as the canonical style. Without logical types, whose values
// twmb/avro looks into.
func TestOracleTwmb(t *testing.T) {
	compared, encoded := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawProgram(t, false)
		if s.Root().Kind == KindBytes {
			t.Skip("bare")
		}
		oracle, err := tavro.Parse(s.Canonical())
		if err != nil {
			t.Skip(err)
		}
		g := payloadGen{t: t, items: 50, plain: true, style: record.StyleCanonical}
		payload := g.value(nil, s.Root(), 0)
		if len(payload) > 0 && rapid.Bool().Draw(t, "mutate") {
			payload[rapid.IntRange(0, len(payload)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		packed, style, err := checkPayload(t, p, payload)
		if err != nil {
			return
		}
		var v any
		rest, err := oracle.Decode(payload, &v)
		if err != nil || len(rest) != 0 {
			t.Fatalf("schema %s payload %x: packed %x; twmb: %v, %d bytes left", s.Canonical(), payload, packed, err, len(rest))
		}
		compared++
		if style != record.StyleCanonical {
			return
		}
		if back, err := oracle.Encode(v); err == nil && bytes.Equal(back, payload) {
			encoded++
		}
	})
	if compared == 0 || encoded == 0 {
		t.Errorf("%d compared, %d encoded the same", compared, encoded)
	}
}
