package broker

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"milena/broker/api"
)

// schemaTable holds every schema that a stored record uses, encoded, by
// content key. Only the committer writes.
type schemaTable struct {
	mu      sync.RWMutex // guards everything below
	encoded map[api.Key][]byte
	bytes   int64
}

func newSchemaTable() *schemaTable {
	return &schemaTable{encoded: make(map[api.Key][]byte)}
}

func (t *schemaTable) has(k api.Key) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, ok := t.encoded[k]
	return ok
}

func (t *schemaTable) get(k api.Key) ([]byte, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, ok := t.encoded[k]
	return e, ok
}

func (t *schemaTable) size() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.bytes
}

// put keeps a copy of s.
func (t *schemaTable) put(s api.Schema) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += int64(len(s.Encoded) - len(t.encoded[s.Key]))
	t.encoded[s.Key] = bytes.Clone(s.Encoded)
}

// Schema returns a stored schema by content key, from memory; ErrUnknownSchema
// if no stored record uses it. The bytes must not be changed.
func (b *Broker) Schema(_ context.Context, k api.Key) (api.Schema, error) {
	e, ok := b.state.schemas.get(k)
	if !ok {
		return api.Schema{}, fmt.Errorf("schema %x: %w", k, api.ErrUnknownSchema)
	}
	return api.Schema{Key: k, Encoded: e}, nil
}
