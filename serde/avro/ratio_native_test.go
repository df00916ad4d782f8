package avro

import (
	"math/big"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"milena/serde/record/recordpb"
)

// nativeOf turns RecordValue objects into what goavro encodes.
func nativeOf(v *recordpb.Value) any {
	switch k := v.Kind.(type) {
	case *recordpb.Value_BoolValue:
		return k.BoolValue
	case *recordpb.Value_Int32Value:
		return k.Int32Value
	case *recordpb.Value_Int64Value:
		return k.Int64Value
	case *recordpb.Value_FloatValue:
		return k.FloatValue
	case *recordpb.Value_DoubleValue:
		return k.DoubleValue
	case *recordpb.Value_BytesValue:
		return k.BytesValue
	case *recordpb.Value_StringValue:
		return k.StringValue
	case *recordpb.Value_TimestampValue:
		return time.UnixMicro(k.TimestampValue.TimestampMicros).UTC()
	case *recordpb.Value_DecimalValue:
		return ratOf(k.DecimalValue)
	case *recordpb.Value_ListValue:
		l := make([]any, len(k.ListValue.Values))
		for i, e := range k.ListValue.Values {
			l[i] = nativeOf(e)
		}
		return l
	case *recordpb.Value_RecordValue:
		return nativeMap(k.RecordValue)
	default:
		return nil
	}
}

func nativeMap(rv *recordpb.RecordValue) map[string]any {
	m := make(map[string]any, len(rv.Fields))
	for k, v := range rv.Fields {
		m[k] = nativeOf(v)
	}
	return m
}

// ratOf returns the value of a decimal.
func ratOf(d *recordpb.DecimalValue) *big.Rat {
	n := new(big.Int).SetBytes(d.Value)
	if len(d.Value) > 0 && d.Value[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(d.Value))))
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil)
	return new(big.Rat).SetFrac(n, scale)
}

// orderNative is nativeMap with the union branches of an order named.
func orderNative(rv *recordpb.RecordValue) map[string]any {
	m := nativeMap(rv)
	if m["coupon"] != nil {
		m["coupon"] = map[string]any{"string": m["coupon"]}
	}
	if m["referrer"] != nil {
		m["referrer"] = map[string]any{"long": m["referrer"]}
	}
	return m
}

// TestWayBackIsSound: the path that rebuilding is measured against gives the
// same records, so the ratio compares like with like.
func TestWayBackIsSound(t *testing.T) {
	b := newBench(t)
	for i := range b.payloads[:100] {
		var rv, again recordpb.RecordValue
		if err := proto.Unmarshal(b.mapForms[i], &rv); err != nil {
			t.Fatal(err)
		}
		payload, err := b.codec.BinaryFromNative(nil, orderNative(&rv))
		if err != nil {
			t.Fatal(err)
		}
		packed, _, err := b.program.Decode(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		mapForm, err := b.program.AppendRecordValue(nil, packed)
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(mapForm, &again); err != nil || !proto.Equal(&rv, &again) {
			t.Fatalf("order %d: %v, %v, %v", i, &rv, &again, err)
		}
	}
}
