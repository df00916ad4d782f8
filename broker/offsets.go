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

// groupBytesMax is the longest group id; Kafka's is a 16-bit length.
const groupBytesMax = 1<<15 - 1

// offsetTable holds the committed offsets of consumer groups. Only the
// committer writes. Topic names are not kept: they come from the topics.
type offsetTable struct {
	mu     sync.RWMutex // guards everything below
	groups map[string]map[api.Partition]api.GroupOffset
	count  int
}

// groupOffset is an offset with its group.
type groupOffset struct {
	group  string
	offset api.GroupOffset
}

func newOffsetTable() *offsetTable {
	return &offsetTable{groups: make(map[string]map[api.Partition]api.GroupOffset)}
}

func partitionOf(o *api.GroupOffset) api.Partition {
	return api.Partition{Topic: o.TopicID, Index: o.Partition}
}

func (t *offsetTable) put(group string, o *api.GroupOffset) {
	t.mu.Lock()
	defer t.mu.Unlock()
	offsets := t.groups[group]
	if offsets == nil {
		offsets = make(map[api.Partition]api.GroupOffset)
		t.groups[group] = offsets
	}
	before := len(offsets)
	offsets[partitionOf(o)] = *o
	t.count += len(offsets) - before
}

func (t *offsetTable) remove(group string, o *api.GroupOffset) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeLocked(group, partitionOf(o))
}

func (t *offsetTable) removeLocked(group string, p api.Partition) {
	offsets := t.groups[group]
	if _, ok := offsets[p]; !ok {
		return
	}
	delete(offsets, p)
	t.count--
	if len(offsets) == 0 {
		delete(t.groups, group)
	}
}

func (t *offsetTable) removeGroup(group string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count -= len(t.groups[group])
	delete(t.groups, group)
}

// removeTopic removes a topic's offsets in every group and returns them.
func (t *offsetTable) removeTopic(id api.TopicID) []groupOffset {
	t.mu.Lock()
	defer t.mu.Unlock()
	var gone []groupOffset
	for group, offsets := range t.groups {
		for p, o := range offsets {
			if p.Topic == id {
				gone = append(gone, groupOffset{group: group, offset: o})
			}
		}
	}
	for i := range gone {
		t.removeLocked(gone[i].group, partitionOf(&gone[i].offset))
	}
	return gone
}

// group returns a group's offsets by topic id and partition.
func (t *offsetTable) group(group string) []api.GroupOffset {
	t.mu.RLock()
	out := make([]api.GroupOffset, 0, len(t.groups[group]))
	for _, o := range t.groups[group] {
		out = append(out, o)
	}
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b api.GroupOffset) int {
		return cmp.Or(bytes.Compare(a.TopicID[:], b.TopicID[:]), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}

func (t *offsetTable) get(group string, p api.Partition) (api.GroupOffset, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	o, ok := t.groups[group][p]
	return o, ok
}

func (t *offsetTable) size() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.count
}

// CommitOffsets stores all offsets of a group durably, or none. A zero TopicID
// means the topic that now has the name. It fails with ErrUnknownTopic,
// ErrTooLarge (metadata) or ErrInvalid.
func (b *Broker) CommitOffsets(ctx context.Context, group string, offsets []api.GroupOffset) error {
	if len(offsets) == 0 {
		return nil
	}
	if len(group) > groupBytesMax {
		return fmt.Errorf("commit offsets: %w: group id of %d bytes", api.ErrInvalid, len(group))
	}
	op := &commitOffsets{group: group, offsets: slices.Clone(offsets)}
	for i := range op.offsets {
		if n := len(op.offsets[i].Metadata); n > b.opts.OffsetMetadataBytesMax {
			return fmt.Errorf("commit offsets: metadata of %d bytes: %w", n, api.ErrTooLarge)
		}
	}
	if err := b.do(ctx, op, &op.call); err != nil {
		return fmt.Errorf("commit offsets: %w", err)
	}
	return nil
}

