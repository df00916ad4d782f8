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
