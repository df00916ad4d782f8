package avro

import (
	"math"

	"milena/serde/record"
)

// Limits of programs. They are part of what is valid for a topic, so they are
// constants: a payload must not be readable on one server and refused on
// another.
const (
	// ProgramDepthMax is the greatest number of records, arrays, maps and
	// unions of several branches that a value may stand in. Each is two or
	// three messages in the map form.
	ProgramDepthMax = 128
	// ProgramEmptyItemsMax is the greatest number, in one payload, of array
	// items that may take no bytes at all (nulls, empty records). Others are
	// bounded by the payload's size.
	ProgramEmptyItemsMax = 1 << 16
	// A packed value may have packedBytesFree bytes and packedBytesFactor more
	// for each byte of payload: negative ints grow elevenfold, enum symbols and
	// records of nulls without a bound of their own.
	packedBytesFree   = 1 << 20
	packedBytesFactor = 64
	// The same from packed to map form, where names come in.
	mapFormBytesFree   = 1 << 20
	mapFormBytesFactor = 256
)

// Program is a schema compiled for both directions: a flat table of operations
// that one loop runs over. It is immutable and safe for concurrent use, never
// panics on any payload, and allocates nothing if the destinations are large
// enough. What lies between the length and the capacity of a destination is
// scratch: it may be overwritten beyond what is appended.
type Program struct {
	ops   []op
	cells []cell // beside ops: names, for the map form and for error paths
	enums []enumTable
	tails [][]byte // what follows the unscaled value in a decimal's message
	root  span     // the fields of a top-level record, else one operation
	typ   *record.Type
}

// span is a run of operations in the table.
type span struct{ first, count int32 }

// opcode says what an operation reads and writes.
type opcode uint8

const (
	opNull opcode = iota
	opBool
	opInt
	opLong
	opFloat
	opDouble
	opBytes
	opString
	opRecord
	// What follows is out of the hot loop.
	opFixed
	opEnum
	opDate
	opTimeMillis
	opTimeMicros
	opTimestampMillis
	opTimestampMicros
	opDecimal
	opDecimalFixed
	opBigDecimal
	opArray
	opMap
	opUnion
	opBareBytes // the rest of the payload
)

// noBranch is the encoded index of a branch that a union does not have.
const noBranch = 0xff

// op is one operation: one value of the schema.
type op struct {
	code opcode
	// opt: the value is a union of null and this, or of this alone. nullByte
	// and someByte are the encoded branch indexes.
	opt                bool
	nullByte, someByte byte
	// tag that the packed value has; alt is a second one, for logical types
	// whose values don't all fit the first, or tag again.
	tag, alt byte
	utc      bool // timestamps
	// sub are the operations of fields, of the item, of key and value, or of
	// the branches.
	sub span
	// n: size of a fixed type in bytes, or the null branch of a union or -1.
	n int32
	// aux: index in enums or tails.
	aux int32
	// min is the least number of bytes that the value takes, or a lower bound;
	// itemMin is the same for one item or entry of an array or map.
	min, itemMin int32
}

// enumTable holds the packed forms of an enum's symbols.
type enumTable struct {
	packed  [][]byte
	symbols []string
	index   map[string]int32 // nil for small enums, where a scan is faster
}

// role says what an operation's value is to its parent, for error paths.
type role uint8

const (
	roleRoot role = iota
	roleField
	roleItem
	roleBranch
)

// cell holds the name of a field or branch as the map form writes it: tag and
// length of the entry, tag, length and text of the key, tag and length of the
// value. The two lengths outside are patched after the copy.
type cell struct {
	short  [cellBytes]byte // prefix, if it fits
	shortN uint8           // its length, 0 if it doesn't
	role   role
	name   string
	long   []byte // prefix, if it doesn't fit
}

// cellBytes is the size of a prefix that is copied in one fixed-size move.
const cellBytes = 32

