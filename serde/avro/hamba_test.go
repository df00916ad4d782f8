package avro

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hamba/avro/v2"

	"milena/serde/record"
)

// TestHambaStyle: what hamba/avro's encoder writes, which confluent-kafka-go's
// avrov2 uses, is rebuilt from the packed form; no original is kept.
func TestHambaStyle(t *testing.T) {
	s, err := avro.Parse(orderSchema)
	if err != nil {
		t.Fatal(err)
	}
	p := mustCompile(t, orderSchema)
	list := orders(300)
	for i := range list {
		payload, err := avro.Marshal(s, &list[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, style, err := checkPayload(t, p, payload); err != nil || style != record.StyleCounted {
			t.Fatalf("order %d: style %d, %v: %x", i, style, err, payload)
		}
	}
}

// TestHambaBlocks: arrays and maps of every size around the block length, also
// of items that take no bytes, and lists in lists.
func TestHambaBlocks(t *testing.T) {
	for _, n := range []int{0, 1, 2, 63, 64, 99, 100, 101, 199, 200, 201, 1000} {
		strings, ints, nulls, pairs := []string{}, []int64{}, []any{}, map[string]int64{}
		nested := [][]int64{}
		for i := range n {
			strings = append(strings, fmt.Sprint("item ", i))
			ints = append(ints, int64(i*i*i))
			nulls = append(nulls, nil)
			pairs[fmt.Sprint(i)] = int64(i)
			nested = append(nested, ints[:i%120])
		}
		for text, v := range map[string]any{
			`{"type":"array","items":"string"}`:                        strings,
			`{"type":"array","items":"long"}`:                          ints,
			`{"type":"array","items":"null"}`:                          nulls,
			`{"type":"map","values":"long"}`:                           pairs,
			`{"type":"array","items":{"type":"array","items":"long"}}`: nested,
		} {
			s, err := avro.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			payload, err := avro.Marshal(s, v)
			if err != nil {
				t.Fatalf("%s, %d items: %v", text, n, err)
			}
			packed, style, err := checkPayload(t, mustCompile(t, text), payload)
			if err != nil || style == record.StyleOriginal {
				t.Errorf("%s, %d items: style %d, %v", text, n, style, err)
			}
			back, err := mustCompile(t, text).Encode(nil, packed, record.StyleCounted)
			if err != nil || !bytes.Equal(back, payload) {
				t.Errorf("%s, %d items: counted style differs", text, n)
			}
		}
	}
}
