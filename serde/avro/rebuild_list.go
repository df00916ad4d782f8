package avro

import (
	"encoding/binary"
	"math"

	"milena/serde/record"
)

// rebuildNested rebuilds a record, array, map or union branch from the packed
// values between p and end.
func (r *run) rebuildNested(o *op, d []byte, w, p, end, depth int) ([]byte, int, int) {
	if depth >= ProgramDepthMax {
		return r.fail(d, w, p, record.ReasonDepth)
	}
	s := o.sub
	switch o.code {
	case opArray, opMap:
		return r.rebuildList(o, d, w, p, end, depth+1)
	case opUnion:
		if p >= end || r.src[p] != record.TagInt32 {
			return r.fail(d, w, p, record.ReasonPacked)
		}
		v, q := r.varint(p + 1)
		if q < 0 || q > end || v >= uint64(s.count) || int32(v) == o.n {
			return r.fail(d, w, p, record.ReasonPacked)
		}
		w = putVarint(d, w, v<<1)
		s, p = span{s.first + int32(v), 1}, q
	}
	d, w, q, left := r.rebuild(s, 1, d, w, p, end, depth+1)
	if q >= 0 && (left != 0 || q != end) {
		return r.fail(d, w, q, record.ReasonPacked)
	}
	return d, w, q
}

// rebuildList rebuilds the blocks of an array or map.
func (r *run) rebuildList(o *op, d []byte, w, p, end, depth int) ([]byte, int, int) {
	times := math.MaxInt
	if r.counted {
		times = record.CountedBlockItems
	}
	done := 0
	for p < end {
		at := w
		w++ // the count usually takes one byte
		if r.counted {
			w++ // and so does the size
		}
		start := w
		var q, left int
		if d, w, q, left = r.rebuild(o.sub, times, d, w, p, end, depth); q < 0 {
			r.trail[len(r.trail)-1].item += done
			return d, w, -1
		}
		n := times - left
		done, p = done+n, q
		d, w = r.putHead(d, w, at, start, n)
	}
	if len(d)-w < slack {
		d = r.grow(d, w, slack)
	}
	d[w] = 0
	return d, w + 1, p
}

// putHead writes the head of the block of n items that lies between start and
// w to position at, and moves the items if it takes more or less room than was
// kept.
func (r *run) putHead(d []byte, w, at, start, n int) ([]byte, int) {
	var head [2 * binary.MaxVarintLen64]byte
	size, k := w-start, 0
	if r.counted && size > 0 {
		k = binary.PutVarint(head[:], -int64(n))
		k += binary.PutVarint(head[k:], int64(size))
	} else {
		k = binary.PutVarint(head[:], int64(n))
	}
	if move := at + k - start; move != 0 {
		if len(d)-w < slack {
			d = r.grow(d, w, slack)
		}
		copy(d[at+k:], d[start:w])
		w += move
	}
	copy(d[at:], head[:k])
	return d, w
}
