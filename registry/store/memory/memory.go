// Package memory is a registry log that lives in the process: for tests and
// for running without a data directory. It keeps the contract of store.Log but
// for durability, and forgets everything when the process ends. Log.mu guards
// all of its state; it is bounded only by memory.
package memory

import (
	"bytes"
	"context"
	"iter"
	"sync"

	"milena/registry/store"
)

// Log is a store.Log in memory. The zero value is an empty log.
type Log struct {
	mu      sync.RWMutex // guards all below
	entries []store.Entry
	closed  bool
}

var _ store.Log = (*Log)(nil)

// New returns an empty log.
func New() *Log { return &Log{} }

// Append adds entries if the log ends at expected.
func (l *Log) Append(ctx context.Context, expected int64, entries []store.Entry) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := store.CheckEntries(entries); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, store.ErrClosed
	}
	if expected != int64(len(l.entries)) {
		return 0, store.ErrConflict
	}
	for _, e := range entries {
		e.Position = int64(len(l.entries))
		e.Key, e.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
		l.entries = append(l.entries, e)
	}
	return int64(len(l.entries)), nil
}

// Read yields the entries from position from on.
func (l *Log) Read(ctx context.Context, from int64) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		l.mu.RLock()
		entries, closed := l.entries, l.closed
		l.mu.RUnlock()
		if closed {
			yield(store.Entry{}, store.ErrClosed)
			return
		}
		for i := max(from, 0); i < int64(len(entries)); i++ {
			if err := ctx.Err(); err != nil {
				yield(store.Entry{}, err)
				return
			}
			e := entries[i]
			e.Key, e.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Close makes later calls fail.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}
