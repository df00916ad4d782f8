package fs

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
)

// Kill returns the file system as a new process finds it after this one was
// killed: everything written is seen, what wasn't synced is not durable yet,
// locks are gone. m and what is open on it stay as they are, apart from the
// clone.
func (m *Memory) Kill() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clone()
	nodes := map[*node]*node{}
	copied := func(n *node) *node {
		if n == nil {
			return nil
		}
		if nodes[n] == nil {
			nodes[n] = &node{data: bytes.Clone(n.data), durable: bytes.Clone(n.durable), pending: append([]write{}, n.pending...)}
		}
		return nodes[n]
	}
	for name, n := range m.files {
		c.files[name] = copied(n)
	}
	for name, n := range m.durable {
		c.durable[name] = copied(n)
	}
	for _, change := range m.changes {
		to := nameChange{dir: change.dir, names: change.names}
		for _, n := range change.nodes {
			to.nodes = append(to.nodes, copied(n))
		}
		c.changes = append(c.changes, to)
	}
	return c
}

// Crash returns the file system as it is after the power was lost: synced
// bytes and names are there; of the others, seed decides. Changes of names
// survive up to some point in their order, as journaling file systems do it,
// or each for itself; writes survive whole, in parts, torn inside a sector, or not at all, in any
// order.
func (m *Memory) Crash(seed uint64) *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clone()
	c.dice = newDice(seed)
	for name, n := range m.durable {
		c.durable[name] = n
	}
	inOrder, end := c.dice.IntN(2) == 0, c.dice.upTo(len(m.changes))
	for i, change := range m.changes {
		if inOrder && i < end || !inOrder && c.dice.IntN(2) == 0 {
			applyNames(c.durable, change)
		}
	}
	// In the order of names, so that a seed always means the same.
	for _, name := range slices.Sorted(maps.Keys(c.durable)) {
		n := c.durable[name]
		data := bytes.Clone(n.durable)
		for _, w := range n.pending {
			data = c.dice.applySome(data, w)
		}
		survived := &node{data: data, durable: bytes.Clone(data)}
		c.files[name], c.durable[name] = survived, survived
	}
	return c
}

// clone returns an empty file system with m's limits and without its faults.
func (m *Memory) clone() *Memory {
	c := NewMemory(m.dice.Uint64())
	c.space = m.space
	return c
}

// sectorBytes is what a disk writes whole, mostly.
const sectorBytes = 512

// dice decides what survives.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0x6d696c656e61))} }

// upTo returns a number from 0 to n, with both ends likely.
func (d dice) upTo(n int) int {
	switch d.IntN(4) {
	case 0:
		return 0
	case 1:
		return n
	}
	return d.IntN(n + 1)
}

// applySome returns b after as much of w as survives.
func (d dice) applySome(b []byte, w write) []byte {
	mode := d.IntN(5)
	switch {
	case mode == 0:
		return b
	case mode == 1 || w.data == nil:
		return w.apply(b)
	case mode == 2: // a prefix
		return write{off: w.off, data: w.data[:d.IntN(len(w.data)+1)]}.apply(b)
	}
	for at := int64(0); at < int64(len(w.data)); {
		end := min((w.off+at)/sectorBytes*sectorBytes+sectorBytes-w.off, int64(len(w.data)))
		switch d.IntN(8) {
		case 0, 1, 2:
		case 3: // torn inside a sector
			part := w.data[at : at+int64(d.IntN(int(end-at)+1))]
			b = write{off: w.off + at, data: part}.apply(b)
		default:
			b = write{off: w.off + at, data: w.data[at:end]}.apply(b)
		}
		at = end
	}
	return b
}