// slack is the free space before each operation: enough for every scalar and
// for fixed-size moves beyond the end.
const slack = 96

// Compile returns the program of s. It fails only if the schema holds a type
// that the parser does not produce.
func Compile(s *Schema) (*Program, error) {
	return compileType(s.Root())
}

// RecordType returns the typed columns of the schema.
func (p *Program) RecordType() *record.Type { return p.typ }

// Decode validates payload (without its envelope) and appends its packed value
// to dst. The style says how to rebuild the payload: for any but
// record.StyleOriginal, Encode gives back exactly its bytes. On error dst is
// returned as it was and the error is a *record.DataError.
func (p *Program) Decode(dst, payload []byte) ([]byte, record.Style, error) {
	return p.DecodeMax(dst, payload, math.MaxInt)
}

// DecodeMax is Decode for callers with room for bytesMax bytes: a value that
// needs more is record.ErrNoRoom, before more was allocated than twice that. A
// few hundred bytes of the room may stay unused.
func (p *Program) DecodeMax(dst, payload []byte, bytesMax int) ([]byte, record.Style, error) {
	valid := packedBytesFree + packedBytesFactor*len(payload)
	r := run{p: p, ops: p.ops, src: payload, empty: ProgramEmptyItemsMax, styles: canBePlain | canBeCounted,
		limit: len(dst) + min(valid, bytesMax)}
	n := min(len(payload), 32)
	copy(r.tail[32-n:], payload[len(payload)-n:])
	d, w, pos := r.values(p.root, 1, dst[:cap(dst)], len(dst), 0, 0)
	switch {
	case pos < 0:
	case pos != len(payload):
		r.reason, r.at = record.ReasonTrailing, pos
	case w > r.limit:
		r.reason, r.at = record.ReasonTooLarge, pos
	default:
		return d[:w], r.style(), nil
	}
	if r.reason == record.ReasonTooLarge && bytesMax < valid {
		return dst, record.StyleOriginal, record.ErrNoRoom
	}
	return dst, record.StyleOriginal, r.err()
}

// Encode appends the payload that packed was decoded from, in the given style.
// On error dst is returned as it was and the error is a *record.DataError:
// packed doesn't fit the schema, or style isn't one that rebuilds.
func (p *Program) Encode(dst, packed []byte, style record.Style) ([]byte, error) {
	if style != record.StyleCanonical && style != record.StyleCounted {
		return dst, &record.DataError{Reason: record.ReasonStyle}
	}
	r := run{p: p, ops: p.ops, src: packed, counted: style == record.StyleCounted, limit: noLimit}
	d, w, pos, left := r.rebuild(p.root, 1, dst[:cap(dst)], len(dst), 0, len(packed), 0)
	return r.finish(dst, d, w, pos, left)
}

// AppendRecordValue appends the map form of packed: the wire bytes of a
// milena.record.v1.RecordValue. On error dst is returned as it was and the
// error is a *record.DataError.
func (p *Program) AppendRecordValue(dst, packed []byte) ([]byte, error) {
	r := run{p: p, ops: p.ops, src: packed,
		limit: len(dst) + mapFormBytesFree + mapFormBytesFactor*len(packed)}
	d, w, pos, left := r.entries(p.root, dst[:cap(dst)], len(dst), 0, len(packed), 0)
	if pos >= 0 && w > r.limit {
		_, _, pos = r.fail(d, w, pos, record.ReasonTooLarge)
	}
	return r.finish(dst, d, w, pos, left)
}

// finish ends a run over packed values: left is 1 if the root was missing.
func (r *run) finish(dst, d []byte, w, pos, left int) ([]byte, error) {
	switch {
	case pos < 0:
	case left != 0:
		r.reason, r.at = record.ReasonPacked, pos
	case pos != len(r.src):
		r.reason, r.at = record.ReasonTrailing, pos
	default:
		return d[:w], nil
	}
	return dst, r.err()
}
