package avro

import (
	"encoding/binary"
	"math"

	"milena/serde/record"
)

// rebuild runs the operations of s, at most times times over, from position p
// of the packed values to end, and writes the payload at w. It returns the
// buffer, the positions behind what was written and read, the latter negative
// on error, and how many times were left when the end came. It stops only
// between two times. Like values it is one long loop on purpose; what is rare is
// in rebuildValue.
func (r *run) rebuild(s span, times int, d []byte, w, p, end, depth int) ([]byte, int, int, int) {
	ops := r.ops[s.first : s.first+s.count]
	src := r.src[:end]
	for n := times; n > 0; n-- {
		if p == end && len(ops) > 0 {
			return d, w, p, n
		}
		for i := range ops {
			o := &ops[i]
			if len(d)-w < slack {
				d = r.grow(d, w, slack)
			}
			if uint(p) >= uint(len(src)) {
				r.fail(d, w, p, record.ReasonPacked)
				return r.upPacked(d, w, s.first+int32(i), times-n)
			}
			tag := src[p]
			if o.opt {
				if tag == record.TagNull {
					d[w] = o.nullByte
					w++
					p++
					if o.nullByte == noBranch {
						r.fail(d, w, p, record.ReasonPacked)
						return r.upPacked(d, w, s.first+int32(i), times-n)
					}
					continue
				}
				d[w] = o.someByte
				w++
			}
			if tag != o.tag && tag != o.alt && (o.code != opUnion || tag != record.TagNull) {
				r.fail(d, w, p, record.ReasonPacked)
				return r.upPacked(d, w, s.first+int32(i), times-n)
			}
			p++
			switch o.code {
			case opString, opBytes:
				var l int
				if p < len(src) && src[p] < 0x40 && int(src[p]) < len(src)-p {
					l = int(src[p])
					p++
					d[w] = byte(l << 1)
					w++
					if l <= 32 && p+32 <= len(r.src) {
						*(*[32]byte)(d[w:]) = *(*[32]byte)(r.src[p:])
						w += l
						p += l
						continue
					}
				} else if l, p = r.size(p, end); p < 0 {
					return r.upPacked(d, w, s.first+int32(i), times-n)
				} else {
					w = putVarint(d, w, uint64(l)<<1)
				}
				if len(d)-w < l+slack {
					d = r.grow(d, w, l+slack)
				}
				w += copy(d[w:], src[p:p+l])
				p += l
			case opLong:
				var v uint64
				if v, p = r.varint(p); p < 0 || p > end {
					return r.failPacked(d, w, s.first+int32(i), times-n)
				}
				w = putVarint(d, w, zig(int64(v)))
			case opInt:
				var v uint64
				if v, p = r.varint(p); p < 0 || p > end || int64(v) != int64(int32(v)) {
					return r.failPacked(d, w, s.first+int32(i), times-n)
				}
				w = putVarint(d, w, zig(int64(v)))
			case opDouble:
				if end-p < 8 {
					return r.failPacked(d, w, s.first+int32(i), times-n)
				}
				binary.LittleEndian.PutUint64(d[w:], binary.LittleEndian.Uint64(src[p:]))
				w += 8
				p += 8
			case opBool:
				if p >= end || src[p] > 1 {
					return r.failPacked(d, w, s.first+int32(i), times-n)
				}
				d[w] = src[p]
				w++
				p++
			default:
				if d, w, p = r.rebuildValue(o, tag, d, w, p, end, depth); p < 0 {
					return r.upPacked(d, w, s.first+int32(i), times-n)
				}
			}
		}
	}
	return d, w, p, 0
}

// upPacked is up for walks over packed values.
func (r *run) upPacked(d []byte, w int, at int32, item int) ([]byte, int, int, int) {
	r.up(d, w, at, item)
	return d, w, -1, 0
}

// failPacked notes that the packed value of operation at doesn't fit it.
func (r *run) failPacked(d []byte, w int, at int32, item int) ([]byte, int, int, int) {
	r.reason = record.ReasonPacked
	return r.upPacked(d, w, at, item)
}

// size reads the length of content at p that ends at end or before, and returns
// it with the position of the content.
func (r *run) size(p, end int) (int, int) {
	v, q := r.varint(p)
	if q < 0 || q > end || v > uint64(end-q) {
		r.reason, r.at = record.ReasonPacked, p
		return 0, -1
	}
	return int(v), q
}

