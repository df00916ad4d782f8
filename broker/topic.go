package broker

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"

	"milena/broker/api"
)

// topicNameBytesMax is Kafka's limit of a topic name.
const topicNameBytesMax = 249

// Limits of a topic's configs: the broker stores them as they are.
const (
	configsMax          = 256
	configNameBytesMax  = 256
	configValueBytesMax = 64 << 10
)

// topic is a topic with its partitions. It never changes.
type topic struct {
	api.Topic
	partitions []*partition
	// appendTime: message.timestamp.type is LogAppendTime.
	appendTime bool
}

func newTopic(t api.Topic) *topic {
	out := &topic{
		Topic:      t,
		partitions: make([]*partition, t.Partitions),
		appendTime: t.Configs["message.timestamp.type"] == "LogAppendTime",
	}
	for i := range out.partitions {
		out.partitions[i] = newPartition(api.Partition{Topic: t.ID, Index: int32(i)})
	}
	return out
}

// topicTable holds all topics. Only the committer writes.
type topicTable struct {
	mu sync.RWMutex // guards everything below
	// byID and byName hold the same topics.
	byID   map[api.TopicID]*topic
	byName map[string]*topic
	// partitions counts those of all topics.
	partitions int
	// version grows with each change; changed is closed at the next one.
	version int64
	changed chan struct{}
}

func newTopicTable() *topicTable {
	return &topicTable{
		byID:    make(map[api.TopicID]*topic),
		byName:  make(map[string]*topic),
		changed: make(chan struct{}),
	}
}

func (t *topicTable) get(id api.TopicID) *topic {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}

func (t *topicTable) named(name string) *topic {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

// partition returns nil if there is no such partition.
func (t *topicTable) partition(p api.Partition) *partition {
	top := t.get(p.Topic)
	if top == nil || p.Index < 0 || int(p.Index) >= len(top.partitions) {
		return nil
	}
	return top.partitions[p.Index]
}

// list returns all topics sorted by name, the version that they are of, and a
// channel that is closed when they change.
func (t *topicTable) list() ([]api.Topic, int64, <-chan struct{}) {
	t.mu.RLock()
	out := make([]api.Topic, 0, len(t.byID))
	for _, top := range t.byID {
		out = append(out, top.Topic)
	}
	version, changed := t.version, t.changed
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b api.Topic) int { return cmp.Compare(a.Name, b.Name) })
	return out, version, changed
}

// all returns all topics in no order.
func (t *topicTable) all() []*topic {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Values(t.byID))
}

func (t *topicTable) counts() (topics, partitions int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID), t.partitions
}

func (t *topicTable) put(top *topic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[top.ID] = top
	t.byName[top.Name] = top
	t.partitions += len(top.partitions)
	t.bump()
}

func (t *topicTable) remove(top *topic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, top.ID)
	delete(t.byName, top.Name)
	t.partitions -= len(top.partitions)
	t.bump()
}

func (t *topicTable) bump() {
	t.version++
	close(t.changed)
	t.changed = make(chan struct{})
}

// CreateTopic creates a topic and returns it once it is durable; its
// partitions can be appended to and read at once. It fails with ErrTopicExists
// or ErrInvalid (name, number of partitions, configs, limits).
func (b *Broker) CreateTopic(ctx context.Context, spec api.TopicSpec) (api.Topic, error) {
	if err := checkSpec(spec); err != nil {
		return api.Topic{}, fmt.Errorf("create topic %q: %w", spec.Name, err)
	}
	op := &createTopic{topic: api.Topic{
		Name: spec.Name, Partitions: spec.Partitions, Configs: maps.Clone(spec.Configs),
	}}
	op.bytes = int64(len(spec.Name)) + 64
	for name, value := range spec.Configs {
		op.bytes += int64(len(name)+len(value)) + 16
	}
	if _, err := rand.Read(op.topic.ID[:]); err != nil {
		return api.Topic{}, fmt.Errorf("create topic %q: %w", spec.Name, err)
	}
	// A version 4, variant 1 UUID, as RFC 9562 has it.
	op.topic.ID[6] = op.topic.ID[6]&0x0f | 0x40
	op.topic.ID[8] = op.topic.ID[8]&0x3f | 0x80
	if err := b.do(ctx, op, &op.call); err != nil {
		return api.Topic{}, fmt.Errorf("create topic %q: %w", spec.Name, err)
	}
	return op.topic, nil
}

