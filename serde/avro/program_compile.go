package avro

import (
	"encoding/binary"
	"fmt"
	"math"

	"milena/serde/record"
)

// compiler builds a program. Each named type is compiled once; other types as
// often as they occur, so the table is as long as the schema text.
type compiler struct {
	p       *Program
	records map[*Type]span
	enums   map[*Type]int32
	mins    map[*Type]int32
}

// compileType returns the program of the schema whose top-level type is t.
func compileType(t *Type) (*Program, error) {
	c := compiler{
		p:       &Program{typ: recordType(t)},
		records: map[*Type]span{}, enums: map[*Type]int32{}, mins: map[*Type]int32{},
	}
	root := c.reserve(1)
	c.name(root.first, record.BareField, roleRoot)
	if err := c.value(root.first, t); err != nil {
		return nil, fmt.Errorf("compile avro schema: %w", err)
	}
	switch o := &c.p.ops[root.first]; t.Kind {
	case KindRecord:
		c.p.root = o.sub
	case KindBytes:
		// Confluent's Java serializer and all that follow it write top-level
		// bytes bare, whatever their logical type.
		*o = op{code: opBareBytes, tag: record.TagBytes, alt: record.TagBytes}
		c.p.root = root
	default:
		c.p.root = root
	}
	return c.p, nil
}

// reserve adds n empty operations.
func (c *compiler) reserve(n int) span {
	s := span{int32(len(c.p.ops)), int32(n)}
	c.p.ops = append(c.p.ops, make([]op, n)...)
	c.p.cells = append(c.p.cells, make([]cell, n)...)
	return s
}

// name fills the cell of operation i.
func (c *compiler) name(i int32, name string, as role) {
	prefix := binary.AppendUvarint([]byte{entryTag, 0, keyTag}, uint64(len(name)))
	prefix = append(append(prefix, name...), valueTag, 0)
	e := &c.p.cells[i]
	e.name, e.role = name, as
	if len(prefix) <= cellBytes {
		copy(e.short[:], prefix)
		e.shortN = uint8(len(prefix))
	} else {
		e.long = prefix
	}
}

// scalars are the operations of the primitive types.
var scalars = [...]op{
	KindNull:    {code: opNull, tag: record.TagNull},
	KindBoolean: {code: opBool, tag: record.TagBool},
	KindInt:     {code: opInt, tag: record.TagInt32},
	KindLong:    {code: opLong, tag: record.TagInt64},
	KindFloat:   {code: opFloat, tag: record.TagFloat},
	KindDouble:  {code: opDouble, tag: record.TagDouble},
	KindBytes:   {code: opBytes, tag: record.TagBytes},
	KindString:  {code: opString, tag: record.TagString},
}

// logicals are the operations of the logical types that have one of their own;
// the others are stored as their base types.
var logicals = [...]op{
	LogicalDate:                 {code: opDate, tag: record.TagDate},
	LogicalTimeMillis:           {code: opTimeMillis, tag: record.TagTime},
	LogicalTimeMicros:           {code: opTimeMicros, tag: record.TagTime},
	LogicalTimestampMillis:      {code: opTimestampMillis, tag: record.TagTimestamp, alt: record.TagInt64, utc: true},
	LogicalTimestampMicros:      {code: opTimestampMicros, tag: record.TagTimestamp, utc: true},
	LogicalLocalTimestampMillis: {code: opTimestampMillis, tag: record.TagTimestamp, alt: record.TagInt64},
	LogicalLocalTimestampMicros: {code: opTimestampMicros, tag: record.TagTimestamp},
	LogicalDecimal:              {code: opDecimal, tag: record.TagDecimal},
	LogicalBigDecimal:           {code: opBigDecimal, tag: record.TagDecimal, alt: record.TagBytes},
}

// value compiles t into operation i.
func (c *compiler) value(i int32, t *Type) error {
	if t.Kind == KindUnion && len(t.Branches) <= 2 {
		if done, err := c.optional(i, t); done || err != nil {
			return err
		}
	}
	o := op{min: c.min(t)}
	var err error
	switch t.Kind {
	case KindRecord:
		o.code, o.tag = opRecord, record.TagList
		o.sub, err = c.record(t)
	case KindArray, KindMap:
		o.code, o.tag = opArray, record.TagList
		n := 1
		if t.Kind == KindMap {
			o.code, n = opMap, 2
		}
		o.sub = c.reserve(n)
		for k := range o.sub.count {
			c.name(o.sub.first+k, "", roleItem)
		}
		if n == 2 {
			key := scalars[KindString]
			key.alt, key.min = key.tag, 1
			c.p.ops[o.sub.first] = key
		}
		err = c.value(o.sub.first+int32(n)-1, t.Items)
		o.itemMin = c.p.ops[o.sub.first+int32(n)-1].min
		if t.Kind == KindMap {
			o.itemMin = clamp32(1 + int(o.itemMin))
		}
	case KindUnion:
		o.code, o.tag = opUnion, record.TagList
		o.n, o.sub, err = c.union(t)
	case KindEnum:
		o.code, o.tag = opEnum, record.TagString
		o.aux = c.enum(t)
	case KindFixed:
		o.code, o.tag = opFixed, record.TagBytes
		if t.Logical == LogicalDecimal {
			o.code, o.tag, o.aux = opDecimalFixed, record.TagDecimal, c.tail(t)
		}
		o.n = int32(t.Size)
	default:
		o, err = c.primitive(t)
	}
	if o.alt == 0 {
		o.alt = o.tag
	}
	c.p.ops[i] = o
	return err
}

