package avro

import (
	"encoding/binary"
	"math"

	"milena/serde/record"
)

// Tags of the fields inside the messages of scalars.
const (
	field1Varint = 1 << 3
	field1Bytes  = 1<<3 | 2
	field2Varint = 2 << 3
)

// value reads what the hot loop leaves out. d has slack bytes left.
func (r *run) value(o *op, d []byte, w, p, depth int) ([]byte, int, int) {
	switch o.code {
	case opNull:
		d[w] = record.TagNull
		return d, w + 1, p
	case opUnion:
		return r.union(o, d, w, p, depth)
	case opBytes:
		l, q := r.length(p)
		if q < 0 {
			return d, w, -1
		}
		d[w] = record.TagBytes
		return r.copyBytes(d, w+1, q, l)
	case opFixed:
		if int(o.n) > len(r.src)-p {
			return r.fail(d, w, p, record.ReasonTruncated)
		}
		d[w] = record.TagBytes
		return r.copyBytes(d, w+1, p, int(o.n))
	case opBareBytes:
		d[w] = record.TagBytes
		return r.copyBytes(d, w+1, p, len(r.src)-p)
	case opDecimal, opDecimalFixed, opBigDecimal:
		return r.decimal(o, d, w, p)
	case opFloat:
		if len(r.src)-p < 4 {
			return r.fail(d, w, p, record.ReasonTruncated)
		}
		d[w] = record.TagFloat
		binary.LittleEndian.PutUint32(d[w+1:], binary.LittleEndian.Uint32(r.src[p:]))
		return d, w + 5, p + 4
	default: // opDate, opTimeMillis
		v, q := r.varint32(p)
		if q < 0 {
			return d, w, -1
		}
		if o.code == opDate {
			return d, putSmall(d, w, record.TagDate, uint64(unzig(v))), q
		}
		return d, putSmall(d, w, record.TagTime, uint64(unzig(v)*1000)), q
	}
}

// putSmall writes a message with one varint field.
func putSmall(d []byte, w int, tag byte, v uint64) int {
	d[w], d[w+1] = tag, 0
	if v == 0 {
		return w + 2
	}
	d[w+2] = field1Varint
	e := putVarint(d, w+3, v)
	d[w+1] = byte(e - w - 2)
	return e
}

// millisMax is the greatest number of milliseconds whose microseconds fit 64
// bits.
const millisMax = math.MaxInt64 / 1000

// putTime writes a time of day in microseconds, or a timestamp.
func putTime(o *op, d []byte, w int, v int64) int {
	switch {
	case o.code == opTimeMicros:
		return putSmall(d, w, record.TagTime, uint64(v))
	case o.code == opTimestampMillis && (v > millisMax || v < -millisMax):
		d[w] = record.TagInt64
		return putVarint(d, w+1, uint64(v))
	case o.code == opTimestampMillis:
		v *= 1000
	}
	e := putSmall(d, w, record.TagTimestamp, uint64(v))
	if o.utc {
		d[e], d[e+1] = field2Varint, 1
		e += 2
		d[w+1] += 2
	}
	return e
}

// enum reads the position of a symbol.
func (r *run) enum(o *op, d []byte, w, p int) ([]byte, int, int) {
	v, q := r.small(p)
	if q < 0 {
		return d, w, -1
	}
	packed := r.p.enums[o.aux].packed
	if v&1 != 0 || v>>1 >= uint64(len(packed)) {
		return r.fail(d, w, p, record.ReasonSymbol)
	}
	b := packed[v>>1]
	if cap(b) >= cellBytes && len(b) <= cellBytes {
		*(*[cellBytes]byte)(d[w:]) = *(*[cellBytes]byte)(b[:cellBytes])
		return d, w + len(b), q
	}
	if len(d)-w < len(b) {
		if d = r.grow(d, w, len(b)); len(d)-w < len(b) {
			return r.fail(d, w, p, record.ReasonTooLarge)
		}
	}
	return d, w + copy(d[w:], b), q
}

// decimal reads the three kinds of decimals.
func (r *run) decimal(o *op, d []byte, w, p int) ([]byte, int, int) {
	l, q := int(o.n), p
	if o.code != opDecimalFixed {
		if l, q = r.length(p); q < 0 {
			return d, w, -1
		}
	} else if l > len(r.src)-p {
		return r.fail(d, w, p, record.ReasonTruncated)
	}
	if o.code == opBigDecimal {
		return r.bigDecimal(d, w, q, l)
	}
	return r.putDecimal(d, w, r.src[q:q+l], r.p.tails[o.aux], q+l)
}

// putDecimal writes a decimal_value of the unscaled value v and the tail.
func (r *run) putDecimal(d []byte, w int, v, tail []byte, p int) ([]byte, int, int) {
	if need := len(v) + slack; len(d)-w < need {
		if d = r.grow(d, w, need); len(d)-w < need {
			return r.fail(d, w, p, record.ReasonTooLarge)
		}
	}
	d[w] = record.TagDecimal
	if n := len(v) - 1; uint(n) < 16 && len(tail) <= 16 && cap(tail) >= 16 {
		// The usual sizes, in fixed-size moves; both lengths take one byte.
		d[w+1], d[w+2], d[w+3] = byte(2+len(v)+len(tail)), field1Bytes, byte(len(v))
		w += 4
		w += copy(d[w:], v)
		*(*[16]byte)(d[w:]) = *(*[16]byte)(tail[:16])
		return d, w + len(tail), p
	}
	if len(v) == 0 {
		w = putVarint(d, w+1, uint64(len(tail)))
	} else {
		w = putVarint(d, w+1, uint64(1+varintLen(uint64(len(v)))+len(v)+len(tail)))
		d[w] = field1Bytes
		w = putVarint(d, w+1, uint64(len(v)))
		w += copy(d[w:], v)
	}
	return d, w + copy(d[w:], tail), p
}

// bigDecimal reads the content of a big-decimal: an unscaled value with its
// length, then its scale. Content in any other form stays bytes.
func (r *run) bigDecimal(d []byte, w, p, l int) ([]byte, int, int) {
	inner := run{src: r.src[p : p+l], styles: canBePlain}
	n, q := inner.length(0)
	if q >= 0 {
		if scale, e := inner.varint32(q + n); e == l && inner.styles != 0 {
			var tail [16]byte // a tag and ten bytes at most
			return r.putDecimal(d, w, inner.src[q:q+n], record.AppendDecimalTail(tail[:0], 0, int32(unzig(scale))), p+l)
		}
	}
	d[w] = record.TagBytes
	return r.copyBytes(d, w+1, p, l)
}