type commitOffsets struct {
	call
	group   string
	offsets []api.GroupOffset
}

func (op *commitOffsets) size() int64 {
	n := int64(len(op.group)) + 64
	for i := range op.offsets {
		n += int64(len(op.offsets[i].Metadata)) + 64
	}
	return n
}

func (op *commitOffsets) stage(s *staging) {
	for i := range op.offsets {
		o := &op.offsets[i]
		if o.TopicID == (api.TopicID{}) {
			if top := s.state.topics.named(o.Topic); top != nil {
				o.TopicID = top.ID
			}
		}
		if _, p := s.partition(partitionOf(o)); p == nil {
			op.err = fmt.Errorf("%q partition %d: %w", o.Topic, o.Partition, api.ErrUnknownTopic)
			return
		}
		o.Topic = ""
	}
	if s.state.offsets.size()+s.offsets+len(op.offsets) > s.opts.OffsetsMax && !op.allKnown(s) {
		op.err = fmt.Errorf("%w: no room for more offsets", api.ErrUnavailable)
		return
	}
	s.offsets += len(op.offsets)
	s.record(int(op.size())).addOffsets(op.group, op.offsets)
}

func (op *commitOffsets) allKnown(s *staging) bool {
	for i := range op.offsets {
		if _, ok := s.state.offsets.get(op.group, partitionOf(&op.offsets[i])); !ok {
			return false
		}
	}
	return true
}

// GroupOffsets returns a group's offsets by topic name and partition, from
// memory; none is no error.
func (b *Broker) GroupOffsets(_ context.Context, group string) ([]api.GroupOffset, error) {
	out := b.state.offsets.group(group)
	out = slices.DeleteFunc(out, func(o api.GroupOffset) bool { return b.state.topics.get(o.TopicID) == nil })
	for i := range out {
		if top := b.state.topics.get(out[i].TopicID); top != nil {
			out[i].Topic = top.Name
		}
	}
	slices.SortFunc(out, func(a, b api.GroupOffset) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return out, nil
}

// DeleteGroupOffsets forgets offsets of a group, durably; nil means all. What
// isn't there is no error.
func (b *Broker) DeleteGroupOffsets(ctx context.Context, group string, partitions []api.GroupOffset) error {
	if partitions != nil && len(partitions) == 0 {
		return nil
	}
	if len(group) > groupBytesMax {
		return fmt.Errorf("delete offsets: %w: group id of %d bytes", api.ErrInvalid, len(group))
	}
	op := &deleteOffsets{group: group, all: partitions == nil, offsets: slices.Clone(partitions)}
	if err := b.do(ctx, op, &op.call); err != nil {
		return fmt.Errorf("delete offsets: %w", err)
	}
	return nil
}

type deleteOffsets struct {
	call
	group   string
	all     bool
	offsets []api.GroupOffset
}

func (op *deleteOffsets) size() int64 { return int64(len(op.group)) + 64 + 32*int64(len(op.offsets)) }

func (op *deleteOffsets) stage(s *staging) {
	kept := op.offsets[:0]
	for _, o := range op.offsets {
		if o.TopicID == (api.TopicID{}) {
			top := s.state.topics.named(o.Topic)
			if top == nil {
				continue
			}
			o.TopicID = top.ID
		}
		if o.Partition >= 0 {
			kept = append(kept, o)
		}
	}
	if op.all || len(kept) > 0 {
		s.record(int(op.size())).addOffsetsGone(op.group, kept)
	}
}

// OffsetGroups lists groups with committed offsets, sorted.
func (b *Broker) OffsetGroups(context.Context) ([]string, error) {
	t := b.state.offsets
	t.mu.RLock()
	out := make([]string, 0, len(t.groups))
	for group := range t.groups {
		out = append(out, group)
	}
	t.mu.RUnlock()
	slices.Sort(out)
	return out, nil
}
