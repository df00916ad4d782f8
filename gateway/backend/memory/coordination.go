package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"milena/gateway/backend"
)

// CommitOffsets implements backend.Offsets.
func (b *Broker) CommitOffsets(ctx context.Context, group string, offsets []backend.GroupOffset) error {
	if err := b.lock(ctx, "commit offsets"); err != nil {
		return err
	}
	defer b.mu.Unlock()
	resolved := slices.Clone(offsets)
	for i := range resolved {
		o := &resolved[i]
		if t := b.names[o.Topic]; o.TopicID == (backend.TopicID{}) && t != nil {
			o.TopicID = t.ID
		}
		t, p := b.partition(backend.Partition{Topic: o.TopicID, Index: o.Partition})
		if p == nil {
			return fmt.Errorf("commit offsets: %q partition %d: %w", o.Topic, o.Partition, backend.ErrUnknownTopic)
		}
		o.Topic = t.Name
	}
	for _, o := range resolved {
		if b.offsets[group] == nil {
			b.offsets[group] = map[backend.Partition]backend.GroupOffset{}
		}
		b.offsets[group][backend.Partition{Topic: o.TopicID, Index: o.Partition}] = o
	}
	return nil
}

// GroupOffsets implements backend.Offsets.
func (b *Broker) GroupOffsets(ctx context.Context, group string) ([]backend.GroupOffset, error) {
	if err := b.lock(ctx, "read offsets"); err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	out := slices.Collect(maps.Values(b.offsets[group]))
	slices.SortFunc(out, func(x, y backend.GroupOffset) int {
		return cmp.Or(cmp.Compare(x.Topic, y.Topic), bytes.Compare(x.TopicID[:], y.TopicID[:]), cmp.Compare(x.Partition, y.Partition))
	})
	return out, nil
}

// DeleteGroupOffsets implements backend.Offsets.
func (b *Broker) DeleteGroupOffsets(ctx context.Context, group string, partitions []backend.GroupOffset) error {
	if err := b.lock(ctx, "delete offsets"); err != nil {
		return err
	}
	defer b.mu.Unlock()
	if partitions == nil {
		delete(b.offsets, group)
		return nil
	}
	for _, o := range partitions {
		if t := b.names[o.Topic]; o.TopicID == (backend.TopicID{}) && t != nil {
			o.TopicID = t.ID
		}
		delete(b.offsets[group], backend.Partition{Topic: o.TopicID, Index: o.Partition})
	}
	if len(b.offsets[group]) == 0 {
		delete(b.offsets, group)
	}
	return nil
}

// OffsetGroups implements backend.Offsets.
func (b *Broker) OffsetGroups(ctx context.Context) ([]string, error) {
	if err := b.lock(ctx, "list groups"); err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.offsets)), nil
}

// CompareAndAppend implements backend.Coordination. The version of a record
// deleted is 0.
func (b *Broker) CompareAndAppend(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	if err := b.lock(ctx, "append record"); err != nil {
		return 0, err
	}
	defer b.mu.Unlock()
	current := b.records[key]
	if current.Version != expected {
		return 0, fmt.Errorf("append record %q: %w: version %d, expected %d", key, backend.ErrConflict, current.Version, expected)
	}
	if value == nil {
		delete(b.records, key)
		return 0, nil
	}
	b.records[key] = backend.Record{Key: key, Version: expected + 1, Value: bytes.Clone(value)}
	return expected + 1, nil
}

// Load implements backend.Coordination.
func (b *Broker) Load(ctx context.Context, key string) (backend.Record, error) {
	if err := b.lock(ctx, "load record"); err != nil {
		return backend.Record{}, err
	}
	defer b.mu.Unlock()
	r, ok := b.records[key]
	if !ok {
		return backend.Record{Key: key}, nil
	}
	return clone(r), nil
}

// LoadPrefix implements backend.Coordination.
func (b *Broker) LoadPrefix(ctx context.Context, prefix string) ([]backend.Record, error) {
	if err := b.lock(ctx, "load records"); err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	var out []backend.Record
	for key, r := range b.records {
		if strings.HasPrefix(key, prefix) {
			out = append(out, clone(r))
		}
	}
	slices.SortFunc(out, func(x, y backend.Record) int { return cmp.Compare(x.Key, y.Key) })
	return out, nil
}

func clone(r backend.Record) backend.Record {
	r.Value = bytes.Clone(r.Value)
	return r
}
