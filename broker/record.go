package broker

// The commit record, version 1. It is written behind the chunk it belongs to,
// in one journal entry, and folding commit records in journal order is the
// only way in which the broker's state changes (state.go).
//
//	byte     version, 1
//	varint   time of the commit, milliseconds since the epoch; never decreases
//	items to the end:
//	  byte     kind
//	  uvarint  length of the body
//	  body
//
// Strings and byte strings are a uvarint length and the bytes, ids and keys
// their 16 and 32 bytes, numbers varints (signed: zig-zag). Bodies by kind:
//
//	1 batch          topic id, uvarint partition, uvarint base offset,
//	                 uvarint offset in the chunk, uvarint length,
//	                 uvarint last offset delta, varint max timestamp,
//	                 uvarint encoded size, byte flags;
//	                 with flag 1: uvarint producer id, uvarint epoch,
//	                 varint base sequence
//	2 schema         key, bytes encoded
//	3 topic created  topic id, string name, uvarint partitions,
//	                 uvarint count of configs, string name and value each,
//	                 sorted by name
//	4 topic deleted  topic id
//	5 producer ids   uvarint: ids below it may have been handed out
//	6 offsets        string group, uvarint count, each: topic id,
//	                 uvarint partition, varint offset, varint leader epoch,
//	                 string metadata, varint commit time, varint expire time
//	7 offsets gone   string group, uvarint count, each: topic id,
//	                 uvarint partition; a count of 0 means all
//	8 record         string key, uvarint version, bytes value
//	9 record gone    string key
//
// An unknown version or kind is an error: an older program doesn't skip what a
// newer one promised to keep. A new kind takes the next number and a new
// version of the record.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"milena/broker/api"
)

const recordVersion = 1

type itemKind uint8

const (
	itemBatch itemKind = iota + 1
	itemSchema
	itemTopicCreated
	itemTopicDeleted
	itemProducerIDs
	itemOffsets
	itemOffsetsGone
	itemRecord
	itemRecordGone
)

// Flags of a batch, in commit records and in the index.
const (
	flagProducer uint32 = 1 << iota
	flagTransactional
	flagControl
	flagAppendTime // the records' timestamp is the append time
	flagAbort      // a control batch that aborts

	flagsKnown = 1<<iota - 1
)

// batchItem is one batch of a commit record.
type batchItem struct {
	partition       api.Partition
	baseOffset      int64
	chunkOffset     uint32
	length          uint32
	lastOffsetDelta int32
	maxTimestamp    int64
	encodedSize     int32
	flags           uint32
	producerID      int64
	producerEpoch   int16
	baseSequence    int32
}

// item is one decoded item; which fields are set depends on kind. Byte slices
// point into the record.
type item struct {
	kind       itemKind
	batch      batchItem
	schema     api.Schema
	topic      api.Topic // CreateTime is the commit's time
	topicID    api.TopicID
	producerID int64
	group      string
	offsets    []api.GroupOffset
	record     api.Record
}

var errRecord = errors.New("commit record")

// recordBuilder builds a commit record by appending to buf.
type recordBuilder struct {
	buf     []byte
	scratch []byte
	items   int
}

func (r *recordBuilder) reset(timeMillis int64) {
	r.buf = append(r.buf[:0], recordVersion)
	r.buf = binary.AppendVarint(r.buf, timeMillis)
	r.items = 0
}

func (r *recordBuilder) add(kind itemKind, body []byte) {
	r.buf = append(r.buf, byte(kind))
	r.buf = binary.AppendUvarint(r.buf, uint64(len(body)))
	r.buf = append(r.buf, body...)
	r.scratch = body[:0]
	r.items++
}

