package avro

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"milena/serde/record"
)

// TestPackedMutated: stored values that were damaged are refused, or are other
// values of the same schema; never a panic, and the buffer stays as it was.
func TestPackedMutated(t *testing.T) {
	refused, accepted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawProgram(t, true)
		g := payloadGen{t: t, items: 20, style: record.StyleCanonical}
		packed, _, err := p.Decode(nil, g.value(nil, s.Root(), 0))
		if err != nil || len(packed) == 0 {
			return
		}
		for range rapid.IntRange(1, 3).Draw(t, "mutations") {
			i := rapid.IntRange(0, len(packed)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				packed[i] = rapid.Byte().Draw(t, "byte")
			case 1:
				packed[i] = rapid.SampledFrom([]byte{record.TagNull, record.TagInt32, record.TagInt64, record.TagBytes,
					record.TagString, record.TagList, record.TagTimestamp, record.TagDecimal, 0x80}).Draw(t, "tag")
			default:
				packed = append(packed[:i:i], append([]byte{rapid.Byte().Draw(t, "byte")}, packed[i:]...)...)
			}
		}
		for _, style := range []record.Style{record.StyleCanonical, record.StyleCounted} {
			b, err := p.Encode([]byte("x"), packed, style)
			if b[0] != 'x' || err != nil && len(b) != 1 {
				t.Fatalf("packed %x: %x, %v", packed, b, err)
			}
			if err != nil {
				refused++
			} else {
				accepted++
			}
		}
		if b, err := p.AppendRecordValue([]byte("x"), packed); b[0] != 'x' || err != nil && len(b) != 1 {
			t.Fatalf("packed %x: %x, %v", packed, b, err)
		}
	})
	if refused == 0 || accepted == 0 {
		t.Errorf("%d refused, %d accepted", refused, accepted)
	}
}

// TestTruncated: no beginning of a payload or packed value is taken for the
// whole.
func TestTruncated(t *testing.T) {
	p := mustCompile(t, orderSchema)
	for _, payload := range orderPayloads(t, 20) {
		packed, _, err := p.Decode(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		for n := range payload {
			if _, _, err := checkPayload(t, p, payload[:n]); err == nil {
				t.Fatalf("%d of %d payload bytes are accepted", n, len(payload))
			}
		}
		for n := range packed {
			for _, style := range []record.Style{record.StyleCanonical, record.StyleCounted} {
				if _, err := p.Encode(nil, packed[:n], style); err == nil {
					t.Fatalf("%d of %d packed bytes are rebuilt", n, len(packed))
				}
			}
			if _, err := p.AppendRecordValue(nil, packed[:n]); err == nil {
				t.Fatalf("%d of %d packed bytes have a map form", n, len(packed))
			}
		}
	}
}

// TestReadsNothingBehind: a payload inside a larger buffer is read to its end
// and not beyond, whatever lies there; the race detector sees that nobody else
// reads a neighbour's bytes.
func TestReadsNothingBehind(t *testing.T) {
	p := mustCompile(t, orderSchema)
	payload := orderPayloads(t, 1)[0]
	want, _, err := p.Decode(nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	buf := append(bytes.Clone(payload), make([]byte, 256)...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 1000 {
			for k := len(payload); k < len(buf); k++ {
				buf[k] = byte(i)
			}
		}
	}()
	for range 1000 {
		got, style, err := p.Decode(nil, buf[:len(payload)])
		if err != nil || style != record.StyleCanonical || !bytes.Equal(got, want) {
			t.Errorf("style %d, %v", style, err)
			break
		}
	}
	<-done
}
