package api

import (
	"context"
	"time"
)

// TopicID is a topic's UUID. It is chosen by the broker and never reused.
type TopicID [16]byte

// Key is the content key of a schema (serde/schema.Key): SHA-256 over its
// encoded form.
type Key [32]byte

// Topic describes a topic. Values are immutable.
type Topic struct {
	ID         TopicID
	Name       string
	Partitions int32
	// Configs holds only what was set on the topic, by name.
	Configs map[string]string
	// CreateTime in milliseconds since the epoch.
	CreateTime int64
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

// Schema is a schema under its content key, encoded by
// serde/schema.Resolved.AppendBinary. The broker refuses one whose key is not
// the SHA-256 of Encoded.
type Schema struct {
	Key     Key
	Encoded []byte
}

// Append is one stored batch (broker/stored) for one partition.
type Append struct {
	Partition Partition
	// Batch is owned by the broker from the call on.
	Batch []byte
	// Schemas are those that the batch's records use and that the caller has
	// not yet seen acknowledged. Unknown ones are stored in the same commit.
	Schemas []Schema
}

// Appended is the outcome for one Append. Offset, Timestamp and LogStart are
// -1 where Err is set.
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
	// Wait returns the outcomes, one for each batch, in order. It is called at
	// most once, and need not be: the append takes place all the same. If ctx
	// ends first the outcome is unknown: the batches may be stored.
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
	// BytesMax bounds the batches of this partition, by their encoded size.
	BytesMax int32
}

// Read is a read over many partitions. It is answered at once if BytesMin
// bytes are there, a partition has an error, or MaxWait is zero; else when one
// of these becomes true or MaxWait has passed. The first batch of the first
// partition that has one is returned whole whatever its size (KIP-74). Sizes
// are encoded sizes: those of the record batches as Kafka clients see them,
// uncompressed.
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

// AbortedTransaction is a range that a read_committed consumer skips: records
// of ProducerID from FirstOffset to that producer's next abort marker.
type AbortedTransaction struct {
	ProducerID  int64
	FirstOffset int64
}

// ReadResult is the outcome for one ReadPartition, in the order asked. The
// offsets are -1 where Err is set. Aborted is sorted by FirstOffset and filled
// for ReadCommitted only.
type ReadResult struct {
	Err              error
	HighWatermark    int64
	LastStableOffset int64
	LogStart         int64
	Batches          []StoredBatch
	Aborted          []AbortedTransaction
}

// Special timestamps of an OffsetQuery, as in Kafka's ListOffsets.
const (
	Latest        int64 = -1 // high watermark, or last stable offset for ReadCommitted
	Earliest      int64 = -2 // log start
	MaxTimestamp  int64 = -3 // first record with the greatest timestamp (KIP-734)
	EarliestLocal int64 = -4 // as Earliest: there is no tiered storage (KIP-405)
	LatestTiered  int64 = -5 // none: there is no tiered storage
)

// OffsetQuery asks for one offset of one partition. Timestamp is in
// milliseconds since the epoch or one of the special values. The answer counts
// every batch whose append was answered before the call, with either
// durability: where it matters it waits for the sync of those that are only
// written.
type OffsetQuery struct {
	Partition Partition
	Timestamp int64
	Isolation Isolation
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

// Framing says how a record's key or value named its schema.
type Framing uint8

// Framings; the numbers are those of broker/stored.
const (
	FramingNone     Framing = 0
	FramingPrefix   Framing = 1
	FramingHeaderV0 Framing = 2
	FramingHeaderV1 Framing = 3
)

// Datum is a key or a value as a subscriber sees it.
type Datum struct {
	// Null: a tombstone, or a record without key.
	Null    bool
	Framing Framing
	// SchemaID is the id as produced, for FramingPrefix.
	SchemaID uint32
	// Schema is the content key of the schema, zero if nothing was decoded.
	Schema Key
	// RecordValue is the wire form of a milena.record.v1.RecordValue, present
	// if Schema is not zero.
	RecordValue []byte
	// Raw is the key or value as produced, where it could not be decoded.
	Raw []byte
}

// Header is one record header; a nil Value is null.
type Header struct {
	Key   string
	Value []byte
}

// DecodedRecord is one record as a subscriber sees it.
type DecodedRecord struct {
	Offset int64
	// Timestamp in milliseconds since the epoch.
	Timestamp int64
	Key       Datum
	Value     Datum
	Headers   []Header
}
