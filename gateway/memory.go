package gateway

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// memory is a budget of bytes, safe for concurrent use. Waiters are served in
// the order in which they came, so that a large request isn't overtaken for
// ever.
type memory struct {
	sem      *semaphore.Weighted
	bytesMax int64
}

func newMemory(bytesMax int64) *memory {
	return &memory{sem: semaphore.NewWeighted(bytesMax), bytesMax: bytesMax}
}

// acquire waits for bytes and returns how many it took: a demand above the
// whole budget takes all of it, so that it can be met.
func (m *memory) acquire(ctx context.Context, bytes int64) (int64, error) {
	bytes = min(max(bytes, 0), m.bytesMax)
	if err := m.sem.Acquire(ctx, bytes); err != nil {
		return 0, err
	}
	return bytes, nil
}

func (m *memory) release(bytes int64) {
	if bytes > 0 {
		m.sem.Release(bytes)
	}
}

// requestMemory is the memory of requests in work, in two parts that don't lend
// to each other: large requests, which take what their frame claims before it
// is there, never leave small ones without. Safe for concurrent use.
type requestMemory struct {
	small, large *memory
	smallMax     int64 // demands up to it are small
}

// smallRequestBytes is the largest demand of a small request, in bytes: a
// Produce frame of 1 MiB, which is the most that producers send by default, and
// some. It is compared with what a frame takes once decoded, so that a frame of
// many small parts isn't small by its length.
const smallRequestBytes = 4 << 20

// smallShare is the part of the memory kept for small requests: one in so many.
const smallShare = 4

func newRequestMemory(bytesMax int64) *requestMemory {
	small := bytesMax / smallShare
	return &requestMemory{
		small: newMemory(small), large: newMemory(bytesMax - small),
		smallMax: min(smallRequestBytes, small),
	}
}

// acquire waits for bytes of the part that a request of that size draws on.
func (m *requestMemory) acquire(ctx context.Context, bytes int64) (grant, error) {
	from := m.large
	if bytes <= m.smallMax {
		from = m.small
	}
	held, err := from.acquire(ctx, bytes)
	return grant{from, held}, err
}

// grant is memory taken from a budget. The zero value holds nothing.
type grant struct {
	from  *memory
	bytes int64
}

// release gives the memory back, once however often it is called.
func (g *grant) release() {
	if g.from != nil {
		g.from.release(g.bytes)
	}
	*g = grant{}
}
