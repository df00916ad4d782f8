package avro

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"milena/serde/record"
)

// Masks for eight bytes at once.
const (
	highBits = 0x8080808080808080
	lowBits  = 0x7f7f7f7f7f7f7f7f
)

// varint reads a varint at p, without a branch on its length where eight bytes
// can be loaded. It gives up exactness if the varint is longer than needed. On
// error the position is negative.
func (r *run) varint(p int) (uint64, int) {
	s := r.src
	if uint(p)+8 <= uint(len(s)) {
		x := binary.LittleEndian.Uint64(s[p:])
		if m := ^x & highBits; m != 0 {
			n := bits.TrailingZeros64(m) >> 3
			x &= (m ^ (m - 1)) & lowBits
			if n > 0 && x>>(8*uint(n)) == 0 {
				r.styles = 0
			}
			x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
			x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
			return x&0x000000000fffffff | x&0x0fffffff00000000>>4, p + n + 1
		}
	}
	return r.varintSlow(p)
}

// varintSlow reads a varint at p byte by byte.
func (r *run) varintSlow(p int) (uint64, int) {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if uint(p) >= uint(len(r.src)) {
			r.reason, r.at = record.ReasonTruncated, p
			return 0, -1
		}
		b := r.src[p]
		p++
		if b < 0x80 {
			if shift == 63 && b > 1 {
				break
			}
			if b == 0 && shift > 0 {
				r.styles = 0
			}
			return v | uint64(b)<<shift, p
		}
		v |= uint64(b&0x7f) << shift
	}
	r.reason, r.at = record.ReasonVarint, p
	return 0, -1
}

// varint32 reads a varint of at most 32 bits and five bytes, which is what the
// specification calls an int.
func (r *run) varint32(p int) (uint64, int) {
	v, q := r.varint(p)
	if q >= 0 && (v > 1<<32-1 || q-p > 5) {
		r.reason, r.at = record.ReasonVarint, p
		return 0, -1
	}
	return v, q
}

// small is varint32 for numbers that usually take one byte.
func (r *run) small(p int) (uint64, int) {
	if uint(p) < uint(len(r.src)) && r.src[p] < 0x80 {
		return uint64(r.src[p]), p + 1
	}
	return r.varint32(p)
}

// small64 is varint for numbers that usually take one byte.
func (r *run) small64(p int) (uint64, int) {
	if uint(p) < uint(len(r.src)) && r.src[p] < 0x80 {
		return uint64(r.src[p]), p + 1
	}
	return r.varint(p)
}

// length reads the length of bytes or a string at p and returns it with the
// position of the first byte.
func (r *run) length(p int) (int, int) {
	v, q := r.varint(p)
	if q < 0 {
		return 0, -1
	}
	if v&1 != 0 {
		r.reason, r.at = record.ReasonLength, p
		return 0, -1
	}
	if v>>1 > uint64(len(r.src)-q) {
		r.reason, r.at = record.ReasonTruncated, p
		return 0, -1
	}
	return int(v >> 1), q
}

// unzig and zig turn zig-zag numbers into signed ones and back.
func unzig(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
func zig(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }

// putVarint writes v at w and returns the position behind it. d must have slack
// bytes left. Below 2^56 there is no branch on the length.
func putVarint(d []byte, w int, v uint64) int {
	if v < 0x80 {
		d[w] = byte(v)
		return w + 1
	}
	if v < 1<<56 {
		x := v&0x0fffffff | v&0x00fffffff0000000<<4
		x = x&0x00003fff00003fff | x&0x0fffc0000fffc000<<2
		x = x&0x007f007f007f007f | x&0x3f803f803f803f80<<1
		n := varintLen(v)
		x |= highBits & (1<<(8*uint(n-1)) - 1)
		binary.LittleEndian.PutUint64(d[w:], x)
		return w + n
	}
	return w + binary.PutUvarint(d[w:w+binary.MaxVarintLen64], v)
}

// varintLen returns the number of bytes that v takes as a varint.
func varintLen(v uint64) int { return (9*bits.Len64(v|1) + 64) >> 6 }

// validUTF8 reports whether s[p:p+n] is valid UTF-8, eight bytes of ASCII at a
// time. It may look at bytes behind the end.
func validUTF8(s []byte, p, n int) bool {
	e := p + n
	var m uint64
	q := p
	for q+8 <= e {
		m |= binary.LittleEndian.Uint64(s[q:])
		q += 8
	}
	if q < e {
		if q+8 <= len(s) {
			m |= binary.LittleEndian.Uint64(s[q:]) << (64 - 8*uint(e-q))
		} else {
			for ; q < e; q++ {
				m |= uint64(s[q])
			}
		}
	}
	return m&highBits == 0 || utf8.Valid(s[p:e])
}
