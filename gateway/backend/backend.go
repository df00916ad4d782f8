package backend

import (
	"context"
	"time"
)

// TopicID is a topic's UUID. It is never reused.
type TopicID [16]byte

// Topic describes a topic. Values are immutable.
type Topic struct {
	ID         TopicID
	Name       string
	Partitions int32
	// Configs holds only what was set on the topic, by Kafka's config names
	// ("cleanup.policy") and ours ("milena.value.validation").
	Configs map[string]string
}

// TopicSpec is a topic to be created.
type TopicSpec struct {
	Name       string
	Partitions int32
	Configs    map[string]string
}

// Partition names one partition by topic id.
type Partition struct {
	Topic TopicID
	Index int32
}

// Key is the content key of a schema (serde/schema.Key).
type Key [32]byte

// Schema is a schema under its content key, encoded by
// serde/schema.Resolved.AppendBinary.
type Schema struct {
	Key     Key
	Encoded []byte
}

// Append is one stored batch for one partition.
type Append struct {
	Partition Partition
	// Batch is a stored batch, version 1. The broker owns it from the call on.
	Batch []byte
	// Schemas are those that the batch's records use and that this gateway has
	// not yet seen acknowledged by this broker. The broker stores unknown ones
	// in the same commit.
	Schemas []Schema
}

// Appended is the outcome for one Append.
type Appended struct {
	Err         error
	BaseOffset  int64
	LogStart    int64
	LeaderEpoch int32
	// Timestamp is the append time in milliseconds since the epoch on
	// LogAppendTime topics, else -1.
	Timestamp int64
	// Duplicate: the batch was stored before; BaseOffset is that of then.
	Duplicate bool
}

// Durability says when an append is answered.
type Durability uint8

const (
	// Synced: after fsync (acks=all).
	Synced Durability = iota
	// Written: once it survives a crash of the process (acks=1, acks=0).
	Written
)

// Pending is an append that has its place in the order and is not yet
// answered.
type Pending interface {
	// Wait returns the outcomes, one for each batch, in order; its error is for
	// the call as a whole, whose outcome is then unknown: the batches may be
	// stored. It is called at most once, and need not be: the append takes place
	// all the same.
	Wait(ctx context.Context) ([]Appended, error)
}

// Isolation of a read.
type Isolation uint8

const (
	// ReadUncommitted sees everything below the high watermark.
	ReadUncommitted Isolation = iota
	// ReadCommitted sees everything below the last stable offset.
	ReadCommitted
)

// ReadPartition asks for whole stored batches from the one that holds Offset.
type ReadPartition struct {
	Partition Partition
	Offset    int64
	BytesMax  int32
	// LeaderEpoch is the epoch the client believes in, -1 for none.
	LeaderEpoch int32
}

// Read is a fetch over many partitions. It returns at once if BytesMin bytes
// are there, a partition has an error, or MaxWait is zero; else when one of
// these becomes true, MaxWait has passed or the context ends. The first batch
// of the first partition that has one is returned whole whatever its size.
// Sizes are those of the record batches as clients see them, uncompressed.
type Read struct {
	Partitions []ReadPartition
	BytesMin   int32
	BytesMax   int32
	MaxWait    time.Duration
	Isolation  Isolation
	// Reserve, if not nil, is called once before any batch is loaded, with the
	// bytes that the batches have as they are stored and as record batches,
	// together; not at all if there is none. It may wait for so much memory, and
	// its error ends the read.
	Reserve func(ctx context.Context, bytes int64) error
}

// StoredBatch is one batch as read. Bytes must not be changed.
type StoredBatch struct {
	BaseOffset  int64
	LeaderEpoch int32
	// AppendTime in milliseconds since the epoch.
	AppendTime int64
	Bytes      []byte
}

// AbortedTransaction is a range that a read_committed consumer skips.
type AbortedTransaction struct {
	ProducerID  int64
	FirstOffset int64
}

// ReadResult is the outcome for one ReadPartition, in the order asked.
type ReadResult struct {
	Err              error
	HighWatermark    int64
	LastStableOffset int64
	LogStart         int64
	Batches          []StoredBatch
	Aborted          []AbortedTransaction
}