func (r *recordBuilder) addBatch(b *batchItem) {
	d := append(r.scratch[:0], b.partition.Topic[:]...)
	d = binary.AppendUvarint(d, uint64(b.partition.Index))
	d = binary.AppendUvarint(d, uint64(b.baseOffset))
	d = binary.AppendUvarint(d, uint64(b.chunkOffset))
	d = binary.AppendUvarint(d, uint64(b.length))
	d = binary.AppendUvarint(d, uint64(b.lastOffsetDelta))
	d = binary.AppendVarint(d, b.maxTimestamp)
	d = binary.AppendUvarint(d, uint64(b.encodedSize))
	d = append(d, byte(b.flags))
	if b.flags&flagProducer != 0 {
		d = binary.AppendUvarint(d, uint64(b.producerID))
		d = binary.AppendUvarint(d, uint64(b.producerEpoch))
		d = binary.AppendVarint(d, int64(b.baseSequence))
	}
	r.add(itemBatch, d)
}

func (r *recordBuilder) addSchema(s api.Schema) {
	d := append(r.scratch[:0], s.Key[:]...)
	r.add(itemSchema, appendBytes(d, s.Encoded))
}

func (r *recordBuilder) addTopicCreated(t api.Topic) {
	r.add(itemTopicCreated, appendTopic(r.scratch[:0], t))
}

func appendTopic(d []byte, t api.Topic) []byte {
	d = append(d, t.ID[:]...)
	d = appendString(d, t.Name)
	d = binary.AppendUvarint(d, uint64(t.Partitions))
	d = binary.AppendUvarint(d, uint64(len(t.Configs)))
	for _, name := range slices.Sorted(maps.Keys(t.Configs)) {
		d = appendString(d, name)
		d = appendString(d, t.Configs[name])
	}
	return d
}

func (r *recordBuilder) addTopicDeleted(id api.TopicID) {
	r.add(itemTopicDeleted, append(r.scratch[:0], id[:]...))
}

func (r *recordBuilder) addProducerIDs(end int64) {
	r.add(itemProducerIDs, binary.AppendUvarint(r.scratch[:0], uint64(end)))
}

func (r *recordBuilder) addOffsets(group string, offsets []api.GroupOffset) {
	d := appendString(r.scratch[:0], group)
	d = binary.AppendUvarint(d, uint64(len(offsets)))
	for i := range offsets {
		d = appendGroupOffset(d, &offsets[i])
	}
	r.add(itemOffsets, d)
}

func (r *recordBuilder) addOffsetsGone(group string, offsets []api.GroupOffset) {
	d := appendString(r.scratch[:0], group)
	d = binary.AppendUvarint(d, uint64(len(offsets)))
	for i := range offsets {
		d = append(d, offsets[i].TopicID[:]...)
		d = binary.AppendUvarint(d, uint64(offsets[i].Partition))
	}
	r.add(itemOffsetsGone, d)
}

func (r *recordBuilder) addRecord(rec api.Record) {
	d := appendString(r.scratch[:0], rec.Key)
	d = binary.AppendUvarint(d, uint64(rec.Version))
	r.add(itemRecord, appendBytes(d, rec.Value))
}

func (r *recordBuilder) addRecordGone(key string) {
	r.add(itemRecordGone, appendString(r.scratch[:0], key))
}

func appendGroupOffset(d []byte, o *api.GroupOffset) []byte {
	d = append(d, o.TopicID[:]...)
	d = binary.AppendUvarint(d, uint64(o.Partition))
	d = binary.AppendVarint(d, o.Offset)
	d = binary.AppendVarint(d, int64(o.LeaderEpoch))
	d = appendString(d, o.Metadata)
	d = binary.AppendVarint(d, o.CommitTime)
	return binary.AppendVarint(d, o.ExpireTime)
}

func appendString(d []byte, s string) []byte {
	return append(binary.AppendUvarint(d, uint64(len(s))), s...)
}

func appendBytes(d, b []byte) []byte {
	return append(binary.AppendUvarint(d, uint64(len(b))), b...)
}

