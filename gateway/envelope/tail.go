package envelope

import (
	"container/list"
	"sync"

	"milena/broker/stored"
	"milena/gateway/backend"
	"milena/gateway/batch"
)

// Tail keeps the most recent batches as their producers sent them, stamped with
// offset and epoch, so that fetching fresh data costs no rebuild. It is bounded
// in bytes, first in first out over all partitions. mu guards everything.
//
// An entry is only used for a stored batch with the same offset, epoch, count
// and content CRC: should the broker have lost a batch that it never made
// durable, and given its offset to another one, the old bytes are not served.
type Tail struct {
	off      bool
	bytesMax int

	mu      sync.Mutex
	entries map[tailKey]*list.Element // of *tailEntry
	order   list.List                 // oldest first
	bytes   int
}

type tailKey struct {
	partition backend.Partition
	offset    int64
}

type tailEntry struct {
	key   tailKey
	id    TailID
	bytes []byte
}

// TailID ties an entry to the stored batch.
type TailID struct {
	LeaderEpoch int32
	Count       int32
	ContentCRC  uint32
}

// tailOverhead is what an entry costs beside its bytes.
const tailOverhead = 256

func newTail(o Options) *Tail {
	return &Tail{off: o.TailOff, bytesMax: o.TailBytesMax, entries: map[tailKey]*list.Element{}}
}

// Put keeps a copy of a produced batch that was stored at s.BaseOffset, with s
// stamped into it. Batches that would fill more than a quarter of the cache are
// not kept.
func (t *Tail) Put(p backend.Partition, produced []byte, s batch.Stamp, st Stored, count int32) {
	size := len(produced) + tailOverhead
	if t.off || !st.Exact || size > t.bytesMax/4 {
		return
	}
	b := append([]byte(nil), produced...)
	s.Apply(b)
	e := &tailEntry{key: tailKey{p, s.BaseOffset}, bytes: b,
		id: TailID{LeaderEpoch: s.LeaderEpoch, Count: count, ContentCRC: st.ContentCRC}}
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := t.entries[e.key]; ok {
		t.drop(old)
	}
	t.entries[e.key] = t.order.PushBack(e)
	t.bytes += size
	for t.bytes > t.bytesMax {
		t.drop(t.order.Front())
	}
}

func (t *Tail) drop(el *list.Element) {
	e := t.order.Remove(el).(*tailEntry)
	delete(t.entries, e.key)
	t.bytes -= len(e.bytes) + tailOverhead
}

// get returns the produced form of a stored batch. It must not be changed.
func (t *Tail) get(p backend.Partition, b backend.StoredBatch, h stored.Header) ([]byte, bool) {
	if t.off {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	el, ok := t.entries[tailKey{p, b.BaseOffset}]
	if !ok {
		return nil, false
	}
	e := el.Value.(*tailEntry)
	if e.id != (TailID{LeaderEpoch: b.LeaderEpoch, Count: h.Count, ContentCRC: h.ContentCRC}) {
		t.drop(el)
		return nil, false
	}
	return e.bytes, true
}

// Bytes returns how much the cache holds.
func (t *Tail) Bytes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}
