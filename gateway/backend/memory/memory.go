package memory

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"milena/gateway/backend"
)

// partitionsMax bounds the partitions of a topic.
const partitionsMax = 100_000

// Broker is an in-memory broker. It is safe for concurrent use.
type Broker struct {
	now func() time.Time

	mu          sync.Mutex // guards everything below
	topics      map[backend.TopicID]*topic
	names       map[string]*topic
	schemas     map[backend.Key]backend.Schema
	producerIDs int64
	offsets     map[string]map[backend.Partition]backend.GroupOffset
	records     map[string]backend.Record
	// changed is closed and replaced whenever a waiting read may have more.
	changed chan struct{}
	failure error
}

var _ backend.Broker = (*Broker)(nil)

// topic and its partitions; the lock of the Broker guards them.
type topic struct {
	backend.Topic
	partitions []partition
}

// New returns an empty Broker. now gives append times; time.Now if nil.
func New(now func() time.Time) *Broker {
	if now == nil {
		now = time.Now
	}
	return &Broker{
		now:     now,
		topics:  map[backend.TopicID]*topic{},
		names:   map[string]*topic{},
		schemas: map[backend.Key]backend.Schema{},
		offsets: map[string]map[backend.Partition]backend.GroupOffset{},
		records: map[string]backend.Record{},
		changed: make(chan struct{}),
	}
}

// Fail has every following call fail with err, until it is called with nil: to
// test what clients are told about a broker in trouble.
func (b *Broker) Fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failure = err
	b.wake()
}

// lock takes the mutex for a call, unless the call is to fail.
func (b *Broker) lock(ctx context.Context, operation string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	b.mu.Lock()
	if b.failure != nil {
		defer b.mu.Unlock()
		return fmt.Errorf("%s: %w", operation, b.failure)
	}
	return nil
}

// wake wakes waiting reads. The lock is held.
func (b *Broker) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// CreateTopic implements backend.Topics.
func (b *Broker) CreateTopic(ctx context.Context, spec backend.TopicSpec) (backend.Topic, error) {
	if err := b.lock(ctx, "create topic"); err != nil {
		return backend.Topic{}, err
	}
	defer b.mu.Unlock()
	if !validName(spec.Name) || spec.Partitions < 1 || spec.Partitions > partitionsMax {
		return backend.Topic{}, fmt.Errorf("create topic %q with %d partitions: %w", spec.Name, spec.Partitions, backend.ErrInvalid)
	}
	if b.names[spec.Name] != nil {
		return backend.Topic{}, fmt.Errorf("create topic %q: %w", spec.Name, backend.ErrTopicExists)
	}
	t := &topic{
		Topic:      backend.Topic{ID: newID(), Name: spec.Name, Partitions: spec.Partitions, Configs: maps.Clone(spec.Configs)},
		partitions: make([]partition, spec.Partitions),
	}
	b.topics[t.ID], b.names[t.Name] = t, t
	return t.Topic, nil
}

// validName is Kafka's rule for topic names.
func validName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 249 {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}

// newID returns a random UUID, version 4.
func newID() (id backend.TopicID) {
	// crypto/rand doesn't fail since Go 1.24.
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// DeleteTopic implements backend.Topics.
func (b *Broker) DeleteTopic(ctx context.Context, id backend.TopicID) error {
	if err := b.lock(ctx, "delete topic"); err != nil {
		return err
	}
	defer b.mu.Unlock()
	t := b.topics[id]
	if t == nil {
		return fmt.Errorf("delete topic: %w", backend.ErrUnknownTopic)
	}
	delete(b.topics, id)
	delete(b.names, t.Name)
	for group, offsets := range b.offsets {
		maps.DeleteFunc(offsets, func(p backend.Partition, _ backend.GroupOffset) bool { return p.Topic == id })
		if len(offsets) == 0 {
			delete(b.offsets, group)
		}
	}
	b.wake()
	return nil
}

// TopicByName implements backend.Topics.
func (b *Broker) TopicByName(ctx context.Context, name string) (backend.Topic, error) {
	if err := b.lock(ctx, "find topic"); err != nil {
		return backend.Topic{}, err
	}
	defer b.mu.Unlock()
	if t := b.names[name]; t != nil {
		return t.Topic, nil
	}
	return backend.Topic{}, fmt.Errorf("topic %q: %w", name, backend.ErrUnknownTopic)
}

// TopicByID implements backend.Topics.
func (b *Broker) TopicByID(ctx context.Context, id backend.TopicID) (backend.Topic, error) {
	if err := b.lock(ctx, "find topic"); err != nil {
		return backend.Topic{}, err
	}
	defer b.mu.Unlock()
	if t := b.topics[id]; t != nil {
		return t.Topic, nil
	}
	return backend.Topic{}, fmt.Errorf("topic id %x: %w", id, backend.ErrUnknownTopic)
}

// ListTopics implements backend.Topics.
func (b *Broker) ListTopics(ctx context.Context) ([]backend.Topic, error) {
	if err := b.lock(ctx, "list topics"); err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	out := make([]backend.Topic, 0, len(b.names))
	for _, t := range b.names {
		out = append(out, t.Topic)
	}
	slices.SortFunc(out, func(x, y backend.Topic) int { return cmp.Compare(x.Name, y.Name) })
	return out, nil
}

// partition finds a partition, nil if there is none. The lock is held.
func (b *Broker) partition(p backend.Partition) (*topic, *partition) {
	t := b.topics[p.Topic]
	if t == nil || p.Index < 0 || int(p.Index) >= len(t.partitions) {
		return nil, nil
	}
	return t, &t.partitions[p.Index]
}

// NewProducerID implements backend.Log.
func (b *Broker) NewProducerID(ctx context.Context) (int64, error) {
	if err := b.lock(ctx, "new producer id"); err != nil {
		return -1, err
	}
	defer b.mu.Unlock()
	b.producerIDs++
	return b.producerIDs, nil
}

// Schema implements backend.Log.
func (b *Broker) Schema(ctx context.Context, key backend.Key) (backend.Schema, error) {
	if err := b.lock(ctx, "read schema"); err != nil {
		return backend.Schema{}, err
	}
	defer b.mu.Unlock()
	s, ok := b.schemas[key]
	if !ok {
		return backend.Schema{}, fmt.Errorf("schema %x: %w: not stored", key[:8], backend.ErrInvalid)
	}
	return s, nil
}
