package broker

import (
	"sync"

	"milena/broker/journal"
)

// tailKey is where a batch lies in the journal.
type tailKey struct {
	position    journal.Position
	chunkOffset uint32
}

// tailCache keeps the newest batches in memory, oldest out first, so that
// fresh reads don't touch the disk. It keeps the slices that were appended,
// without a copy.
type tailCache struct {
	bytesMax int64

	mu      sync.RWMutex // guards everything below
	batches map[tailKey][]byte
	// order holds the keys from the oldest; those before head are gone.
	order []tailKey
	head  int
	bytes int64
}

func newTailCache(bytesMax int64) *tailCache {
	return &tailCache{bytesMax: bytesMax, batches: make(map[tailKey][]byte)}
}

// tailBatchBytes is what a batch costs beside its bytes.
const tailBatchBytes = 128

func (c *tailCache) put(k tailKey, batch []byte) {
	cost := int64(cap(batch)) + tailBatchBytes
	if cost > c.bytesMax {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.bytes+cost > c.bytesMax && c.head < len(c.order) {
		c.bytes -= int64(cap(c.batches[c.order[c.head]])) + tailBatchBytes
		delete(c.batches, c.order[c.head])
		c.head++
	}
	if c.head > len(c.order)/2 {
		c.order = c.order[:copy(c.order, c.order[c.head:])]
		c.head = 0
	}
	c.batches[k] = batch
	c.order = append(c.order, k)
	c.bytes += cost
}

// get returns nil if the batch isn't there.
func (c *tailCache) get(k tailKey) []byte {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.batches[k]
}