// foldRecord decodes record and calls fn for each item, in order. The item is
// reused. What fn returned ends the walk.
func foldRecord(record []byte, fn func(timeMillis int64, it *item) error) error {
	c := cursor{b: record}
	if v := c.byte(); !c.bad && v != recordVersion {
		return fmt.Errorf("%w: unknown version %d", errRecord, v)
	}
	timeMillis := c.varint()
	var it item
	for !c.bad && len(c.b) > 0 {
		kind := itemKind(c.byte())
		body := cursor{b: c.bytes()}
		if c.bad {
			break
		}
		it = item{kind: kind, offsets: it.offsets[:0]}
		if !it.decode(&body) {
			return fmt.Errorf("%w: unknown item kind %d", errRecord, kind)
		}
		if body.bad || len(body.b) != 0 {
			return fmt.Errorf("%w: malformed item of kind %d", errRecord, kind)
		}
		it.topic.CreateTime = timeMillis
		if err := fn(timeMillis, &it); err != nil {
			return err
		}
	}
	if c.bad {
		return fmt.Errorf("%w: truncated", errRecord)
	}
	return nil
}

// decode reads the body of an item; false if the kind is unknown.
func (it *item) decode(c *cursor) bool {
	switch it.kind {
	case itemBatch:
		it.batch.decode(c)
	case itemSchema:
		c.copy(it.schema.Key[:])
		it.schema.Encoded = c.bytes()
	case itemTopicCreated:
		it.topic = decodeTopic(c)
	case itemTopicDeleted:
		c.copy(it.topicID[:])
	case itemProducerIDs:
		it.producerID = c.uint(1<<63 - 1)
	case itemOffsets:
		it.group = c.string()
		for range c.count(20) {
			it.offsets = append(it.offsets, decodeGroupOffset(c))
		}
	case itemOffsetsGone:
		it.group = c.string()
		for range c.count(17) {
			var o api.GroupOffset
			c.copy(o.TopicID[:])
			o.Partition = int32(c.uint(1<<31 - 1))
			it.offsets = append(it.offsets, o)
		}
	case itemRecord:
		it.record.Key = c.string()
		it.record.Version = c.uint(1<<63 - 1)
		it.record.Value = c.bytes()
	case itemRecordGone:
		it.record.Key = c.string()
	default:
		return false
	}
	return true
}

func (b *batchItem) decode(c *cursor) {
	c.copy(b.partition.Topic[:])
	b.partition.Index = int32(c.uint(1<<31 - 1))
	b.baseOffset = c.uint(1<<63 - 1)
	b.chunkOffset = uint32(c.uint(1<<32 - 1))
	b.length = uint32(c.uint(1<<32 - 1))
	b.lastOffsetDelta = int32(c.uint(1<<31 - 1))
	b.maxTimestamp = c.varint()
	b.encodedSize = int32(c.uint(1<<31 - 1))
	b.flags = uint32(c.byte())
	c.check(b.flags&^flagsKnown == 0)
	b.producerID, b.producerEpoch, b.baseSequence = -1, -1, -1
	if b.flags&flagProducer != 0 {
		b.producerID = c.uint(1<<63 - 1)
		b.producerEpoch = int16(c.uint(1<<15 - 1))
		seq := c.varint()
		c.check(seq >= -1 && seq < 1<<31)
		b.baseSequence = int32(seq)
	}
}

func decodeTopic(c *cursor) api.Topic {
	var t api.Topic
	c.copy(t.ID[:])
	t.Name = c.string()
	t.Partitions = int32(c.uint(1<<31 - 1))
	n := c.count(2)
	if n > 0 {
		t.Configs = make(map[string]string, n)
	}
	last := ""
	for i := range n {
		name := c.string()
		c.check(i == 0 || name > last)
		last = name
		t.Configs[name] = c.string()
	}
	return t
}

func decodeGroupOffset(c *cursor) api.GroupOffset {
	var o api.GroupOffset
	c.copy(o.TopicID[:])
	o.Partition = int32(c.uint(1<<31 - 1))
	o.Offset = c.varint()
	epoch := c.varint()
	c.check(epoch >= -1<<31 && epoch < 1<<31)
	o.LeaderEpoch = int32(epoch)
	o.Metadata = c.string()
	o.CommitTime = c.varint()
	o.ExpireTime = c.varint()
	return o
}
