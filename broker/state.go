package broker

import (
	"errors"
	"fmt"

	"milena/broker/api"
	"milena/broker/journal"
)

// state is everything that commit records say: folding them in journal order
// is the only way in which it changes, at start from checkpoint and replay,
// afterwards by the committer with each durable group. The committer owns it;
// what others read lies behind atomic pointers (partitions' views) or the
// named locks of the tables.
type state struct {
	opts    *Options
	topics  *topicTable
	schemas *schemaTable
	offsets *offsetTable
	records *recordTable
	// producerIDs: ids below it may have been handed out.
	producerIDs int64
	// timeMillis of the newest commit.
	timeMillis int64
	// next is the position behind the newest folded entry.
	next journal.Position

	// touched partitions have a draft that is not published yet.
	touched []*partition
	// changed rows since the last checkpoint, without those that partitions
	// know themselves.
	changed map[rowKey]struct{}
	// changedPartitions have something to save.
	changedPartitions map[*partition]struct{}
}

func newState(o *Options) *state {
	return &state{
		opts:              o,
		topics:            newTopicTable(),
		schemas:           newSchemaTable(),
		offsets:           newOffsetTable(),
		records:           newRecordTable(),
		changed:           make(map[rowKey]struct{}),
		changedPartitions: make(map[*partition]struct{}),
	}
}

// fold applies the commit record of the entry at p.
func (s *state) fold(p journal.Position, record []byte) error {
	return foldRecord(record, func(timeMillis int64, it *item) error {
		s.timeMillis = max(s.timeMillis, timeMillis)
		switch it.kind {
		case itemBatch:
			return s.foldBatch(p, timeMillis, &it.batch)
		case itemSchema:
			s.schemas.put(it.schema)
			s.mark(sectionSchemas, string(it.schema.Key[:]))
		case itemTopicCreated:
			s.topics.put(newTopic(it.topic))
			s.mark(sectionTopics, string(it.topic.ID[:]))
		case itemTopicDeleted:
			return s.foldTopicDeleted(it.topicID)
		case itemProducerIDs:
			s.producerIDs = max(s.producerIDs, it.producerID)
		case itemOffsets:
			for i := range it.offsets {
				s.offsets.put(it.group, &it.offsets[i])
				s.markOffset(it.group, &it.offsets[i])
			}
		case itemOffsetsGone:
			s.foldOffsetsGone(it)
		case itemRecord:
			s.records.put(it.record)
			s.mark(sectionRecords, it.record.Key)
		case itemRecordGone:
			s.records.remove(it.record.Key)
			s.mark(sectionRecords, it.record.Key)
		}
		return nil
	})
}

func (s *state) foldBatch(pos journal.Position, timeMillis int64, b *batchItem) error {
	p := s.topics.partition(b.partition)
	if p == nil {
		return fmt.Errorf("%w: batch for an unknown partition %x-%d", errRecord, b.partition.Topic, b.partition.Index)
	}
	if b.baseOffset != p.draft.high {
		return fmt.Errorf("%w: base offset %d of %x-%d where %d is next",
			errRecord, b.baseOffset, b.partition.Topic, b.partition.Index, p.draft.high)
	}
	p.apply(b, batchRef{
		baseOffset: b.baseOffset, position: pos, maxTimestamp: b.maxTimestamp, appendTime: timeMillis,
		chunkOffset: b.chunkOffset, length: b.length, encodedSize: b.encodedSize, flags: b.flags,
	}, s.opts)
	if n := len(s.touched); n == 0 || s.touched[n-1] != p {
		s.touched = append(s.touched, p)
	}
	s.changedPartitions[p] = struct{}{}
	return nil
}

func (s *state) foldTopicDeleted(id api.TopicID) error {
	top := s.topics.get(id)
	if top == nil {
		return fmt.Errorf("%w: deletes an unknown topic %x", errRecord, id)
	}
	s.topics.remove(top)
	s.mark(sectionTopics, string(id[:]))
	for _, gone := range s.offsets.removeTopic(id) {
		s.markOffset(gone.group, &gone.offset)
	}
	for _, p := range top.partitions {
		// The rows of the partition go with the topic's: see checkpoint.go.
		delete(s.changedPartitions, p)
		s.touched = append(s.touched, p)
	}
	s.markDeletedPartitions(top)
	return nil
}

func (s *state) foldOffsetsGone(it *item) {
	if len(it.offsets) == 0 {
		for _, o := range s.offsets.group(it.group) {
			s.markOffset(it.group, &o)
		}
		s.offsets.removeGroup(it.group)
		return
	}
	for i := range it.offsets {
		s.offsets.remove(it.group, &it.offsets[i])
		s.markOffset(it.group, &it.offsets[i])
	}
}

// publish shows readers what was folded, and wakes those that wait for it.
func (s *state) publish() {
	for _, p := range s.touched {
		p.publish()
	}
	for _, p := range s.touched {
		p.waiting.wake()
	}
	clear(s.touched)
	s.touched = s.touched[:0]
}

// errReplay marks what makes a start impossible: guessing would lose or
// renumber data.
var errReplay = errors.New("replay")