// rebuildValue rebuilds what the hot loop leaves out: the value whose tag is
// before p.
func (r *run) rebuildValue(o *op, tag byte, d []byte, w, p, end, depth int) ([]byte, int, int) {
	switch o.code {
	case opNull:
		return d, w, p
	case opFloat:
		if end-p < 4 {
			return r.fail(d, w, p, record.ReasonPacked)
		}
		binary.LittleEndian.PutUint32(d[w:], binary.LittleEndian.Uint32(r.src[p:]))
		return d, w + 4, p + 4
	case opUnion:
		if tag == record.TagNull {
			return r.rebuildNull(o, d, w, p)
		}
	case opTimestampMillis:
		if tag == record.TagInt64 {
			v, q := r.varint(p)
			if q < 0 || q > end {
				return r.fail(d, w, p, record.ReasonPacked)
			}
			return d, putVarint(d, w, zig(int64(v))), q
		}
	}
	l, q := r.size(p, end)
	if q < 0 {
		return d, w, -1
	}
	b := r.src[q : q+l]
	switch o.code {
	case opRecord, opArray, opMap, opUnion:
		return r.rebuildNested(o, d, w, q, q+l, depth)
	case opEnum:
		i := r.p.enums[o.aux].find(b)
		if i < 0 {
			return r.fail(d, w, p, record.ReasonPacked)
		}
		return d, putVarint(d, w, uint64(i)<<1), q + l
	case opFixed:
		if l != int(o.n) {
			return r.fail(d, w, p, record.ReasonPacked)
		}
		return r.putRaw(d, w, b, q+l)
	case opBareBytes:
		return r.putRaw(d, w, b, q+l)
	case opDecimal, opDecimalFixed, opBigDecimal:
		return r.rebuildDecimal(o, tag, d, w, b, q+l)
	default:
		v, ok := scalarField(b)
		if o.code == opTimeMillis || o.code == opTimestampMillis {
			ok = ok && v%1000 == 0
			v /= 1000
		}
		if o.code == opDate || o.code == opTimeMillis {
			ok = ok && v >= math.MinInt32 && v <= math.MaxInt32
		}
		if !ok {
			return r.fail(d, w, p, record.ReasonPacked)
		}
		return d, putVarint(d, w, zig(v)), q + l
	}
}

// scalarField returns the first field of the message of a timestamp, date or
// time. What follows it (is_utc) is the schema's.
func scalarField(b []byte) (int64, bool) {
	if len(b) == 0 || b[0] != field1Varint {
		return 0, true
	}
	v, n := binary.Uvarint(b[1:])
	return int64(v), n > 0
}

// putRaw writes b as it is.
func (r *run) putRaw(d []byte, w int, b []byte, p int) ([]byte, int, int) {
	if len(d)-w < len(b)+slack {
		d = r.grow(d, w, len(b)+slack)
	}
	return d, w + copy(d[w:], b), p
}

// putSized writes the length of b and b.
func (r *run) putSized(d []byte, w int, b []byte, p int) ([]byte, int, int) {
	return r.putRaw(d, putVarint(d, w, uint64(len(b))<<1), b, p)
}

// rebuildNull writes the index of a union's null branch.
func (r *run) rebuildNull(o *op, d []byte, w, p int) ([]byte, int, int) {
	if o.n < 0 {
		return r.fail(d, w, p, record.ReasonPacked)
	}
	return d, putVarint(d, w, uint64(o.n)<<1), p
}

// rebuildDecimal rebuilds the three kinds of decimals from the content b of
// their message, or of bytes.
func (r *run) rebuildDecimal(o *op, tag byte, d []byte, w int, b []byte, p int) ([]byte, int, int) {
	if tag == record.TagBytes { // a big-decimal whose content was none
		return r.putSized(d, w, b, p)
	}
	it := record.Item{Tag: tag, Content: b}
	v, err := it.Decimal()
	switch {
	case err != nil, o.code == opDecimalFixed && len(v.Unscaled) != int(o.n):
		return r.fail(d, w, p, record.ReasonPacked)
	case o.code == opDecimalFixed:
		return r.putRaw(d, w, v.Unscaled, p)
	case o.code == opDecimal:
		return r.putSized(d, w, v.Unscaled, p)
	}
	n, scale := len(v.Unscaled), zig(int64(v.Scale))
	w = putVarint(d, w, uint64(varintLen(uint64(n)<<1)+n+varintLen(scale))<<1)
	d, w, p = r.putSized(d, w, v.Unscaled, p)
	return d, putVarint(d, w, scale), p
}
