package avro

import (
	"testing"

	"pgregory.net/rapid"

	"milena/serde/record"
	"milena/serde/schema"
)

// TestExactGenerated: random payloads of random schemas come back exactly, and
// the styles that encoders write are seen as such.
func TestExactGenerated(t *testing.T) {
	seen := map[record.Style]int{}
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawProgram(t, true)
		g := payloadGen{t: t, items: 400}
		g.style = rapid.SampledFrom([]record.Style{record.StyleOriginal, record.StyleCanonical, record.StyleCounted}).Draw(t, "style")
		payload := g.value(nil, s.Root(), 0)
		if s.Root().Kind == KindBytes {
			payload = payload[1:] // top-level bytes are bare
		}
		_, style, err := checkPayload(t, p, payload)
		if err != nil {
			t.Fatalf("schema %s: payload %x: %v", s.Canonical(), payload, err)
		}
		seen[style]++
		if g.style != record.StyleOriginal && style != g.style && style != record.StyleCanonical {
			t.Fatalf("schema %s: payload %x: style %d, want %d", s.Canonical(), payload, style, g.style)
		}
	})
	for _, st := range []record.Style{record.StyleOriginal, record.StyleCanonical, record.StyleCounted} {
		if seen[st] == 0 {
			t.Errorf("no payload of style %d among those drawn: %v", st, seen)
		}
	}
}

// TestExactMutated: whatever is done to a payload, it is refused, comes back
// exactly, or is marked original.
func TestExactMutated(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawProgram(t, true)
		g := payloadGen{t: t, items: 20, style: record.Style(rapid.IntRange(0, 2).Draw(t, "style"))}
		payload := g.value(nil, s.Root(), 0)
		for range rapid.IntRange(1, 3).Draw(t, "mutations") {
			if len(payload) == 0 {
				break
			}
			i := rapid.IntRange(0, len(payload)-1).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				payload[i] = rapid.Byte().Draw(t, "byte")
			case 1:
				payload = append(payload[:i:i], payload[i+1:]...)
			case 2:
				payload = append(payload[:i:i], append([]byte{rapid.Byte().Draw(t, "byte")}, payload[i:]...)...)
			case 3: // a varint longer than needed
				if payload[i] < 0x80 {
					payload = append(payload[:i:i], append([]byte{payload[i] | 0x80, 0}, payload[i+1:]...)...)
				}
			}
		}
		if _, _, err := checkPayload(t, p, payload); err == nil {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("no mutated payload was accepted")
	}
}

func drawProgram(t *rapid.T, logical bool) (*Schema, *Program) {
	text := drawSchema(t, logical)
	s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.Avro, Text: text})
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	p, err := Compile(s)
	if err != nil {
		t.Fatalf("compile %s: %v", text, err)
	}
	return s, p
}

// fuzzSchemas are the schemas of FuzzExact, every type among them.
var fuzzSchemas = []string{
	orderSchema,
	`{"type":"record","name":"Node","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","Node"]},
	  {"name":"children","type":{"type":"array","items":"Node"}}]}`,
	`{"type":"record","name":"All","fields":[
	  {"name":"n","type":"null"},{"name":"f","type":"float"},{"name":"b","type":"bytes"},
	  {"name":"x","type":{"type":"fixed","name":"X","size":3}},
	  {"name":"u","type":["int","null","string",{"type":"array","items":"null"},{"type":"map","values":["null","bytes"]},"X"]},
	  {"name":"one","type":["string"]},
	  {"name":"d","type":{"type":"int","logicalType":"date"}},
	  {"name":"tm","type":{"type":"int","logicalType":"time-millis"}},
	  {"name":"tu","type":{"type":"long","logicalType":"time-micros"}},
	  {"name":"ts","type":{"type":"long","logicalType":"timestamp-millis"}},
	  {"name":"tsu","type":{"type":"long","logicalType":"local-timestamp-micros"}},
	  {"name":"df","type":{"type":"fixed","name":"DF","size":5,"logicalType":"decimal","precision":9,"scale":2}},
	  {"name":"bd","type":{"type":"bytes","logicalType":"big-decimal"}},
	  {"name":"e","type":{"type":"enum","name":"E","symbols":["A","B","C","D","E","F","G","H","I","J"]}},
	  {"name":"empty","type":{"type":"array","items":{"type":"record","name":"Empty","fields":[]}}}]}`,
	`"bytes"`, `"null"`, `["null","string"]`, `{"type":"map","values":{"type":"array","items":"long"}}`,
}

// FuzzExact: no bytes make a program panic; what it accepts comes back exactly
// in the style that it names.
func FuzzExact(f *testing.F) {
	for i := range fuzzSchemas {
		f.Add(uint8(i), []byte{0})
		f.Add(uint8(i), []byte{2, 4, 'a', 'b', 0, 2, 2, 1, 4, 2, 'a', 2, 'b', 0})
	}
	f.Add(uint8(1), []byte{2, 2, 4, 0, 0, 1, 6, 6, 0, 0, 0})
	programs := make([]*Program, len(fuzzSchemas))
	for i, s := range fuzzSchemas {
		programs[i] = mustCompile(f, s)
	}
	f.Fuzz(func(t *testing.T, n uint8, payload []byte) {
		_, _, _ = checkPayload(t, programs[int(n)%len(programs)], payload)
	})
}

// FuzzPacked: stored bytes that don't fit the schema are an error, never a
// panic, and what is rebuilt from them is valid.
func FuzzPacked(f *testing.F) {
	programs := make([]*Program, len(fuzzSchemas))
	for i, s := range fuzzSchemas {
		programs[i] = mustCompile(f, s)
		for _, seed := range [][]byte{{0}, {2, 0, 0}, {0x0a}} {
			if packed, _, err := programs[i].Decode(nil, seed); err == nil {
				f.Add(uint8(i), packed, true)
			}
		}
		f.Add(uint8(i), []byte{0x10, 1, 0, 0x72, 0}, false)
	}
	f.Fuzz(func(t *testing.T, n uint8, packed []byte, counted bool) {
		p := programs[int(n)%len(programs)]
		style := record.StyleCanonical
		if counted {
			style = record.StyleCounted
		}
		dst, err := p.Encode([]byte("x"), packed, style)
		if err != nil && string(dst) != "x" {
			t.Fatalf("dst %q after %v", dst, err)
		}
		if dst, err = p.AppendRecordValue([]byte("x"), packed); err != nil && string(dst) != "x" {
			t.Fatalf("dst %q after %v", dst, err)
		}
	})
}
