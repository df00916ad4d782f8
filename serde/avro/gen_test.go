package avro

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"pgregory.net/rapid"

	"milena/serde/record"
)

// schemaGen draws Avro schema texts with every type. Recursive records occur
// behind unions and arrays, where values can end.
type schemaGen struct {
	t        *rapid.T
	names    int
	open     []string // records around the place being drawn
	defined  []string // named types that may be used again
	logical  bool
	maxDepth int
}

func drawSchema(t *rapid.T, logical bool) string {
	g := schemaGen{t: t, logical: logical, maxDepth: 3}
	if rapid.IntRange(0, 3).Draw(t, "top") > 0 {
		return g.record(0)
	}
	return g.typ(0, true)
}

func (g *schemaGen) name(kind string) string {
	g.names++
	return fmt.Sprintf("%s%d", kind, g.names)
}

func (g *schemaGen) typ(depth int, unionOK bool) string {
	max := 16
	if depth >= g.maxDepth {
		max = 10
	}
	switch n := rapid.IntRange(0, max).Draw(g.t, "type"); n {
	case 0:
		return `"null"`
	case 1:
		return `"boolean"`
	case 2, 3:
		return g.primitive("int", "date", "time-millis")
	case 4:
		return g.primitive("long", "time-micros", "timestamp-millis", "timestamp-micros", "timestamp-nanos",
			"local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos")
	case 5:
		return `"float"`
	case 6:
		return `"double"`
	case 7:
		return g.primitive("bytes", "decimal", "big-decimal")
	case 8:
		return g.primitive("string", "uuid")
	case 9:
		return g.fixed()
	case 10:
		return g.enum()
	case 11:
		return `{"type":"array","items":` + g.typ(depth+1, true) + `}`
	case 12:
		return `{"type":"map","values":` + g.typ(depth+1, true) + `}`
	case 13:
		if len(g.defined) > 0 {
			return `"` + rapid.SampledFrom(g.defined).Draw(g.t, "named") + `"`
		}
		return `"string"`
	case 14:
		if unionOK {
			return g.union(depth)
		}
		return `"long"`
	default:
		return g.record(depth)
	}
}

func (g *schemaGen) primitive(base string, logicals ...string) string {
	if !g.logical || rapid.Bool().Draw(g.t, "plain") {
		return `"` + base + `"`
	}
	l := rapid.SampledFrom(logicals).Draw(g.t, "logical")
	if l == "decimal" {
		return `{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`
	}
	return `{"type":"` + base + `","logicalType":"` + l + `"}`
}

func (g *schemaGen) fixed() string {
	name := g.name("F")
	g.defined = append(g.defined, name)
	logical := ""
	size := rapid.SampledFrom([]int{1, 4, 12, 16, 40}).Draw(g.t, "size")
	if g.logical {
		switch size {
		case 12:
			logical = `,"logicalType":"duration"`
		case 16:
			logical = `,"logicalType":"uuid"`
		case 4:
			logical = `,"logicalType":"decimal","precision":9,"scale":3`
		}
	}
	return fmt.Sprintf(`{"type":"fixed","name":%q,"size":%d%s}`, name, size, logical)
}

func (g *schemaGen) enum() string {
	name := g.name("E")
	g.defined = append(g.defined, name)
	var symbols []string
	for i := range rapid.IntRange(1, 12).Draw(g.t, "symbols") {
		symbols = append(symbols, fmt.Sprintf("SYMBOL_%d", i))
	}
	b, _ := json.Marshal(symbols)
	return fmt.Sprintf(`{"type":"enum","name":%q,"symbols":%s}`, name, b)
}

func (g *schemaGen) union(depth int) string {
	s := ""
	add := func(b string) {
		if s != "" {
			s += ","
		}
		s += b
	}
	if rapid.Bool().Draw(g.t, "null first") {
		add(`"null"`)
	} else { // a branch with which recursion can end
		add(`"double"`)
	}
	for _, b := range []string{"int", "string", "array", "record", "enum", "self"} {
		if !rapid.Bool().Draw(g.t, b) {
			continue
		}
		switch b {
		case "array":
			add(`{"type":"array","items":` + g.typ(depth+2, false) + `}`)
		case "record":
			add(g.record(depth + 2))
		case "enum":
			add(g.enum())
		case "self":
			if len(g.open) > 0 {
				add(`"` + g.open[len(g.open)-1] + `"`)
			}
		default:
			add(`"` + b + `"`)
		}
	}
	return "[" + s + "]"
}

