package backend

import (
	"context"

	"milena/broker/api"
	"milena/gateway/backend"
)

// Node is what the in-process broker (broker.Broker) and the remote one
// (broker/client.Client) have in common.
type Node interface {
	CreateTopic(context.Context, api.TopicSpec) (api.Topic, error)
	DeleteTopic(context.Context, api.TopicID) error
	TopicByName(context.Context, string) (api.Topic, error)
	TopicByID(context.Context, api.TopicID) (api.Topic, error)
	ListTopics(context.Context) ([]api.Topic, error)

	Enqueue(context.Context, api.Durability, []api.Append) (api.Pending, error)
	Read(context.Context, api.Read) ([]api.ReadResult, error)
	ListOffsets(context.Context, []api.OffsetQuery) ([]api.OffsetAnswer, error)
	Schema(context.Context, api.Key) (api.Schema, error)
	NewProducerID(context.Context) (int64, error)

	CommitOffsets(context.Context, string, []api.GroupOffset) error
	GroupOffsets(context.Context, string) ([]api.GroupOffset, error)
	DeleteGroupOffsets(context.Context, string, []api.GroupOffset) error
	OffsetGroups(context.Context) ([]string, error)

	CompareAndAppend(context.Context, string, int64, []byte) (int64, error)
	Load(context.Context, string) (api.Record, error)
	LoadPrefix(context.Context, string) ([]api.Record, error)
}

// New returns n as the gateway sees it. Whoever passes an in-process broker
// holds its lease (broker.AcquireLease) while the gateway runs.
func New(n Node) backend.Broker { return &adapter{node: n} }

type adapter struct{ node Node }

// CreateTopic implements backend.Topics.
func (a *adapter) CreateTopic(ctx context.Context, spec backend.TopicSpec) (backend.Topic, error) {
	t, err := a.node.CreateTopic(ctx, api.TopicSpec(spec))
	return topic(t), adaptError(err)
}

// DeleteTopic implements backend.Topics.
func (a *adapter) DeleteTopic(ctx context.Context, id backend.TopicID) error {
	return adaptError(a.node.DeleteTopic(ctx, api.TopicID(id)))
}

// TopicByName implements backend.Topics.
func (a *adapter) TopicByName(ctx context.Context, name string) (backend.Topic, error) {
	t, err := a.node.TopicByName(ctx, name)
	return topic(t), adaptError(err)
}

// TopicByID implements backend.Topics.
func (a *adapter) TopicByID(ctx context.Context, id backend.TopicID) (backend.Topic, error) {
	t, err := a.node.TopicByID(ctx, api.TopicID(id))
	return topic(t), adaptError(err)
}

// ListTopics implements backend.Topics.
func (a *adapter) ListTopics(ctx context.Context) ([]backend.Topic, error) {
	topics, err := a.node.ListTopics(ctx)
	out := make([]backend.Topic, len(topics))
	for i := range topics {
		out[i] = topic(topics[i])
	}
	return out, adaptError(err)
}

func topic(t api.Topic) backend.Topic {
	return backend.Topic{ID: backend.TopicID(t.ID), Name: t.Name, Partitions: t.Partitions, Configs: t.Configs}
}

func partition(p backend.Partition) api.Partition {
	return api.Partition{Topic: api.TopicID(p.Topic), Index: p.Index}
}

// Enqueue implements backend.Log.
func (a *adapter) Enqueue(ctx context.Context, d backend.Durability, batches []backend.Append) (backend.Pending, error) {
	in := make([]api.Append, len(batches))
	for i := range batches {
		b := &batches[i]
		in[i] = api.Append{Partition: partition(b.Partition), Batch: b.Batch}
		for _, s := range b.Schemas {
			in[i].Schemas = append(in[i].Schemas, api.Schema{Key: api.Key(s.Key), Encoded: s.Encoded})
		}
	}
	durability := api.Synced
	if d == backend.Written {
		durability = api.Written
	}
	p, err := a.node.Enqueue(ctx, durability, in)
	if err != nil {
		return nil, adaptError(err)
	}
	return pending{p}, nil
}

// pending is an api.Pending as the gateway sees it.
type pending struct{ of api.Pending }

// Wait implements backend.Pending.
func (p pending) Wait(ctx context.Context) ([]backend.Appended, error) {
	got, err := p.of.Wait(ctx)
	if err != nil {
		return nil, adaptError(err)
	}
	out := make([]backend.Appended, len(got))
	for i := range got {
		out[i] = backend.Appended(got[i])
		out[i].Err = adaptError(got[i].Err)
	}
	return out, nil
}

// Read implements backend.Log. There is one leader epoch for ever until
// clustered mode, so that the one a client believes in plays no part here.
func (a *adapter) Read(ctx context.Context, r backend.Read) ([]backend.ReadResult, error) {
	in := api.Read{
		Partitions: make([]api.ReadPartition, len(r.Partitions)),
		BytesMin:   r.BytesMin, BytesMax: r.BytesMax, MaxWait: r.MaxWait, Isolation: isolation(r.Isolation),
		Reserve: r.Reserve,
	}
	for i := range r.Partitions {
		p := &r.Partitions[i]
		in.Partitions[i] = api.ReadPartition{Partition: partition(p.Partition), Offset: p.Offset, BytesMax: p.BytesMax}
	}
	got, err := a.node.Read(ctx, in)
	if err != nil {
		return nil, adaptError(err)
	}
	out := make([]backend.ReadResult, len(got))
	for i := range got {
		out[i] = readResult(&got[i])
	}
	return out, nil
}

