package broker

import (
	"sort"

	"milena/broker/journal"
)

// batchRef is the index entry of one stored batch: 48 bytes. Offsets are dense
// over batches, so that a batch ends where the next one begins.
type batchRef struct {
	baseOffset   int64
	position     journal.Position
	maxTimestamp int64
	appendTime   int64
	chunkOffset  uint32
	length       uint32
	encodedSize  int32
	flags        uint32
}

// blockRefs is the number of entries of a full block. Checkpoint rows hold one
// block each, so the number is part of their form.
const blockRefs = 512

// block is a full block. It never changes again.
type block struct {
	refs []batchRef
	// maxTimestamp is the greatest over this block and all before it, which
	// makes the search for a time a binary one although times are unordered.
	maxTimestamp int64
}

// view is what readers see of a partition: an immutable value, published
// through an atomic pointer. Views share blocks and the unused end of the
// slices' arrays, into which only the committer writes, beyond every published
// length: publishing costs the change.
type view struct {
	start  int64 // log start offset
	high   int64 // high watermark: the durable end
	stable int64 // last stable offset
	full   []block
	tail   []batchRef
	// aborted transactions by their marker's offset, ascending.
	aborted []abortedRange
}

// abortedRange is an aborted transaction: from its first offset to its marker.
type abortedRange struct {
	producerID  int64
	firstOffset int64
	lastOffset  int64
}

// len returns the number of batches.
func (v *view) len() int { return len(v.full)*blockRefs + len(v.tail) }

// at returns the i-th batch.
func (v *view) at(i int) *batchRef {
	if b := i / blockRefs; b < len(v.full) {
		return &v.full[b].refs[i%blockRefs]
	}
	return &v.tail[i-len(v.full)*blockRefs]
}

// end returns the offset behind the i-th batch.
func (v *view) end(i int) int64 {
	if i+1 < v.len() {
		return v.at(i + 1).baseOffset
	}
	return v.high
}

// find returns the index of the batch that holds offset, or of the first one
// behind it if it lies in a hole; len() if there is none.
func (v *view) find(offset int64) int {
	n := v.len()
	i := sort.Search(n, func(i int) bool { return v.at(i).baseOffset > offset })
	if i > 0 && v.end(i-1) > offset {
		return i - 1
	}
	return i
}

// limit returns the offset below which a reader of the isolation sees.
func (v *view) limit(committed bool) int64 {
	if committed {
		return v.stable
	}
	return v.high
}

// findTime returns the index of the first batch, at or behind from, that says
// it holds a record with a timestamp of at least t.
func (v *view) findTime(from int, t int64) int {
	b := sort.Search(len(v.full), func(i int) bool { return v.full[i].maxTimestamp >= t })
	i := max(from, b*blockRefs)
	for n := v.len(); i < n; i++ {
		if v.at(i).maxTimestamp >= t {
			return i
		}
	}
	return v.len()
}

// newest returns the greatest timestamp that batches before the end-th one
// claim; ok is false if there is none.
func (v *view) newest(end int) (t int64, ok bool) {
	i := end
	for ; i > 0 && i%blockRefs != 0 || i > len(v.full)*blockRefs; i-- {
		if m := v.at(i - 1).maxTimestamp; !ok || m > t {
			t, ok = m, true
		}
	}
	if i > 0 {
		if m := v.full[i/blockRefs-1].maxTimestamp; !ok || m > t {
			t, ok = m, true
		}
	}
	return t, ok
}

// add appends a batch. Only the committer calls it, on its own copy of the
// view, which it publishes afterwards.
func (v *view) add(r batchRef) {
	v.tail = append(v.tail, r)
	if len(v.tail) < blockRefs {
		return
	}
	b := block{refs: v.tail, maxTimestamp: v.tail[0].maxTimestamp}
	for i := range b.refs {
		b.maxTimestamp = max(b.maxTimestamp, b.refs[i].maxTimestamp)
	}
	if n := len(v.full); n > 0 {
		b.maxTimestamp = max(b.maxTimestamp, v.full[n-1].maxTimestamp)
	}
	v.full = append(v.full, b)
	v.tail = nil
}
