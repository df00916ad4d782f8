package broker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"milena/broker/api"
)

// recordKeyBytesMax bounds the key of a coordinator record. A group id has up
// to 32 KiB and a prefix in front.
const recordKeyBytesMax = 1 << 16

// recordTable holds the coordinators' versioned records. Only the committer
// writes.
type recordTable struct {
	mu    sync.RWMutex // guards everything below
	byKey map[string]api.Record
	bytes int64
}

func newRecordTable() *recordTable { return &recordTable{byKey: make(map[string]api.Record)} }

// put keeps a copy of r.
func (t *recordTable) put(r api.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes -= recordBytes(t.byKey[r.Key])
	r.Value = bytes.Clone(r.Value)
	t.byKey[r.Key] = r
	t.bytes += recordBytes(r)
}

func (t *recordTable) remove(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes -= recordBytes(t.byKey[key])
	delete(t.byKey, key)
}

func recordBytes(r api.Record) int64 { return int64(len(r.Key) + len(r.Value)) }

func (t *recordTable) get(key string) (r api.Record, bytes int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byKey[key], t.bytes
}

// CompareAndAppend stores value durably as the next version of key if the
// current version is expected (0: there is none), else it fails with
// ErrConflict. A nil value deletes the record; the version returned is then 0.
func (b *Broker) CompareAndAppend(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	switch {
	case key == "" || len(key) > recordKeyBytesMax || expected < 0:
		return 0, fmt.Errorf("append record: %w: key or version", api.ErrInvalid)
	case len(value) > b.opts.RecordBytesMax:
		return 0, fmt.Errorf("append record %q: %d bytes: %w", key, len(value), api.ErrTooLarge)
	}
	op := &appendRecord{key: key, expected: expected, value: value}
	if err := b.do(ctx, op, &op.call); err != nil {
		return 0, fmt.Errorf("append record %q: %w", key, err)
	}
	return op.version, nil
}

type appendRecord struct {
	call
	key      string
	expected int64
	value    []byte
	version  int64
}

func (op *appendRecord) size() int64 { return int64(len(op.key)+len(op.value)) + 64 }

func (op *appendRecord) stage(s *staging) {
	current, bytes := s.state.records.get(op.key)
	version, staged := s.versions[op.key]
	if !staged {
		version = current.Version
	}
	switch {
	case version != op.expected:
		op.err = fmt.Errorf("%w: version is %d, not %d", api.ErrConflict, version, op.expected)
		return
	case op.value == nil && version == 0:
		return // there is nothing to delete
	case op.value == nil:
		s.versions[op.key] = 0
		s.record(int(op.size())).addRecordGone(op.key)
		return
	}
	grows := int64(len(op.key)+len(op.value)) - recordBytes(current)
	if grows > 0 && bytes+s.recordBytes+grows > s.opts.RecordsBytesMax {
		op.err = fmt.Errorf("%w: no room for more records", api.ErrUnavailable)
		return
	}
	s.recordBytes += max(grows, 0)
	op.version = version + 1
	s.versions[op.key] = op.version
	s.record(int(op.size())).addRecord(api.Record{Key: op.key, Version: op.version, Value: op.value})
}

// Load returns a record, from memory; Version 0 if there is none. The value
// must not be changed.
func (b *Broker) Load(_ context.Context, key string) (api.Record, error) {
	r, _ := b.state.records.get(key)
	r.Key = key
	return r, nil
}

// LoadPrefix returns all records whose key starts with prefix, by key.
func (b *Broker) LoadPrefix(_ context.Context, prefix string) ([]api.Record, error) {
	t := b.state.records
	t.mu.RLock()
	var out []api.Record
	for key, r := range t.byKey {
		if strings.HasPrefix(key, prefix) {
			out = append(out, r)
		}
	}
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b api.Record) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
}
