package avro

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"milena/serde/record"
)

// run is one walk over one input. It lives on the stack of its caller and
// allocates only when it fails.
type run struct {
	p   *Program
	ops []op
	src []byte
	// tail[:32] ends with the last bytes of src, so that a fixed-size move from
	// near the end reads nothing behind it.
	tail [64]byte
	// limit is the greatest write position.
	limit int
	// empty is how many more items that may take no bytes are allowed.
	empty int64
	// styles are the encoder styles that can still have written the payload.
	styles styleSet
	// counted: rebuild in record.StyleCounted.
	counted bool
	// What went wrong and where, and the way back up to the root.
	reason record.Reason
	at     int
	trail  []step
}

// noLimit is the limit of a walk whose output is bounded by its input.
const noLimit = int(^uint(0)>>1) - 1<<20

// styleSet is a set of encoder styles.
type styleSet uint8

const (
	canBePlain   styleSet = 1 << iota // record.StyleCanonical
	canBeCounted                      // record.StyleCounted
)

// style returns the style that rebuilds what was read.
func (r *run) style() record.Style {
	switch {
	case r.styles&canBePlain != 0:
		return record.StyleCanonical
	case r.styles&canBeCounted != 0:
		return record.StyleCounted
	default:
		return record.StyleOriginal
	}
}

// step is one step of the way from an error up to the root: an operation, and
// the position among the items of its list.
type step struct {
	op   int32
	item int
}

// fail notes why the walk stops at position p. It returns what the walk
// returns: the buffer as it is and a negative position.
func (r *run) fail(d []byte, w, p int, reason record.Reason) ([]byte, int, int) {
	r.reason, r.at = reason, p
	return d, w, -1
}

// up notes one step of the way to the root.
func (r *run) up(d []byte, w int, at int32, item int) ([]byte, int, int) {
	r.trail = append(r.trail, step{at, item})
	return d, w, -1
}

// err returns what the walk has noted.
func (r *run) err() error {
	path := make([]byte, 0, 64)
	for i := len(r.trail) - 1; i >= 0; i-- {
		switch c := &r.p.cells[r.trail[i].op]; c.role {
		case roleField:
			if len(path) > 0 {
				path = append(path, '.')
			}
			path = append(path, c.name...)
		case roleItem:
			path = append(strconv.AppendInt(append(path, '['), int64(r.trail[i].item), 10), ']')
		}
		if len(path) > 1000 { // a deep value's path says enough by then
			path = append(path, "..."...)
			break
		}
	}
	return &record.DataError{Offset: r.at, Path: string(path), Reason: r.reason}
}

// grow returns d with room for need bytes and slack behind w. Beyond the limit
// it returns d as it is.
func (r *run) grow(d []byte, w, need int) []byte {
	if w > r.limit || need > r.limit-w {
		return d
	}
	g := make([]byte, min(2*len(d), r.limit)+need+slack)
	copy(g, d[:w])
	return g
}

// values reads the operations of s, times times over, from position p of the
// payload and writes their packed values at w. It returns the buffer and the
// positions behind what was written and read; the latter is negative on error.
//
// This is the hot loop, longer than a function should be so that its variables
// stay in registers. What it doesn't do itself is in value.
func (r *run) values(s span, times int, d []byte, w, p, depth int) ([]byte, int, int) {
	ops := r.ops[s.first : s.first+s.count]
	src := r.src
	var n, i int
walk:
	for n = 0; n < times; n++ {
		for i = range ops {
			o := &ops[i]
			if len(d)-w < slack {
				if d = r.grow(d, w, slack); len(d)-w < slack {
					r.reason, r.at = record.ReasonTooLarge, p
					break walk
				}
			}
			x := (*[slack]byte)(d[w:])
			if o.opt {
				if uint(p) < uint(len(src)) && src[p] == o.someByte {
					p++
				} else if uint(p) < uint(len(src)) && src[p] == o.nullByte && src[p] != noBranch {
					x[0] = record.TagNull
					w++
					p++
					continue
				} else {
					var some bool
					if some, p = r.option(o, p); p < 0 {
						break walk
					}
					if !some {
						x[0] = record.TagNull
						w++
						continue
					}
				}
			}
			switch o.code {
			case opString:
				if uint(p) < uint(len(src)) && src[p] <= 64 && src[p]&1 == 0 {
					l, rest := int(src[p]>>1), len(src)-p-1
					if l <= rest {
						q := (*[32]byte)(r.tail[32-min(rest, 32):])
						if rest > 32 {
							q = (*[32]byte)(src[p+1:])
						}
						x[0], x[1] = record.TagString, byte(l)
						if copy32((*[32]byte)(x[2:]), q, &asciiMasks[l]) && !utf8.Valid(q[:l]) {
							r.reason, r.at = record.ReasonUTF8, p+1
							break walk
						}
						w += 2 + l
						p += 1 + l
						continue
					}
				}
				if d, w, p = r.text(d, w, p); p < 0 {
					break walk
				}
			case opLong:
				var v uint64
				if v, p = r.varint(p); p < 0 {
					break walk
				}
				x[0] = record.TagInt64
				w = putVarint(d, w+1, uint64(unzig(v)))
			case opInt:
				if uint(p) < uint(len(src)) && src[p] < 0x80 && src[p]&1 == 0 {
					x[0], x[1] = record.TagInt32, src[p]>>1
					w += 2
					p++
					continue
				}
				var v uint64
				if v, p = r.varint32(p); p < 0 {
					break walk
				}
				x[0] = record.TagInt32
				w = putVarint(d, w+1, uint64(unzig(v)))
			case opDouble:
				if len(src)-p < 8 {
					r.reason, r.at = record.ReasonTruncated, p
					break walk
				}
				x[0] = record.TagDouble
				binary.LittleEndian.PutUint64(x[1:], binary.LittleEndian.Uint64(src[p:]))
				w += 9
				p += 8
			case opBool:
				if uint(p) >= uint(len(src)) || src[p] > 1 {
					r.failByte(p, record.ReasonBool)
					break walk
				}
				x[0], x[1] = record.TagBool, src[p]
				w += 2
				p++
			case opEnum:
				if d, w, p = r.enum(o, d, w, p); p < 0 {
					break walk
				}
			case opArray, opMap:
				if d, w, p = r.list(o, d, w, p, depth); p < 0 {
					break walk
				}
			case opRecord:
				if d, w, p = r.record(o, d, w, p, depth); p < 0 {
					break walk
				}
			case opTimestampMillis, opTimestampMicros, opTimeMicros:
				var v uint64
				if v, p = r.varint(p); p < 0 {
					break walk
				}
				w = putTime(o, d, w, unzig(v))
			default:
				if d, w, p = r.value(o, d, w, p, depth); p < 0 {
					break walk
				}
			}
		}
	}
	if n < times {
		return r.up(d, w, s.first+int32(i), n)
	}
	return d, w, p
}