// primitive returns the operation of a primitive type with its logical type.
func (c *compiler) primitive(t *Type) (op, error) {
	if !t.Kind.IsPrimitive() {
		return op{}, fmt.Errorf("type of unknown kind %d", t.Kind)
	}
	o := scalars[t.Kind]
	if int(t.Logical) < len(logicals) && logicals[t.Logical].code != opNull {
		o = logicals[t.Logical]
		if t.Logical == LogicalDecimal {
			o.aux = c.tail(t)
		}
	}
	o.min = c.min(t)
	return o, nil
}

// optional compiles a union of null and one other type, or of that alone, as
// that type with a branch index before it. It reports false for other unions.
func (c *compiler) optional(i int32, t *Type) (bool, error) {
	null, some := -1, -1
	for k, b := range t.Branches {
		if b.Kind == KindNull {
			null = k
		} else if some < 0 {
			some = k
		} else {
			return false, nil
		}
	}
	if some < 0 {
		return false, nil
	}
	if err := c.value(i, t.Branches[some]); err != nil {
		return true, err
	}
	o := &c.p.ops[i]
	o.opt, o.someByte, o.nullByte = true, byte(some<<1), noBranch
	o.min = 1
	if null >= 0 {
		o.nullByte = byte(null << 1)
	}
	return true, nil
}

// record compiles the fields of t, once.
func (c *compiler) record(t *Type) (span, error) {
	if s, ok := c.records[t]; ok {
		return s, nil
	}
	s := c.reserve(len(t.Fields))
	c.records[t] = s
	for k := range t.Fields {
		i := s.first + int32(k)
		c.name(i, t.Fields[k].Name, roleField)
		if err := c.value(i, t.Fields[k].Type); err != nil {
			return s, err
		}
	}
	return s, nil
}

// union compiles the branches of t and returns the null branch, or -1.
func (c *compiler) union(t *Type) (int32, span, error) {
	s, null := c.reserve(len(t.Branches)), int32(-1)
	for k, b := range t.Branches {
		i := s.first + int32(k)
		if b.Kind == KindNull {
			null = int32(k)
		}
		c.name(i, b.FullName(), roleBranch)
		if err := c.value(i, b); err != nil {
			return null, s, err
		}
	}
	return null, s, nil
}

// enumScanMax is the number of symbols up to which a scan finds one faster
// than a map does.
const enumScanMax = 8

// enum returns the table of t.
func (c *compiler) enum(t *Type) int32 {
	if i, ok := c.enums[t]; ok {
		return i
	}
	e := enumTable{symbols: t.Symbols}
	for _, s := range t.Symbols {
		e.packed = append(e.packed, record.AppendString(make([]byte, 0, cellBytes), s))
	}
	if len(t.Symbols) > enumScanMax {
		e.index = make(map[string]int32, len(t.Symbols))
		for i, s := range t.Symbols {
			e.index[s] = int32(i)
		}
	}
	i := int32(len(c.p.enums))
	c.p.enums = append(c.p.enums, e)
	c.enums[t] = i
	return i
}

// find returns the position of symbol, or -1.
func (e *enumTable) find(symbol []byte) int32 {
	if e.index != nil {
		if i, ok := e.index[string(symbol)]; ok {
			return i
		}
		return -1
	}
	for i, s := range e.symbols {
		if s == string(symbol) {
			return int32(i)
		}
	}
	return -1
}

// tail returns the index of the end of t's decimal messages.
func (c *compiler) tail(t *Type) int32 {
	c.p.tails = append(c.p.tails, record.AppendDecimalTail(make([]byte, 0, 16), clamp32(t.Precision), clamp32(t.Scale)))
	return int32(len(c.p.tails) - 1)
}

func clamp32(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// min returns the least number of bytes that a value of t takes, or less for
// types that contain themselves without a union or array between, whose values
// would never end.
func (c *compiler) min(t *Type) int32 {
	switch t.Kind {
	case KindNull:
		return 0
	case KindFloat:
		return 4
	case KindDouble:
		return 8
	case KindFixed:
		return int32(min(t.Size, math.MaxInt32))
	case KindRecord:
		if n, ok := c.mins[t]; ok {
			return n
		}
		c.mins[t] = 0
		var n int64
		for k := range t.Fields {
			n += int64(c.min(t.Fields[k].Type))
		}
		c.mins[t] = int32(min(n, math.MaxInt32))
		return c.mins[t]
	default:
		return 1
	}
}
