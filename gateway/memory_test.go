package gateway

import (
	"context"
	"testing"
	"time"
)

// TestRequestMemoryParts: which part a demand draws on, and that a full one
// leaves the other alone.
func TestRequestMemoryParts(t *testing.T) {
	const mib = 1 << 20
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second) // a demand that waits fails
	defer stop()
	m := newRequestMemory(256 * mib)
	for _, c := range []struct {
		bytes, held int64
		from        *memory
	}{
		{0, 0, m.small},
		{4 * mib, 4 * mib, m.small},
		{4*mib + 1, 4*mib + 1, m.large},
		{300 * mib, 192 * mib, m.large}, // more than there is takes all there is
	} {
		g, err := m.acquire(ctx, c.bytes)
		if err != nil || g.from != c.from || g.bytes != c.held {
			t.Errorf("%d bytes: %d held, of the small part %v, %v", c.bytes, g.bytes, g.from == m.small, err)
		}
		g.release()
		g.release() // gives back once
	}

	full, err := m.acquire(ctx, 300*mib)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if g, err := m.acquire(over, 5*mib); err == nil || g.bytes != 0 {
		t.Errorf("large memory is full: %d held, %v", g.bytes, err)
	}
	for range 16 {
		if g, err := m.acquire(ctx, 4*mib); err != nil || g.bytes != 4*mib {
			t.Fatalf("small memory: %d held, %v", g.bytes, err)
		}
	}
	if g, err := m.acquire(over, 1); err == nil || g.bytes != 0 {
		t.Errorf("small memory is full: %d held, %v", g.bytes, err)
	}
	full.release()
	if g, err := m.acquire(ctx, 192*mib); err != nil || g.bytes != 192*mib {
		t.Errorf("after release: %d held, %v", g.bytes, err)
	}
}