// asciiMasks[n] has the high bits of the first n bytes of four words.
var asciiMasks = makeASCIIMasks()

func makeASCIIMasks() (masks [33][4]uint64) {
	for n := range masks {
		for i := range n {
			masks[n][i/8] |= 0x80 << (8 * (i % 8))
		}
	}
	return masks
}

// copy32 copies 32 bytes and reports whether one of those that the mask covers
// isn't ASCII.
func copy32(d, s *[32]byte, mask *[4]uint64) bool {
	a, b := binary.LittleEndian.Uint64(s[0:]), binary.LittleEndian.Uint64(s[8:])
	c, e := binary.LittleEndian.Uint64(s[16:]), binary.LittleEndian.Uint64(s[24:])
	binary.LittleEndian.PutUint64(d[0:], a)
	binary.LittleEndian.PutUint64(d[8:], b)
	binary.LittleEndian.PutUint64(d[16:], c)
	binary.LittleEndian.PutUint64(d[24:], e)
	return a&mask[0]|b&mask[1]|c&mask[2]|e&mask[3] != 0
}

// text reads a string that the hot loop leaves out: longer than 32 bytes, or
// malformed.
func (r *run) text(d []byte, w, p int) ([]byte, int, int) {
	l, q := r.length(p)
	if q < 0 {
		return d, w, -1
	}
	d[w] = record.TagString
	if n := l - 32; uint(n) <= 32 && len(r.src)-q >= 64 {
		x, s := (*[slack]byte)(d[w:]), (*[64]byte)(r.src[q:])
		x[1] = byte(l)
		high := copy32((*[32]byte)(x[2:]), (*[32]byte)(s[:]), &asciiMasks[32])
		if (copy32((*[32]byte)(x[34:]), (*[32]byte)(s[32:]), &asciiMasks[n]) || high) && !utf8.Valid(s[:l]) {
			return r.fail(d, w, q, record.ReasonUTF8)
		}
		return d, w + 2 + l, q + l
	}
	if !validUTF8(r.src, q, l) {
		return r.fail(d, w, q, record.ReasonUTF8)
	}
	return r.copyBytes(d, w+1, q, l)
}

// failByte notes that the byte at p is missing or wrong.
func (r *run) failByte(p int, reason record.Reason) {
	if p >= len(r.src) {
		reason = record.ReasonTruncated
	}
	r.reason, r.at = reason, p
}

// option reads the branch index of a union of null and one other type.
func (r *run) option(o *op, p int) (some bool, q int) {
	v, q := r.varint32(p)
	switch {
	case q < 0:
		return false, -1
	case v == uint64(o.someByte):
		return true, q
	case v == uint64(o.nullByte) && o.nullByte != noBranch:
		return false, q
	}
	r.reason, r.at = record.ReasonBranch, p
	return false, -1
}

// copyBytes writes l and the l payload bytes at p to w.
func (r *run) copyBytes(d []byte, w, p, l int) ([]byte, int, int) {
	w = putVarint(d, w, uint64(l))
	if len(d)-w < l+slack {
		if d = r.grow(d, w, l+slack); len(d)-w < l+slack {
			return r.fail(d, w, p, record.ReasonTooLarge)
		}
	}
	copy(d[w:], r.src[p:p+l])
	return d, w + l, p + l
}
