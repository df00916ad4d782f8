package avro

import "milena/serde/record"

// begin checks the depth and writes the tag of a list; the byte for its length
// is filled in by end.
func (r *run) begin(d []byte, w, p, depth int) (int, bool) {
	if depth >= ProgramDepthMax {
		r.reason, r.at = record.ReasonDepth, p
		return w, false
	}
	d[w], d[w+1] = record.TagList, 0
	return w + 2, true
}

// end fills in the length of what was written since start, and makes room if it
// takes more than the one byte kept for it.
func (r *run) end(d []byte, w, start, p int) ([]byte, int, int) {
	n := w - start
	if n < 0x80 {
		d[start-1] = byte(n)
		return d, w, p
	}
	extra := varintLen(uint64(n)) - 1
	if len(d)-w < slack {
		if d = r.grow(d, w, slack); len(d)-w < slack {
			return r.fail(d, w, p, record.ReasonTooLarge)
		}
	}
	copy(d[start+extra:], d[start:w])
	putVarintAt(d[start-1:], uint64(n))
	return d, w + extra, p
}

// putVarintAt writes v at the front of d and touches nothing behind it.
func putVarintAt(d []byte, v uint64) {
	i := 0
	for ; v >= 0x80; v >>= 7 {
		d[i] = byte(v) | 0x80
		i++
	}
	d[i] = byte(v)
}

// record reads a nested record.
func (r *run) record(o *op, d []byte, w, p, depth int) ([]byte, int, int) {
	start, ok := r.begin(d, w, p, depth)
	if !ok {
		return d, w, -1
	}
	if d, w, p = r.values(o.sub, 1, d, start, p, depth+1); p < 0 {
		return d, w, -1
	}
	return r.end(d, w, start, p)
}

// union reads a union of several branches.
func (r *run) union(o *op, d []byte, w, p, depth int) ([]byte, int, int) {
	v, q := r.varint32(p)
	if q < 0 {
		return d, w, -1
	}
	if v&1 != 0 || v>>1 >= uint64(o.sub.count) {
		return r.fail(d, w, p, record.ReasonBranch)
	}
	branch := int32(v >> 1)
	if branch == o.n {
		d[w] = record.TagNull
		return d, w + 1, q
	}
	start, ok := r.begin(d, w, p, depth)
	if !ok {
		return d, w, -1
	}
	d[start] = record.TagInt32
	w = putVarint(d, start+1, uint64(branch))
	if d, w, q = r.values(span{o.sub.first + branch, 1}, 1, d, w, q, depth+1); q < 0 {
		return d, w, -1
	}
	return r.end(d, w, start, q)
}

// list reads the blocks of an array or map. Which styles can have written them
// shows on the way: canonical is one block without byte size; counted is full
// blocks with a size, then one with the rest.
func (r *run) list(o *op, d []byte, w, p, depth int) ([]byte, int, int) {
	start, ok := r.begin(d, w, p, depth)
	if !ok {
		return d, w, -1
	}
	w = start
	done, last := 0, record.CountedBlockItems
	for {
		n, size, q := r.block(o, p)
		if q < 0 {
			return d, w, -1
		}
		p = q
		if n == 0 {
			return r.end(d, w, start, p)
		}
		if done > 0 || size >= 0 {
			r.styles &^= canBePlain
		}
		if d, w, p = r.values(o.sub, n, d, w, p, depth+1); p < 0 {
			r.trail[len(r.trail)-1].item += done
			return d, w, -1
		}
		want := p - q // the size that the counted style writes
		if want == 0 {
			want = -1
		}
		if size != want || last != record.CountedBlockItems || n > record.CountedBlockItems {
			r.styles &^= canBeCounted
		}
		done, last = done+n, n
	}
}

// block reads the head of a block: the number of items, which is 0 at the end
// of the list, and their size in bytes or -1.
func (r *run) block(o *op, p int) (n, size, q int) {
	v, q := r.small64(p)
	if v == 0 {
		return 0, -1, q // the end, or an error
	}
	count := unzig(v)
	size = -1
	if count < 0 {
		count = -count // the least int64 stays negative
		s, e := r.varint(q)
		if e < 0 {
			return 0, -1, -1
		}
		if unzig(s) < 0 || unzig(s) > int64(len(r.src)-e) {
			r.reason, r.at = record.ReasonLength, q
			return 0, -1, -1
		}
		size, q = int(unzig(s)), e
	}
	room, least := int64(len(r.src)-q), int64(o.itemMin)
	if least == 0 {
		room, least = r.empty, 1
		r.empty -= max(min(count, room), 0)
	}
	if count < 0 || count > room || count*least > room {
		r.reason, r.at = record.ReasonItems, p
		return 0, -1, -1
	}
	return int(count), size, q
}
