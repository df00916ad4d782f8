package avro

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"milena/serde/record"
	"milena/serde/schema"
)

// TestHostile: payloads made to cost much are refused quickly and with little
// memory.
func TestHostile(t *testing.T) {
	node := `{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}`
	tree := `{"type":"record","name":"Tree","fields":[{"name":"children","type":{"type":"array","items":"Tree"}}]}`
	union := `{"type":"record","name":"U","fields":[{"name":"u","type":["int","string","U"]}]}`
	huge := binary.AppendVarint(nil, 1<<60)
	manyNulls := `{"type":"record","name":"N","fields":[{"name":"a","type":"null"}` +
		nullFields(2000) + `]}`
	for _, c := range []struct {
		name, schema string
		payload      []byte
		reason       record.Reason
	}{
		{"5 MB linked list", node, bytes.Repeat([]byte{2}, 5<<20), record.ReasonDepth},
		{"5 MB nested arrays", tree, bytes.Repeat([]byte{2}, 5<<20), record.ReasonDepth},
		{"5 MB nested unions", union, bytes.Repeat([]byte{4}, 5<<20), record.ReasonDepth},
		{"record in itself", `{"type":"record","name":"S","fields":[{"name":"s","type":"S"}]}`, nil, record.ReasonDepth},
		{"2^60 nulls", `{"type":"array","items":"null"}`, append(huge, 0), record.ReasonItems},
		{"2^60 nulls with a size", `{"type":"array","items":"null"}`, append(binary.AppendVarint(nil, -1<<60), 0, 0), record.ReasonItems},
		{"2^60 empty records", `{"type":"array","items":{"type":"record","name":"E","fields":[]}}`, append(huge, 0), record.ReasonItems},
		{"2^60 ints", `{"type":"array","items":"int"}`, append(huge, 0), record.ReasonItems},
		{"2^60 entries", `{"type":"map","values":"null"}`, append(huge, 0), record.ReasonItems},
		{"many blocks of nulls", `{"type":"array","items":"null"}`, append(bytes.Repeat(binary.AppendVarint(nil, 60000), 1000), 0), record.ReasonItems},
		{"records of nulls", `{"type":"array","items":` + manyNulls + `}`, append(binary.AppendVarint(nil, 65536), 0), record.ReasonTooLarge},
		{"long symbols", `{"type":"array","items":{"type":"enum","name":"E","symbols":["` + strings.Repeat("A", 10000) + `"]}}`,
			append(append(binary.AppendVarint(nil, 100_000), make([]byte, 100_000)...), 0), record.ReasonTooLarge},
		{"1 GB string", `"string"`, binary.AppendVarint(nil, 1<<30), record.ReasonTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustCompile(t, c.schema)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, _, err := p.Decode(nil, c.payload)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var de *record.DataError
			if !errors.As(err, &de) || de.Reason != c.reason {
				t.Fatalf("error %v, want %q", err, c.reason)
			}
			if len(de.Path) > 2000 {
				t.Errorf("path of %d bytes", len(de.Path))
			}
			// The packed form may grow to its limit, doubling on the way.
			most := uint64(4*(packedBytesFree+packedBytesFactor*len(c.payload))) + 1<<20
			if c.reason != record.ReasonTooLarge {
				most = 4 << 20
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > most {
				t.Errorf("%d bytes allocated, at most %d", got, most)
			}
			if took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestDecodeMax: a value is taken as long as there is room for it, and its size
// isn't held against the payload; allocation follows the room.
func TestDecodeMax(t *testing.T) {
	p := mustCompile(t, `{"type":"array","items":{"type":"enum","name":"E","symbols":["`+strings.Repeat("A", 100)+`"]}}`)
	payload := append(append(binary.AppendVarint(nil, 20_000), make([]byte, 20_000)...), 0)
	want, style, err := p.Decode(nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	got, st, err := p.DecodeMax([]byte("x"), payload, len(want)+4*slack)
	if err != nil || st != style || !bytes.Equal(got[1:], want) {
		t.Errorf("with room: %v, %d bytes, want %d", err, len(got), len(want))
	}
	for _, room := range []int{len(want) - 1, len(want) / 2, 1000, 0, -1000} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, _, err := p.DecodeMax([]byte("x"), payload, room)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, record.ErrNoRoom) || string(got) != "x" {
			t.Errorf("%d bytes of room: %v, %d bytes", room, err, len(got))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(4*max(room, 0)+64<<10) {
			t.Errorf("%d bytes of room: %d bytes allocated", room, n)
		}
	}
	// What the payload itself does wrong is said whatever room there is.
	var de *record.DataError
	if _, _, err := p.DecodeMax(nil, []byte{2, 2, 0}, 10_000); !errors.As(err, &de) || de.Reason != record.ReasonSymbol {
		t.Errorf("bad symbol: %v", err)
	}
}

func nullFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"name":"n%d","type":"null"}`, i)
	}
	return b.String()
}

// TestLimitsReached: what is just within the limits works, in both directions.
func TestLimitsReached(t *testing.T) {
	node := mustCompile(t, `{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}`)
	payload := append(bytes.Repeat([]byte{2}, ProgramDepthMax), 0)
	if _, _, err := checkPayload(t, node, payload); err != nil {
		t.Errorf("depth %d: %v", ProgramDepthMax, err)
	}
	var de *record.DataError
	if _, _, err := checkPayload(t, node, append([]byte{2}, payload...)); !errors.As(err, &de) || de.Reason != record.ReasonDepth {
		t.Errorf("depth %d: %v", ProgramDepthMax+1, err)
	}
	nulls := mustCompile(t, `{"type":"array","items":"null"}`)
	if _, _, err := checkPayload(t, nulls, append(binary.AppendVarint(nil, ProgramEmptyItemsMax), 0)); err != nil {
		t.Errorf("%d nulls: %v", ProgramEmptyItemsMax, err)
	}
	if _, _, err := checkPayload(t, nulls, append(binary.AppendVarint(nil, ProgramEmptyItemsMax+1), 0)); !errors.As(err, &de) || de.Reason != record.ReasonItems {
		t.Errorf("%d nulls: %v", ProgramEmptyItemsMax+1, err)
	}
}

// TestPackedLimitIndependentOfRoom: a payload whose packed form is over the
// limit is refused also if the caller's buffer could hold it.
func TestPackedLimitIndependentOfRoom(t *testing.T) {
	p := mustCompile(t, `{"type":"array","items":{"type":"record","name":"N","fields":[{"name":"a","type":"null"}`+nullFields(2000)+`]}}`)
	payload := append(binary.AppendVarint(nil, 1000), 0)
	for _, room := range []int{0, 8 << 20} {
		var de *record.DataError
		if _, _, err := p.Decode(make([]byte, 0, room), payload); !errors.As(err, &de) || de.Reason != record.ReasonTooLarge {
			t.Errorf("%d bytes of room: %v", room, err)
		}
	}
}

// TestMapFormLimit: names can make the map form of a small packed value large;
// it stops at the limit.
func TestMapFormLimit(t *testing.T) {
	p := mustCompile(t, `{"type":"array","items":{"type":"record","name":"N","fields":[{"name":"`+strings.Repeat("n", 100_000)+`","type":"null"}]}}`)
	packed, _, err := p.Decode(nil, append(binary.AppendVarint(nil, 1000), 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 200 << 20} {
		var de *record.DataError
		if _, err := p.AppendRecordValue(make([]byte, 0, room), packed); !errors.As(err, &de) || de.Reason != record.ReasonTooLarge {
			t.Errorf("%d bytes of room: %v", room, err)
		}
	}
}

// TestLongNames: a long namespace around many types, aliases or uses of a type
// doesn't take its length for each.
func TestLongNames(t *testing.T) {
	start := `{"type":"record","name":"A","namespace":"` + strings.Repeat("n", nameBytesMax-100) + `","fields":[{"name":"z","type":"int"}`
	var types, uses, unions, branches strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&types, `,{"name":"f%d","type":{"type":"record","name":"R%d","fields":[]}}`, i, i)
		fmt.Fprintf(&uses, `,{"name":"f%d","type":"A"}`, i)
		fmt.Fprintf(&unions, `,{"name":"f%d","type":["int","string","A"]}`, i)
		fmt.Fprintf(&branches, `,"a%d"`, i)
	}
	for name, text := range map[string]string{
		"types":   start + types.String() + "]}",
		"uses":    start + uses.String() + "]}",
		"unions":  start + unions.String() + "]}",
		"aliases": start + `],"aliases":["b"` + branches.String() + "]}",
	} {
		var pe *schema.ParseError
		if _, err := (Parser{}).ParseSchema(schema.Resolved{Text: text}); !errors.As(err, &pe) || !strings.Contains(err.Error(), "Full names of more than") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	// Within the bound, all that is made of a schema stays within a multiple.
	s, err := Parser{}.ParseSchema(schema.Resolved{Text: start + unions.String()[:strings.Index(unions.String(), `,{"name":"f3000"`)] + "]}"})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Compile(s); err != nil {
		t.Fatal(err)
	}
	s.Normalized()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 6*namesBytesMax {
		t.Errorf("%d MB allocated", got>>20)
	}
}