// OffsetQuery asks ListOffsets for one partition. Timestamp is in milliseconds,
// or one of Kafka's special values: -1 latest, -2 earliest, -3 max timestamp,
// -4 earliest local, -5 latest tiered.
type OffsetQuery struct {
	Partition   Partition
	Timestamp   int64
	Isolation   Isolation
	LeaderEpoch int32
}

// OffsetAnswer holds offset and timestamp, -1 and -1 if there is none.
type OffsetAnswer struct {
	Err         error
	Offset      int64
	Timestamp   int64
	LeaderEpoch int32
}

// GroupOffset is one committed offset.
type GroupOffset struct {
	Topic       string
	TopicID     TopicID
	Partition   int32
	Offset      int64
	LeaderEpoch int32
	Metadata    string
	// CommitTime in milliseconds since the epoch.
	CommitTime int64
	// ExpireTime in milliseconds since the epoch, -1 if it follows the
	// group's retention.
	ExpireTime int64
}

// Record is a small versioned value of a coordinator ("group/payments").
// Version starts at 1 and grows by one with each append.
type Record struct {
	Key     string
	Version int64
	Value   []byte
}

// Broker is what the gateway needs. All methods may be called concurrently.
// Errors wrap those of errors.go or the context's.
type Broker interface {
	Topics
	Log
	Offsets
	Coordination
}

// Topics manages topics.
type Topics interface {
	// CreateTopic creates a topic; the id is chosen by the broker. The topic
	// can be produced to when it returns.
	CreateTopic(ctx context.Context, spec TopicSpec) (Topic, error)
	// DeleteTopic deletes a topic with its data and committed offsets.
	DeleteTopic(ctx context.Context, id TopicID) error
	// TopicByName and TopicByID answer from memory; ErrUnknownTopic if there
	// is none.
	TopicByName(ctx context.Context, name string) (Topic, error)
	TopicByID(ctx context.Context, id TopicID) (Topic, error)
	// ListTopics returns all topics sorted by name.
	ListTopics(ctx context.Context) ([]Topic, error)
}

// Log appends and reads.
type Log interface {
	// Enqueue stores each batch whole or not at all, one outcome each, in order,
	// and returns once they have their place in the order, without waiting for
	// their durability: batches passed in one call, and in calls one after the
	// other, keep it, so that a caller may have many appends pending, which
	// share syncs. An error means that nothing of the call will be stored.
	Enqueue(ctx context.Context, durability Durability, batches []Append) (Pending, error)
	// Read answers each partition, in order.
	Read(ctx context.Context, r Read) ([]ReadResult, error)
	// ListOffsets answers each query, in order. It counts all batches whose
	// append was answered before the call, with either durability.
	ListOffsets(ctx context.Context, queries []OffsetQuery) ([]OffsetAnswer, error)
	// Schema returns a stored schema by content key. ErrUnknownTopic never;
	// ErrInvalid if no stored record uses such a schema.
	Schema(ctx context.Context, key Key) (Schema, error)
	// NewProducerID returns a producer id that was never returned before.
	NewProducerID(ctx context.Context) (int64, error)
}

// Offsets keeps the committed offsets of consumer groups.
type Offsets interface {
	// CommitOffsets stores all offsets durably, or none.
	CommitOffsets(ctx context.Context, group string, offsets []GroupOffset) error
	// GroupOffsets returns a group's offsets; none is no error.
	GroupOffsets(ctx context.Context, group string) ([]GroupOffset, error)
	// DeleteGroupOffsets forgets offsets of a group; nil means all of them.
	DeleteGroupOffsets(ctx context.Context, group string, partitions []GroupOffset) error
	// OffsetGroups lists groups with committed offsets, sorted.
	OffsetGroups(ctx context.Context) ([]string, error)
}

// Coordination keeps versioned opaque records.
type Coordination interface {
	// CompareAndAppend stores value durably as the next version of key if the
	// current version is expected (0: there is none), else ErrConflict. A nil
	// value deletes the record. It returns the new version.
	CompareAndAppend(ctx context.Context, key string, expected int64, value []byte) (int64, error)
	// Load returns a record; Version 0 if there is none.
	Load(ctx context.Context, key string) (Record, error)
	// LoadPrefix returns all records whose key starts with prefix, by key.
	LoadPrefix(ctx context.Context, prefix string) ([]Record, error)
}
