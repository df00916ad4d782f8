package avro

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"milena/serde/record"
	"milena/serde/record/recordpb"
	"milena/serde/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files of serde/avro")

// mustCompile returns the program of an Avro schema text.
func mustCompile(t testing.TB, text string) *Program {
	t.Helper()
	s, err := Parser{}.ParseSchema(schema.Resolved{Type: schema.Avro, Text: text})
	if err != nil {
		t.Fatalf("parse %.200s: %v", text, err)
	}
	p, err := Compile(s)
	if err != nil {
		t.Fatalf("compile %.200s: %v", text, err)
	}
	return p
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fataler is what testing.TB and rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkPayload decodes payload and checks what must hold for every payload that
// a program accepts: exactness, a map form that protobuf reads and that is
// minimal, packed values that a Reader walks through.
func checkPayload(t fataler, p *Program, payload []byte) ([]byte, record.Style, error) {
	t.Helper()
	packed, style, err := p.Decode([]byte("x"), payload)
	if err != nil {
		var de *record.DataError
		if string(packed) != "x" || !errors.As(err, &de) || de.Reason == "" || de.Offset > len(payload) {
			t.Fatalf("payload %x: dst %q, error %#v", payload, packed, err)
		}
		return nil, 0, err
	}
	packed = packed[1:]
	for _, st := range []record.Style{record.StyleCanonical, record.StyleCounted} {
		back, err := p.Encode([]byte("y"), packed, st)
		if err != nil || back[0] != 'y' {
			t.Fatalf("payload %x: packed %x: encode: %v", payload, packed, err)
		}
		back = back[1:]
		if st == style && !bytes.Equal(back, payload) {
			t.Fatalf("style %d: payload %x, packed %x, back %x", style, payload, packed, back)
		}
		again, st2, err := p.Decode(nil, back)
		if err != nil || !bytes.Equal(again, packed) {
			t.Fatalf("payload %x in style %d is %x: decoded %x, want %x, %v", payload, st, back, again, packed, err)
		}
		if st2 != st && st2 != record.StyleCanonical {
			t.Fatalf("payload %x in style %d is %x, seen as style %d", payload, st, back, st2)
		}
		if style == record.StyleOriginal && bytes.Equal(back, payload) {
			t.Fatalf("payload %x is original, but style %d rebuilds it", payload, st)
		}
	}
	mapForm, err := p.AppendRecordValue([]byte("z"), packed)
	if err != nil {
		t.Fatalf("payload %x, packed %x: map form: %v", payload, packed, err)
	}
	var rv recordpb.RecordValue
	if err := proto.Unmarshal(mapForm[1:], &rv); err != nil {
		t.Fatalf("payload %x: map form %x: %v", payload, mapForm[1:], err)
	}
	checkPacked(t, packed)
	return packed, style, nil
}

// checkPacked walks through packed values with a Reader.
func checkPacked(t fataler, packed []byte) {
	t.Helper()
	r := record.NewReader(packed)
	var it record.Item
	for r.Offset() < len(packed) {
		if err := r.Next(&it); err != nil {
			t.Fatalf("packed %x: %v", packed, err)
		}
		var err error
		switch it.Tag {
		case record.TagList:
			checkPacked(t, it.Content)
		case record.TagTimestamp:
			_, _, err = it.Timestamp()
		case record.TagDate:
			_, err = it.Date()
		case record.TagTime:
			_, err = it.Time()
		case record.TagDecimal:
			_, err = it.Decimal()
		}
		if err != nil {
			t.Fatalf("packed %x: %v", it.Content, err)
		}
	}
}

// jsonOf returns the map form of packed as JSON without spaces.
func jsonOf(t testing.TB, p *Program, packed []byte) string {
	t.Helper()
	b, err := p.AppendRecordValue(nil, packed)
	if err != nil {
		t.Fatal(err)
	}
	var rv recordpb.RecordValue
	if err := proto.Unmarshal(b, &rv); err != nil {
		t.Fatal(err)
	}
	j, err := protojson.Marshal(&rv)
	if err != nil {
		t.Fatal(err)
	}
	return compactJSON(t, j)
}

// TestGolden: the packed form of every type, frozen as mapping version 1. Each
// block of testdata/program/mapping1.txt has a schema and a payload; the lines
// that follow them are what the program makes of it. Run with -update after
// adding a block, and look at the difference: a line that changes breaks what
// is stored.
func TestGolden(t *testing.T) {
	path := filepath.Join("testdata", "program", "mapping1.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		if strings.HasPrefix(block, "#") {
			out.WriteString(block + "\n\n")
			continue
		}
		in := map[string]string{}
		for line := range strings.SplitSeq(block, "\n") {
			key, value, _ := strings.Cut(line, ":")
			in[key] = strings.TrimSpace(value)
		}
		p := mustCompile(t, in["schema"])
		payload := unhex(t, in["payload"])
		packed, style, err := checkPayload(t, p, payload)
		if err != nil {
			t.Errorf("%s: %v", in["schema"], err)
			continue
		}
		got := fmt.Sprintf("schema: %s\npayload: %s\npacked: %x\nstyle: %d\njson: %s",
			in["schema"], in["payload"], packed, style, jsonOf(t, p, packed))
		out.WriteString(got + "\n\n")
		if got != block && !*update {
			t.Errorf("got\n%s\nwant\n%s", got, block)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefused: what is wrong with a payload, where it is and at which byte.
func TestRefused(t *testing.T) {
	const rec = `{"type":"record","name":"R","fields":[{"name":"a","type":%s}]}`
	for _, c := range []struct {
		name, typ, payload string
		reason             record.Reason
		path               string
		offset             int
	}{
		{"no bytes", `"int"`, "", record.ReasonTruncated, "a", 0},
		{"trailing byte", `"int"`, "0200", record.ReasonTrailing, "", 1},
		{"boolean 2", `"boolean"`, "02", record.ReasonBool, "a", 0},
		{"boolean missing", `"boolean"`, "", record.ReasonTruncated, "a", 0},
		{"int over 32 bits", `"int"`, "8080808020", record.ReasonVarint, "a", 0},
		{"int in six bytes", `"int"`, "808080808000", record.ReasonVarint, "a", 0},
		{"long over 64 bits", `"long"`, "ffffffffffffffffff02", record.ReasonVarint, "a", 10},
		{"long in eleven bytes", `"long"`, "8080808080808080808000", record.ReasonVarint, "a", 10},
		{"long cut off", `"long"`, "8080", record.ReasonTruncated, "a", 2},
		{"float cut off", `"float"`, "000000", record.ReasonTruncated, "a", 0},
		{"double cut off", `"double"`, "00000000000000", record.ReasonTruncated, "a", 0},
		{"string cut off", `"string"`, "0661", record.ReasonTruncated, "a", 0},
		{"string of negative length", `"string"`, "01", record.ReasonLength, "a", 0},
		{"string not UTF-8", `"string"`, "04fffe", record.ReasonUTF8, "a", 1},
		{"long string not UTF-8", `"string"`, "8002" + strings.Repeat("61", 127) + "ff", record.ReasonUTF8, "a", 2},
		{"medium string not UTF-8", `"string"`, "50" + strings.Repeat("61", 39) + "c3", record.ReasonUTF8, "a", 1},
		{"surrogate in string", `"string"`, "06eda080", record.ReasonUTF8, "a", 1},
		{"bytes cut off", `"bytes"`, "0661", record.ReasonTruncated, "a", 0},
		{"fixed cut off", `{"type":"fixed","name":"F","size":3}`, "0000", record.ReasonTruncated, "a", 0},
		{"decimal cut off", `{"type":"bytes","logicalType":"decimal","precision":4}`, "0400", record.ReasonTruncated, "a", 0},
		{"fixed decimal cut off", `{"type":"fixed","name":"F","size":3,"logicalType":"decimal","precision":4}`, "0000", record.ReasonTruncated, "a", 0},
		{"symbol out of range", `{"type":"enum","name":"E","symbols":["A","B"]}`, "04", record.ReasonSymbol, "a", 0},
		{"negative symbol", `{"type":"enum","name":"E","symbols":["A","B"]}`, "01", record.ReasonSymbol, "a", 0},
		{"branch out of range", `["null","int"]`, "04", record.ReasonBranch, "a", 0},
		{"negative branch", `["null","int"]`, "01", record.ReasonBranch, "a", 0},
		{"branch of one out of range", `["int"]`, "0200", record.ReasonBranch, "a", 0},
		{"branch of three out of range", `["null","int","string"]`, "06", record.ReasonBranch, "a", 0},
		{"branch missing", `["null","int"]`, "", record.ReasonTruncated, "a", 0},
		{"item", `{"type":"array","items":"boolean"}`, "040002", record.ReasonBool, "a[1]", 2},
		{"item of the second block", `{"type":"array","items":"boolean"}`, "040000020200", record.ReasonBool, "a[2]", 4},
		{"value of an entry", `{"type":"map","values":"boolean"}`, "0202780200", record.ReasonBool, "a[0]", 3},
		{"key of an entry", `{"type":"map","values":"boolean"}`, "0202ff0000", record.ReasonUTF8, "a[0]", 2},
		{"field in an item", `{"type":"array","items":{"type":"record","name":"I","fields":[{"name":"x","type":"boolean"}]}}`,
			"020200", record.ReasonBool, "a[0].x", 1},
		{"field in a branch", `["int","string",{"type":"record","name":"I","fields":[{"name":"x","type":"boolean"}]}]`,
			"0402", record.ReasonBool, "a.x", 1},
		{"block size cut off", `{"type":"array","items":"int"}`, "01", record.ReasonTruncated, "a", 1},
		{"negative block size", `{"type":"array","items":"int"}`, "010100", record.ReasonLength, "a", 1},
		{"block size past the end", `{"type":"array","items":"int"}`, "01080000", record.ReasonLength, "a", 1},
		{"items past the end", `{"type":"array","items":"int"}`, "080000", record.ReasonItems, "a", 0},
		{"least count", `{"type":"array","items":"int"}`, "ffffffffffffffffff0100", record.ReasonItems, "a", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustCompile(t, fmt.Sprintf(rec, c.typ))
			_, _, err := checkPayload(t, p, unhex(t, c.payload))
			var de *record.DataError
			if !errors.As(err, &de) || de.Reason != c.reason || de.Path != c.path || de.Offset != c.offset {
				t.Errorf("got %#v, want %q at %q, byte %d", err, c.reason, c.path, c.offset)
			}
		})
	}
}

// TestEncodeRefuses: packed values that don't fit the schema, and styles that
// don't rebuild.
func TestEncodeRefuses(t *testing.T) {
	p := mustCompile(t, `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":["null","string"]}]}`)
	good, _, err := p.Decode(nil, []byte{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	for name, packed := range map[string][]byte{
		"nothing": {}, "one value": {0x10, 1}, "another kind": {0x18, 1, 0}, "null": {0, 0}, "cut off": {0x10},
		"string past the end": {0x10, 1, 0x3a, 2, 'x'}, "a value too many": {0x10, 1, 0, 0},
		"int over 32 bits": {0x10, 0x80, 0x80, 0x80, 0x80, 0x10, 0},
	} {
		for _, style := range []record.Style{record.StyleCanonical, record.StyleCounted} {
			if b, err := p.Encode([]byte("x"), packed, style); err == nil || string(b) != "x" {
				t.Errorf("%s: %x, %v", name, b, err)
			}
		}
	}
	for _, style := range []record.Style{record.StyleOriginal, 3, 255} {
		var de *record.DataError
		if b, err := p.Encode([]byte("x"), good, style); !errors.As(err, &de) || de.Reason != record.ReasonStyle || string(b) != "x" {
			t.Errorf("style %d: %x, %v", style, b, err)
		}
	}
	if b, err := p.AppendRecordValue([]byte("x"), []byte{0x18, 1, 0}); err == nil || string(b) != "x" {
		t.Errorf("map form: %x, %v", b, err)
	}
}

// TestMapFormMinimal: the map form takes exactly the bytes that protobuf's own
// encoder needs, which it does not if a length or a default is written at
// greater length.
func TestMapFormMinimal(t *testing.T) {
	p := mustCompile(t, orderSchema)
	for i, payload := range orderPayloads(t, 50) {
		packed, _, err := p.Decode(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.AppendRecordValue(nil, packed)
		if err != nil {
			t.Fatal(err)
		}
		var rv recordpb.RecordValue
		if err := proto.Unmarshal(got, &rv); err != nil {
			t.Fatal(err)
		}
		if n := proto.Size(&rv); n != len(got) {
			t.Fatalf("order %d: %d bytes, protobuf needs %d", i, len(got), n)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	p := mustCompile(t, orderSchema)
	payload := orderPayloads(t, 1)[0]
	packed, _, _ := p.Decode(nil, payload)
	buf := make([]byte, 0, 4096)
	for name, f := range map[string]func() error{
		"decode":   func() (err error) { buf, _, err = p.Decode(buf[:0], payload); return err },
		"encode":   func() (err error) { buf, err = p.Encode(buf[:0], packed, record.StyleCanonical); return err },
		"counted":  func() (err error) { buf, err = p.Encode(buf[:0], packed, record.StyleCounted); return err },
		"map form": func() (err error) { buf, err = p.AppendRecordValue(buf[:0], packed); return err },
	} {
		var err error
		if n := testing.AllocsPerRun(100, func() { err = f() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}
}

// TestTightBuffers: results don't depend on the room that the caller gives.
func TestTightBuffers(t *testing.T) {
	p := mustCompile(t, orderSchema)
	payload := orderPayloads(t, 1)[0]
	want, _, _ := p.Decode(nil, payload)
	wantMap, _ := p.AppendRecordValue(nil, want)
	for n := range 600 {
		room := func() []byte { return append(make([]byte, 0, n+1), 'x') }
		if got, _, err := p.Decode(room(), payload); err != nil || !bytes.Equal(got[1:], want) {
			t.Fatalf("%d bytes of room: packed %x, %v", n, got, err)
		}
		if got, err := p.Encode(room(), want, record.StyleCanonical); err != nil || !bytes.Equal(got[1:], payload) {
			t.Fatalf("%d bytes of room: payload %x, %v", n, got, err)
		}
		if got, err := p.AppendRecordValue(room(), want); err != nil || !bytes.Equal(got[1:], wantMap) {
			t.Fatalf("%d bytes of room: map form %x, %v", n, got, err)
		}
	}
}