func readResult(r *api.ReadResult) backend.ReadResult {
	out := backend.ReadResult{
		Err: adaptError(r.Err), HighWatermark: r.HighWatermark,
		LastStableOffset: r.LastStableOffset, LogStart: r.LogStart,
		Batches: make([]backend.StoredBatch, len(r.Batches)),
	}
	for i := range r.Batches {
		out.Batches[i] = backend.StoredBatch(r.Batches[i])
	}
	for _, t := range r.Aborted {
		out.Aborted = append(out.Aborted, backend.AbortedTransaction(t))
	}
	return out
}

func isolation(i backend.Isolation) api.Isolation {
	if i == backend.ReadCommitted {
		return api.ReadCommitted
	}
	return api.ReadUncommitted
}

// ListOffsets implements backend.Log.
func (a *adapter) ListOffsets(ctx context.Context, queries []backend.OffsetQuery) ([]backend.OffsetAnswer, error) {
	in := make([]api.OffsetQuery, len(queries))
	for i := range queries {
		q := &queries[i]
		in[i] = api.OffsetQuery{Partition: partition(q.Partition), Timestamp: q.Timestamp, Isolation: isolation(q.Isolation)}
	}
	got, err := a.node.ListOffsets(ctx, in)
	if err != nil {
		return nil, adaptError(err)
	}
	out := make([]backend.OffsetAnswer, len(got))
	for i := range got {
		out[i] = backend.OffsetAnswer(got[i])
		out[i].Err = adaptError(got[i].Err)
	}
	return out, nil
}

// Schema implements backend.Log.
func (a *adapter) Schema(ctx context.Context, key backend.Key) (backend.Schema, error) {
	s, err := a.node.Schema(ctx, api.Key(key))
	return backend.Schema{Key: backend.Key(s.Key), Encoded: s.Encoded}, adaptError(err)
}

// NewProducerID implements backend.Log.
func (a *adapter) NewProducerID(ctx context.Context) (int64, error) {
	id, err := a.node.NewProducerID(ctx)
	return id, adaptError(err)
}

// CommitOffsets implements backend.Offsets.
func (a *adapter) CommitOffsets(ctx context.Context, group string, offsets []backend.GroupOffset) error {
	return adaptError(a.node.CommitOffsets(ctx, group, offsetsIn(offsets)))
}

// offsetsIn keeps nil, which means all where offsets are deleted.
func offsetsIn(offsets []backend.GroupOffset) []api.GroupOffset {
	if offsets == nil {
		return nil
	}
	out := make([]api.GroupOffset, len(offsets))
	for i := range offsets {
		o := &offsets[i]
		out[i] = api.GroupOffset{
			Topic: o.Topic, TopicID: api.TopicID(o.TopicID), Partition: o.Partition, Offset: o.Offset,
			LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, CommitTime: o.CommitTime, ExpireTime: o.ExpireTime,
		}
	}
	return out
}

// GroupOffsets implements backend.Offsets.
func (a *adapter) GroupOffsets(ctx context.Context, group string) ([]backend.GroupOffset, error) {
	got, err := a.node.GroupOffsets(ctx, group)
	if err != nil {
		return nil, adaptError(err)
	}
	out := make([]backend.GroupOffset, len(got))
	for i := range got {
		o := &got[i]
		out[i] = backend.GroupOffset{
			Topic: o.Topic, TopicID: backend.TopicID(o.TopicID), Partition: o.Partition, Offset: o.Offset,
			LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, CommitTime: o.CommitTime, ExpireTime: o.ExpireTime,
		}
	}
	return out, nil
}

// DeleteGroupOffsets implements backend.Offsets.
func (a *adapter) DeleteGroupOffsets(ctx context.Context, group string, partitions []backend.GroupOffset) error {
	return adaptError(a.node.DeleteGroupOffsets(ctx, group, offsetsIn(partitions)))
}

// OffsetGroups implements backend.Offsets.
func (a *adapter) OffsetGroups(ctx context.Context) ([]string, error) {
	groups, err := a.node.OffsetGroups(ctx)
	return groups, adaptError(err)
}

// CompareAndAppend implements backend.Coordination.
func (a *adapter) CompareAndAppend(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	version, err := a.node.CompareAndAppend(ctx, key, expected, value)
	return version, adaptError(err)
}

// Load implements backend.Coordination.
func (a *adapter) Load(ctx context.Context, key string) (backend.Record, error) {
	r, err := a.node.Load(ctx, key)
	return backend.Record(r), adaptError(err)
}

// LoadPrefix implements backend.Coordination.
func (a *adapter) LoadPrefix(ctx context.Context, prefix string) ([]backend.Record, error) {
	records, err := a.node.LoadPrefix(ctx, prefix)
	out := make([]backend.Record, len(records))
	for i := range records {
		out[i] = backend.Record(records[i])
	}
	return out, adaptError(err)
}
