package avro

import (
	"encoding/binary"
	"math"
	"testing"

	"milena/serde/schema"
)

// TestKnownFaults: schemas that other registries and libraries stumbled over,
// by what went wrong. Each is taken (or, where the reference refuses it from new
// schemas, taken from stored ones), runs, and shows its data as it is meant.
func TestKnownFaults(t *testing.T) {
	decimal := func(precision, scale string) string {
		return `{"type":"bytes","logicalType":"decimal","precision":` + precision + scale + `}`
	}
	for _, c := range []struct {
		kind, schema string
		stored       bool // stored schemas only
		payload      string
		want         string // as JSON
	}{
		{"decimal default", `{"type":"record","name":"Price","fields":[{"name":"amount","type":` + decimal("9", `,"scale":2`) + `,"default":"\u0004\u00d2"}]}`,
			false, "04 04d2", `{"fields":{"amount":{"decimalValue":{"value":"BNI=","precision":9,"scale":2}}}}`},
		{"decimal default of a union's first branch", `{"type":"record","name":"Row","fields":[{"name":"total","type":[` + decimal("15", `,"scale":4`) + `,"null"],"default":"\u0000"}]}`,
			false, "00 02 07", `{"fields":{"total":{"decimalValue":{"value":"Bw==","precision":15,"scale":4}}}}`},
		{"decimal without a scale", `{"type":"record","name":"Qty","fields":[{"name":"n","type":` + decimal("10", "") + `}]}`,
			false, "02 07", `{"fields":{"n":{"decimalValue":{"value":"Bw==","precision":10}}}}`},
		{"decimal with more scale than precision", `{"type":"record","name":"Qty","fields":[{"name":"n","type":` + decimal("4", `,"scale":9`) + `}]}`,
			false, "02 07", `{"fields":{"n":{"bytesValue":"Bw=="}}}`},
		{"record default that leaves members out", `{"type":"record","name":"Order","fields":[{"name":"ship","type":{"type":"record","name":"Addr","fields":[{"name":"zip","type":"string"},{"name":"cc","type":"string","default":"DE"}]},"default":{"zip":"00000"}}]}`,
			false, "02 31 04 4154", `{"fields":{"ship":{"recordValue":{"fields":{"cc":{"stringValue":"AT"},"zip":{"stringValue":"1"}}}}}}`},
		{"empty record default", `{"type":"record","name":"A","fields":[{"name":"b","type":{"type":"record","name":"B","fields":[{"name":"n","type":"int","default":1}]},"default":{}}]}`,
			false, "02", `{"fields":{"b":{"recordValue":{"fields":{"n":{"int32Value":1}}}}}}`},
		{"default of a union of records of another namespace", `{"type":"record","name":"Thing","namespace":"n.one","fields":[{"name":"lay","type":[{"type":"record","name":"Grid","namespace":"n.two","fields":[{"name":"n","type":"int","default":2}]},{"type":"record","name":"Flow","namespace":"n.two","fields":[{"name":"m","type":"int"}]}],"default":{"n":3}}]}`,
			false, "02 06", `{"fields":{"lay":{"recordValue":{"fields":{"n.two.Flow":{"recordValue":{"fields":{"m":{"int32Value":3}}}}}}}}}`},
		{"whole number as default of a union", `{"type":"record","name":"R","fields":[{"name":"n","type":["int","null"],"default":77}]}`,
			false, "00 02", `{"fields":{"n":{"int32Value":1}}}`},
		{"whole number as default of a double", `{"type":"record","name":"R","fields":[{"name":"d","type":"double","default":0}]}`,
			false, "000000000000f83f", `{"fields":{"d":{"doubleValue":1.5}}}`},
		{"any character in a name", `{"type":"record","name":"a\"b\\ c","fields":[{"name":"\u0001\n","type":{"type":"enum","name":"x/y","namespace":"p q.r","symbols":["A","é"]}}]}`,
			true, "02", `{"fields":{"\u0001\n":{"stringValue":"é"}}}`},
		{"default that is no number, as text", `{"type":"record","name":"R","fields":[{"name":"x","type":"float","default":"NaN"},{"name":"y","type":"double","default":"-Infinity"}]}`,
			false, "0000c03f 000000000000f83f", `{"fields":{"x":{"floatValue":1.5},"y":{"doubleValue":1.5}}}`},
		{"logical type in a union", `["null",{"type":"long","logicalType":"timestamp-millis"}]`,
			false, "02 02", `{"fields":{"value":{"timestampValue":{"timestampMicros":"1000","isUtc":true}}}}`},
		{"enum in a union", `["null",{"type":"enum","name":"S","symbols":["A","B"]}]`,
			false, "02 02", `{"fields":{"value":{"stringValue":"B"}}}`},
		{"recursive record", `{"type":"record","name":"Node","fields":[{"name":"v","type":"int"},{"name":"kids","type":{"type":"array","items":"Node"}}]}`,
			false, "02 02 04 00 00", `{"fields":{"kids":{"listValue":{"values":[{"recordValue":{"fields":{"kids":{"listValue":{}},"v":{"int32Value":2}}}}]}},"v":{"int32Value":1}}}`},
		{"hyphen in a namespace", `{"type":"record","name":"Depot","namespace":"acme-eu.x","fields":[{"name":"f","type":"string"}]}`,
			true, "02 61", `{"fields":{"f":{"stringValue":"a"}}}`},
		{"hyphen in a field's name", `{"type":"record","name":"A","fields":[{"name":"unit-price","type":"string"}]}`,
			true, "02 61", `{"fields":{"unit-price":{"stringValue":"a"}}}`},
		{"hyphen in a symbol", `{"type":"enum","name":"E","symbols":["A-B"]}`,
			true, "00", `{"fields":{"value":{"stringValue":"A-B"}}}`},
		{"digit first in a name", `{"type":"record","name":"1abc","fields":[{"name":"f","type":"int"}]}`,
			true, "02", `{"fields":{"f":{"int32Value":1}}}`},
		{"letters of other alphabets", `{"type":"record","name":"Größe","fields":[{"name":"ä","type":"int"}]}`,
			true, "02", `{"fields":{"ä":{"int32Value":1}}}`},
	} {
		r := schema.Resolved{Type: schema.Avro, Text: c.schema}
		if _, err := (Parser{}).ParseSchema(r); (err != nil) != c.stored {
			t.Errorf("%s: as a new schema: %v", c.kind, err)
		}
		s, err := Parser{Stored: true}.ParseSchema(r)
		if err != nil {
			t.Errorf("%s: %v", c.kind, err)
			continue
		}
		again, err := Parser{Stored: true}.ParseSchema(s.Resolved())
		if err != nil || again.Canonical() != s.Canonical() || !Equal(s, again) {
			t.Errorf("%s: the stored text %s is another schema: %v", c.kind, s.Canonical(), err)
		}
		p, err := Compile(s)
		if err != nil {
			t.Errorf("%s: %v", c.kind, err)
			continue
		}
		packed, _, err := checkPayload(t, p, unhex(t, c.payload))
		if err != nil {
			t.Errorf("%s: %v", c.kind, err)
			continue
		}
		if got := jsonOf(t, p, packed); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.kind, got, c.want)
		}
	}
}

