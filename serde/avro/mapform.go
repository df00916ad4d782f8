package avro

import (
	"encoding/binary"

	"milena/serde/record"
)

// Tags of the map form: an entry of RecordValue.fields, its key and its value,
// and an item of ListValue.values.
const (
	entryTag = 1<<3 | 2
	keyTag   = 1<<3 | 2
	valueTag = 2<<3 | 2
	itemTag  = 1<<3 | 2
)

// entries writes the fields of s as entries of a RecordValue, from the packed
// values between p and end. It returns what rebuild returns.
func (r *run) entries(s span, d []byte, w, p, end, depth int) ([]byte, int, int, int) {
	for i := s.first; i < s.first+s.count; i++ {
		if p >= end {
			r.fail(d, w, p, record.ReasonPacked)
			return r.upPacked(d, w, i, 0)
		}
		var start int
		if d, start, w = r.prefix(d, w, &r.p.cells[i]); w < 0 {
			r.reason, r.at = record.ReasonTooLarge, p
			return r.upPacked(d, start, i, 0)
		}
		if d, w, p = r.entryValue(&r.ops[i], d, start, w, p, end, depth); p < 0 {
			return r.upPacked(d, w, i, 0)
		}
	}
	return d, w, p, 0
}

// prefix writes the prefix of an entry. It returns where the entry's length is
// and where the value begins, the latter negative if there is no room.
func (r *run) prefix(d []byte, w int, c *cell) ([]byte, int, int) {
	if need := len(c.long) + cellBytes + slack; len(d)-w < need {
		if d = r.grow(d, w, need); len(d)-w < need {
			return d, w, -1
		}
	}
	if c.shortN != 0 {
		*(*[cellBytes]byte)(d[w:]) = c.short
		return d, w + 1, w + int(c.shortN)
	}
	return d, w + 1, w + copy(d[w:], c.long)
}

// entryValue writes the value of an entry whose prefix is written, and fills in
// the two lengths: the entry's, a byte at position at, and the value's, the
// byte before w.
func (r *run) entryValue(o *op, d []byte, at, w, p, end, depth int) ([]byte, int, int) {
	v := w
	d, w, p = r.mapValue(o, d, w, p, end, depth)
	if p < 0 {
		return d, w, -1
	}
	if n := w - at - 1; n < 0x80 {
		d[v-1] = byte(w - v)
		d[at] = byte(n)
		return d, w, p
	}
	if d, w, p = r.end(d, w, v, p); p < 0 {
		return d, w, -1
	}
	return r.end(d, w, at+1, p)
}

// mapValue writes the packed value at p as the content of a Value: nothing for
// null, a scalar's bytes as they are, and nested values with their names.
func (r *run) mapValue(o *op, d []byte, w, p, end, depth int) ([]byte, int, int) {
	src := r.src[:end]
	if p >= len(src) {
		return r.fail(d, w, p, record.ReasonPacked)
	}
	tag := src[p]
	if tag == record.TagNull && (o.opt && o.nullByte != noBranch || o.code == opNull || o.code == opUnion && o.n >= 0) {
		return d, w, p + 1
	}
	if tag != o.tag && tag != o.alt {
		return r.fail(d, w, p, record.ReasonPacked)
	}
	q := p + 1
	switch tag {
	case record.TagBool, record.TagInt32, record.TagInt64:
		for q < len(src) && src[q] >= 0x80 {
			q++
		}
		q++
		if q-p > 1+binary.MaxVarintLen64 {
			q = end + 1
		}
	case record.TagFloat:
		q += 4
	case record.TagDouble:
		q += 8
	default:
		l, c := r.size(q, end)
		if c < 0 {
			return d, w, -1
		}
		q = c + l
		if tag == record.TagList {
			return r.mapNested(o, d, w, c, q, depth)
		}
	}
	if q > end {
		return r.fail(d, w, p, record.ReasonPacked)
	}
	if len(d)-w < q-p+slack {
		if d = r.grow(d, w, q-p+slack); len(d)-w < q-p+slack {
			return r.fail(d, w, p, record.ReasonTooLarge)
		}
	}
	if q-p <= 32 && p+32 <= len(r.src) {
		*(*[32]byte)(d[w:]) = *(*[32]byte)(r.src[p:])
		return d, w + q - p, q
	}
	return d, w + copy(d[w:], src[p:q]), q
}

// mapNested writes a record, list, map or union branch from the packed values
// between p and end.
func (r *run) mapNested(o *op, d []byte, w, p, end, depth int) ([]byte, int, int) {
	if depth >= ProgramDepthMax {
		return r.fail(d, w, p, record.ReasonDepth)
	}
	if len(d)-w < slack {
		if d = r.grow(d, w, slack); len(d)-w < slack {
			return r.fail(d, w, p, record.ReasonTooLarge)
		}
	}
	d[w], d[w+1] = record.TagRecord, 0
	if o.code == opArray {
		d[w] = record.TagList
	}
	start := w + 2
	w = start
	switch o.code {
	case opArray:
		d, w, p = r.mapItems(o, d, w, p, end, depth+1)
	case opMap:
		d, w, p = r.mapPairs(o, d, w, p, end, depth+1)
	default:
		s := o.sub
		if o.code == opUnion {
			v, q := uint64(0), -1
			if p < end && r.src[p] == record.TagInt32 {
				v, q = r.varint(p + 1)
			}
			if q < 0 || q > end || v >= uint64(s.count) {
				return r.fail(d, w, p, record.ReasonPacked)
			}
			s, p = span{s.first + int32(v), 1}, q
		}
		d, w, p, _ = r.entries(s, d, w, p, end, depth+1)
	}
	if p < 0 {
		return d, w, -1
	}
	if p != end {
		return r.fail(d, w, p, record.ReasonPacked)
	}
	return r.end(d, w, start, p)
}

// mapItems writes the items of a list.
func (r *run) mapItems(o *op, d []byte, w, p, end, depth int) ([]byte, int, int) {
	item := &r.ops[o.sub.first]
	for n := 0; p < end; n++ {
		if len(d)-w < slack {
			if d = r.grow(d, w, slack); len(d)-w < slack {
				return r.fail(d, w, p, record.ReasonTooLarge)
			}
		}
		d[w], d[w+1] = itemTag, 0
		start := w + 2
		if d, w, p = r.mapValue(item, d, start, p, end, depth); p < 0 {
			return r.up(d, w, o.sub.first, n)
		}
		if d, w, p = r.end(d, w, start, p); p < 0 {
			return d, w, -1
		}
	}
	return d, w, p
}

// mapPairs writes the entries of a map, whose keys are packed strings.
func (r *run) mapPairs(o *op, d []byte, w, p, end, depth int) ([]byte, int, int) {
	value := &r.ops[o.sub.first+1]
	for n := 0; p < end; n++ {
		if r.src[p] != record.TagString {
			return r.fail(d, w, p, record.ReasonPacked)
		}
		l, q := r.size(p+1, end)
		if q < 0 {
			return d, w, -1
		}
		if need := l + 2*slack; len(d)-w < need {
			if d = r.grow(d, w, need); len(d)-w < need {
				return r.fail(d, w, p, record.ReasonTooLarge)
			}
		}
		at := w + 1
		d[w], d[w+1], d[w+2] = entryTag, 0, keyTag
		w = putVarint(d, w+3, uint64(l))
		w += copy(d[w:], r.src[q:q+l])
		d[w], d[w+1] = valueTag, 0
		if d, w, p = r.entryValue(value, d, at, w+2, q+l, end, depth); p < 0 {
			return r.up(d, w, o.sub.first+1, n)
		}
	}
	return d, w, p
}
