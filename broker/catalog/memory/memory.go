// Package memory keeps checkpoints in memory, for --dev and for tests. One
// lock guards everything; there are no goroutines and no limits beyond those
// of package catalog.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"milena/broker/catalog"
)

// Store is a catalog.Store in memory. The zero value is ready.
type Store struct {
	mu       sync.Mutex // guards everything below
	saved    bool
	position int64
	rows     map[name]string
}

type name struct{ section, key string }

// Save implements catalog.Store.
func (s *Store) Save(ctx context.Context, c catalog.Checkpoint) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.Full || s.rows == nil:
		if !c.Full {
			return fmt.Errorf("%w: %w", catalog.ErrBase, catalog.ErrNone)
		}
		s.rows = map[name]string{}
	case s.position != c.Base:
		return fmt.Errorf("%w: stored %d, base %d", catalog.ErrBase, s.position, c.Base)
	}
	for _, r := range c.Rows {
		n := name{r.Section, string(r.Key)}
		if r.Delete {
			delete(s.rows, n)
		} else {
			s.rows[n] = string(r.Value)
		}
	}
	s.saved, s.position = true, c.Position
	return nil
}

// Load implements catalog.Store.
func (s *Store) Load(ctx context.Context, fn func(catalog.Row) error) (int64, error) {
	s.mu.Lock()
	saved, position, rows := s.saved, s.position, maps.Clone(s.rows)
	s.mu.Unlock()
	if !saved {
		return 0, catalog.ErrNone
	}
	names := slices.SortedFunc(maps.Keys(rows), func(a, b name) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.key, b.key))
	})
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := fn(catalog.Row{Section: n.section, Key: []byte(n.key), Value: []byte(rows[n])}); err != nil {
			return 0, err
		}
	}
	return position, nil
}

// Close implements catalog.Store; the checkpoint stays.
func (s *Store) Close() error { return nil }