// TestKnownFaultsRefused: texts that crashed others are errors with a place.
func TestKnownFaultsRefused(t *testing.T) {
	for kind, text := range map[string]string{
		"no number where one belongs":    `{"type":"record","name":"M","fields":[{"name":"v","type":"double","default":NaN}]}`,
		"escaped once too often":         `{\"type\":\"int\"}`,
		"number as default of a decimal": `{"type":"record","name":"X","fields":[{"name":"p","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":1},"default":0}]}`,
		"record without fields":          `{"type":"record"}`,
		"array without items":            `{"type":"array"}`,
	} {
		if _, err := (Parser{}).ParseSchema(schema.Resolved{Type: schema.Avro, Text: text}); err == nil {
			t.Errorf("%s: taken", kind)
		}
	}
}

// TestKnownFaultsFloats: what is no number keeps each of its bits.
func TestKnownFaultsFloats(t *testing.T) {
	p := mustCompile(t, `{"type":"record","name":"R","fields":[{"name":"f","type":"float"},{"name":"d","type":"double"}]}`)
	for _, d := range []uint64{math.Float64bits(math.NaN()), 0x7FF8000000000123, 0xFFF0000000000001, math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)), 1 << 63} {
		payload := binary.LittleEndian.AppendUint32(nil, uint32(d>>32))
		payload = binary.LittleEndian.AppendUint64(payload, d)
		if _, _, err := checkPayload(t, p, payload); err != nil {
			t.Errorf("%x: %v", d, err)
		}
	}
}