func (g *schemaGen) record(depth int) string {
	name := g.name("R")
	g.open = append(g.open, name)
	s := `{"type":"record","name":"` + name + `","fields":[`
	for i := range rapid.IntRange(0, 5).Draw(g.t, "fields") {
		if i > 0 {
			s += ","
		}
		field := fmt.Sprintf("f%d", i)
		if rapid.IntRange(0, 5).Draw(g.t, "long name") == 0 {
			field += "_with_a_name_that_does_not_fit_the_cell"
		}
		s += `{"name":"` + field + `","type":` + g.typ(depth+1, true) + `}`
	}
	g.open = g.open[:len(g.open)-1]
	g.defined = append(g.defined, name)
	return s + "]}"
}

// payloadGen writes random payloads of a schema.
type payloadGen struct {
	t *rapid.T
	// style of all lists: 0 mixes them with others that no encoder writes.
	style record.Style
	// plain: no values that oracles have other opinions on (NaN).
	plain bool
	items int // left for lists, so that payloads end
}

func (g *payloadGen) value(b []byte, t *Type, depth int) []byte {
	switch t.Kind {
	case KindBoolean:
		return append(b, byte(rapid.IntRange(0, 1).Draw(g.t, "bool")))
	case KindInt:
		return binary.AppendVarint(b, int64(rapid.Int32().Draw(g.t, "int")))
	case KindLong:
		return binary.AppendVarint(b, rapid.Int64().Draw(g.t, "long"))
	case KindFloat:
		v := rapid.Uint32().Draw(g.t, "float")
		if f := math.Float32frombits(v); g.plain && f != f {
			v = 0
		}
		return binary.LittleEndian.AppendUint32(b, v)
	case KindDouble:
		v := rapid.Uint64().Draw(g.t, "double")
		if f := math.Float64frombits(v); g.plain && f != f {
			v = 0
		}
		return binary.LittleEndian.AppendUint64(b, v)
	case KindBytes:
		return appendSized(b, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(g.t, "bytes"))
	case KindString:
		return appendSized(b, []byte(rapid.StringN(-1, 60, 100).Draw(g.t, "string")))
	case KindFixed:
		return append(b, rapid.SliceOfN(rapid.Byte(), t.Size, t.Size).Draw(g.t, "fixed")...)
	case KindEnum:
		return binary.AppendVarint(b, int64(rapid.IntRange(0, len(t.Symbols)-1).Draw(g.t, "symbol")))
	case KindRecord:
		for i := range t.Fields {
			b = g.value(b, t.Fields[i].Type, depth+1)
		}
		return b
	case KindUnion:
		n := rapid.IntRange(0, len(t.Branches)-1).Draw(g.t, "branch")
		if depth > 12 { // end recursion with a branch that isn't a record, if there is one
			for i, br := range t.Branches {
				if br.Kind != KindRecord && br.Kind != KindArray {
					n = i
				}
			}
		}
		return g.value(binary.AppendVarint(b, int64(n)), t.Branches[n], depth+1)
	case KindArray, KindMap:
		return g.list(b, t, depth)
	}
	return b
}

func appendSized(b, v []byte) []byte { return append(binary.AppendVarint(b, int64(len(v))), v...) }

func (g *payloadGen) list(b []byte, t *Type, depth int) []byte {
	n := rapid.SampledFrom([]int{0, 1, 2, 3, 70, 100, 101, 250}).Draw(g.t, "items")
	if n > g.items || depth > 12 {
		n = 0
	}
	g.items -= n
	for n > 0 {
		block, sized := n, g.style == record.StyleCounted
		if sized {
			block = min(n, record.CountedBlockItems)
		}
		if g.style == record.StyleOriginal {
			block = rapid.IntRange(1, n).Draw(g.t, "block")
			sized = rapid.Bool().Draw(g.t, "sized")
		}
		var content []byte
		for range block {
			if t.Kind == KindMap {
				content = appendSized(content, []byte(rapid.StringN(-1, 8, 20).Draw(g.t, "key")))
			}
			content = g.value(content, t.Items, depth+1)
		}
		if sized && (len(content) > 0 || g.style == record.StyleOriginal) {
			b = binary.AppendVarint(binary.AppendVarint(b, -int64(block)), int64(len(content)))
		} else {
			b = binary.AppendVarint(b, int64(block))
		}
		b = append(b, content...)
		n -= block
	}
	return append(b, 0)
}