func checkSpec(spec api.TopicSpec) error {
	if !validTopicName(spec.Name) {
		return fmt.Errorf("%w: topic name", api.ErrInvalid)
	}
	if spec.Partitions < 1 {
		return fmt.Errorf("%w: %d partitions", api.ErrInvalid, spec.Partitions)
	}
	if len(spec.Configs) > configsMax {
		return fmt.Errorf("%w: %d configs", api.ErrInvalid, len(spec.Configs))
	}
	for name, value := range spec.Configs {
		if name == "" || len(name) > configNameBytesMax || len(value) > configValueBytesMax {
			return fmt.Errorf("%w: size of config %.64q", api.ErrInvalid, name)
		}
	}
	return nil
}

// validTopicName is Kafka's rule: 1 to 249 of [a-zA-Z0-9._-], not "." or "..".
func validTopicName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > topicNameBytesMax {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

type createTopic struct {
	call
	topic api.Topic
	bytes int64 // in the queue
}

func (op *createTopic) size() int64 { return op.bytes }

func (op *createTopic) stage(s *staging) {
	topics, partitions := s.state.topics.counts()
	topics += len(s.created)
	partitions += s.createdPartitions
	switch {
	case s.created[op.topic.Name],
		s.state.topics.named(op.topic.Name) != nil && !s.deletedNames[op.topic.Name]:
		op.err = api.ErrTopicExists
		return
	case topics >= s.opts.TopicsMax || partitions+int(op.topic.Partitions) > s.opts.PartitionsMax:
		op.err = fmt.Errorf("%w: more topics or partitions than allowed", api.ErrInvalid)
		return
	}
	op.topic.CreateTime = s.timeMillis
	s.created[op.topic.Name] = true
	s.createdPartitions += int(op.topic.Partitions)
	s.record(int(op.bytes)).addTopicCreated(op.topic)
}

// DeleteTopic deletes a topic with its data and committed offsets, durably.
// It fails with ErrUnknownTopic. Reads that wait on it end with that error.
func (b *Broker) DeleteTopic(ctx context.Context, id api.TopicID) error {
	op := &deleteTopic{id: id}
	if err := b.do(ctx, op, &op.call); err != nil {
		return fmt.Errorf("delete topic: %w", err)
	}
	return nil
}

type deleteTopic struct {
	call
	id api.TopicID
}

func (op *deleteTopic) size() int64 { return 64 }

func (op *deleteTopic) stage(s *staging) {
	top := s.topic(op.id)
	if top == nil {
		op.err = api.ErrUnknownTopic
		return
	}
	s.deleted[op.id] = true
	s.deletedNames[top.Name] = true
	s.record(64).addTopicDeleted(op.id)
}

// TopicByName returns a topic, from memory; ErrUnknownTopic if there is none.
func (b *Broker) TopicByName(_ context.Context, name string) (api.Topic, error) {
	top := b.state.topics.named(name)
	if top == nil {
		return api.Topic{}, fmt.Errorf("topic %q: %w", name, api.ErrUnknownTopic)
	}
	return top.Topic, nil
}

// TopicByID returns a topic, from memory; ErrUnknownTopic if there is none.
func (b *Broker) TopicByID(_ context.Context, id api.TopicID) (api.Topic, error) {
	top := b.state.topics.get(id)
	if top == nil {
		return api.Topic{}, fmt.Errorf("topic id %x: %w", id, api.ErrUnknownTopic)
	}
	return top.Topic, nil
}

// ListTopics returns all topics sorted by name.
func (b *Broker) ListTopics(context.Context) ([]api.Topic, error) {
	out, _, _ := b.state.topics.list()
	return out, nil
}
