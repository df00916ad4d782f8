package broker

// Checkpoint rows, version 1. A checkpoint is the state at a journal position;
// each section's name begins with a number, because rows are loaded in the
// order of sections and those below need those above.
//
//	section        key                                 value
//	00-meta        empty                               byte version, varint time of the newest commit,
//	                                                   uvarint producer ids
//	10-topics      topic id                            as in a commit record, then varint create time
//	20-partitions  topic id, partition (BE 32)         uvarint log start, uvarint high watermark,
//	                                                   uvarint number of batches,
//	                                                   uvarint n open transactions: uvarint producer id,
//	                                                     uvarint first offset,
//	                                                   uvarint n aborted ones: the same, uvarint last offset
//	30-blocks      topic id, partition, block (BE 32)  uvarint n entries of the index, see appendRef
//	40-producers   topic id, partition, id (BE 64)     see appendProducer
//	50-schemas     content key                         the encoded schema
//	60-offsets     uvarint length of group, group,     as in a commit record, without topic id and partition
//	               topic id, partition (BE 32)
//	70-records     key                                 uvarint version, value
//
// Only changed rows are saved. A partition's block is saved again until it is
// full, which is the last time that it changes.

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"milena/broker/api"
	"milena/broker/catalog"
	"milena/broker/journal"
)

const rowsVersion = 1

const (
	sectionMeta       = "00-meta"
	sectionTopics     = "10-topics"
	sectionPartitions = "20-partitions"
	sectionBlocks     = "30-blocks"
	sectionProducers  = "40-producers"
	sectionSchemas    = "50-schemas"
	sectionOffsets    = "60-offsets"
	sectionRecords    = "70-records"
)

var errRow = errors.New("checkpoint row")

// rowKey names a row.
type rowKey struct{ section, key string }

// mark says that a row differs from what the last checkpoint has.
func (s *state) mark(section, key string) { s.changed[rowKey{section, key}] = struct{}{} }

func (s *state) markOffset(group string, o *api.GroupOffset) {
	s.mark(sectionOffsets, offsetKey(group, partitionOf(o)))
}

// markDeletedPartitions marks all rows of a deleted topic's partitions.
func (s *state) markDeletedPartitions(top *topic) {
	for _, p := range top.partitions {
		s.mark(sectionPartitions, partitionKey(p.id))
		for b := 0; b*blockRefs < p.draft.len(); b++ {
			s.mark(sectionBlocks, blockKey(p.id, b))
		}
		for id := range p.producers {
			s.mark(sectionProducers, producerKey(p.id, id))
		}
		for _, id := range p.dirtyProducers {
			s.mark(sectionProducers, producerKey(p.id, id))
		}
	}
}

func partitionKey(p api.Partition) string {
	return string(binary.BigEndian.AppendUint32(p.Topic[:len(p.Topic):len(p.Topic)], uint32(p.Index)))
}

func blockKey(p api.Partition, number int) string {
	return string(binary.BigEndian.AppendUint32([]byte(partitionKey(p)), uint32(number)))
}

func producerKey(p api.Partition, id int64) string {
	return string(binary.BigEndian.AppendUint64([]byte(partitionKey(p)), uint64(id)))
}

func offsetKey(group string, p api.Partition) string {
	return string(append(appendString(nil, group), partitionKey(p)...))
}

// cutPartition reads what partitionKey wrote.
func (c *cursor) cutPartition() api.Partition {
	var p api.Partition
	c.copy(p.Topic[:])
	p.Index = int32(c.bigEndian(4))
	c.check(p.Index >= 0)
	return p
}

func (c *cursor) bigEndian(n int) uint64 {
	var b [8]byte
	c.copy(b[8-n:])
	return binary.BigEndian.Uint64(b[:])
}

// changedRows encodes everything that changed since the last call, and forgets
// that it did.
func (s *state) changedRows() []catalog.Row {
	rows := []catalog.Row{s.metaRow()}
	for k := range s.changed {
		rows = append(rows, s.row(k))
	}
	for p := range s.changedPartitions {
		rows = s.appendPartitionRows(rows, p, p.savedRefs)
		p.saved()
	}
	clear(s.changed)
	clear(s.changedPartitions)
	return rows
}

// allRows encodes the whole state, and forgets what changed.
func (s *state) allRows() []catalog.Row {
	clear(s.changed)
	clear(s.changedPartitions)
	rows := []catalog.Row{s.metaRow()}
	for _, top := range s.topics.all() {
		rows = append(rows, s.row(rowKey{sectionTopics, string(top.ID[:])}))
		for _, p := range top.partitions {
			if p.draft.high == 0 {
				continue
			}
			p.dirtyProducers = slices.AppendSeq(p.dirtyProducers[:0], maps.Keys(p.producers))
			rows = s.appendPartitionRows(rows, p, 0)
			p.saved()
		}
	}
	s.schemas.mu.RLock()
	for k, e := range s.schemas.encoded {
		rows = append(rows, catalog.Row{Section: sectionSchemas, Key: k[:], Value: e})
	}
	s.schemas.mu.RUnlock()
	s.offsets.mu.RLock()
	for group, offsets := range s.offsets.groups {
		for p, o := range offsets {
			rows = append(rows, catalog.Row{Section: sectionOffsets, Key: []byte(offsetKey(group, p)), Value: appendOffset(nil, &o)})
		}
	}
	s.offsets.mu.RUnlock()
	s.records.mu.RLock()
	for key, r := range s.records.byKey {
		rows = append(rows, catalog.Row{Section: sectionRecords, Key: []byte(key), Value: appendVersioned(nil, r)})
	}
	s.records.mu.RUnlock()
	return rows
}

// saved notes that the partition's rows were encoded.
func (p *partition) saved() {
	p.dirty = false
	for _, id := range p.dirtyProducers {
		if known := p.producers[id]; known != nil {
			known.dirty = false
		}
	}
	p.dirtyProducers = nil
	p.savedRefs = len(p.draft.full) * blockRefs
}

func (s *state) metaRow() catalog.Row {
	v := binary.AppendVarint([]byte{rowsVersion}, s.timeMillis)
	return catalog.Row{Section: sectionMeta, Value: binary.AppendUvarint(v, uint64(s.producerIDs))}
}

// row encodes one row as it is now; one of something that is gone deletes it.
func (s *state) row(k rowKey) catalog.Row {
	r := catalog.Row{Section: k.section, Key: []byte(k.key), Delete: true}
	switch k.section {
	case sectionTopics:
		if top := s.topics.get(api.TopicID([]byte(k.key))); top != nil {
			r.Value, r.Delete = binary.AppendVarint(appendTopic(nil, top.Topic), top.CreateTime), false
		}
	case sectionSchemas:
		if e, ok := s.schemas.get(api.Key([]byte(k.key))); ok {
			r.Value, r.Delete = e, false
		}
	case sectionOffsets:
		c := cursor{b: []byte(k.key)}
		group, p := c.string(), c.cutPartition()
		if o, ok := s.offsets.get(group, p); ok && !c.bad {
			r.Value, r.Delete = appendOffset(nil, &o), false
		}
	case sectionRecords:
		if rec, _ := s.records.get(k.key); rec.Version > 0 {
			r.Value, r.Delete = appendVersioned(nil, rec), false
		}
	}
	return r
}

// appendPartitionRows appends the rows of a partition, its blocks from the one
// of entry from on.
func (s *state) appendPartitionRows(rows []catalog.Row, p *partition, from int) []catalog.Row {
	rows = append(rows, catalog.Row{Section: sectionPartitions, Key: []byte(partitionKey(p.id)), Value: p.appendRow(nil)})
	for n := from / blockRefs; n*blockRefs < p.draft.len(); n++ {
		rows = append(rows, catalog.Row{Section: sectionBlocks, Key: []byte(blockKey(p.id, n)), Value: appendBlock(nil, &p.draft, n)})
	}
	for _, id := range p.dirtyProducers {
		r := catalog.Row{Section: sectionProducers, Key: []byte(producerKey(p.id, id)), Delete: true}
		if known := p.producers[id]; known != nil {
			r.Value, r.Delete = appendProducer(nil, known), false
		}
		rows = append(rows, r)
	}
	return rows
}

func (p *partition) appendRow(d []byte) []byte {
	d = binary.AppendUvarint(d, uint64(p.draft.start))
	d = binary.AppendUvarint(d, uint64(p.draft.high))
	d = binary.AppendUvarint(d, uint64(p.draft.len()))
	d = binary.AppendUvarint(d, uint64(len(p.open)))
	for _, id := range slices.Sorted(maps.Keys(p.open)) {
		d = binary.AppendUvarint(d, uint64(id))
		d = binary.AppendUvarint(d, uint64(p.open[id]))
	}
	d = binary.AppendUvarint(d, uint64(len(p.draft.aborted)))
	for _, a := range p.draft.aborted {
		d = binary.AppendUvarint(d, uint64(a.producerID))
		d = binary.AppendUvarint(d, uint64(a.firstOffset))
		d = binary.AppendUvarint(d, uint64(a.lastOffset))
	}
	return d
}

func appendBlock(d []byte, v *view, number int) []byte {
	first := number * blockRefs
	last := min(first+blockRefs, v.len())
	d = binary.AppendUvarint(d, uint64(last-first))
	var before batchRef
	for i := first; i < last; i++ {
		d = appendRef(d, v.at(i), &before)
		before = *v.at(i)
	}
	return d
}

// appendRef appends an index entry: uvarint base offset and position as steps
// from the entry before, varint max timestamp and append time likewise, then
// uvarint chunk offset, length, encoded size and flags.
func appendRef(d []byte, r, before *batchRef) []byte {
	d = binary.AppendUvarint(d, uint64(r.baseOffset-before.baseOffset))
	d = binary.AppendUvarint(d, uint64(r.position-before.position))
	d = binary.AppendVarint(d, r.maxTimestamp-before.maxTimestamp)
	d = binary.AppendVarint(d, r.appendTime-before.appendTime)
	d = binary.AppendUvarint(d, uint64(r.chunkOffset))
	d = binary.AppendUvarint(d, uint64(r.length))
	d = binary.AppendUvarint(d, uint64(r.encodedSize))
	return binary.AppendUvarint(d, uint64(r.flags))
}

func (c *cursor) ref(before *batchRef) batchRef {
	r := batchRef{
		baseOffset:   before.baseOffset + c.uint(1<<62),
		position:     before.position + journal.Position(c.uint(1<<62)),
		maxTimestamp: before.maxTimestamp + c.varint(),
		appendTime:   before.appendTime + c.varint(),
		chunkOffset:  uint32(c.uint(1<<32 - 1)),
		length:       uint32(c.uint(1<<32 - 1)),
		encodedSize:  int32(c.uint(1<<31 - 1)),
		flags:        uint32(c.uint(flagsKnown)),
	}
	c.check(r.baseOffset >= before.baseOffset && r.position >= before.position)
	return r
}

// appendProducer appends uvarint epoch, run, count of the window, varint time,
// and for each batch: uvarint first and last sequence, base offset, varint
// timestamp.
func appendProducer(d []byte, p *producer) []byte {
	d = binary.AppendUvarint(d, uint64(p.epoch))
	d = binary.AppendUvarint(d, uint64(p.run))
	d = binary.AppendUvarint(d, uint64(p.count))
	d = binary.AppendVarint(d, p.seen)
	for _, w := range p.window[:p.count] {
		d = binary.AppendUvarint(d, uint64(w.first))
		d = binary.AppendUvarint(d, uint64(w.last))
		d = binary.AppendUvarint(d, uint64(w.baseOffset))
		d = binary.AppendVarint(d, w.timestamp)
	}
	return d
}

func (c *cursor) producer() *producer {
	p := &producer{
		epoch: int16(c.uint(1<<15 - 1)),
		run:   int32(c.uint(sequenceMask)),
		count: uint8(c.uint(producerWindow)),
		seen:  c.varint(),
	}
	for i := range p.window[:p.count] {
		p.window[i] = sequenced{
			first: int32(c.uint(sequenceMask)), last: int32(c.uint(sequenceMask)),
			baseOffset: c.uint(1<<63 - 1), timestamp: c.varint(),
		}
	}
	return p
}

func appendOffset(d []byte, o *api.GroupOffset) []byte {
	d = binary.AppendVarint(d, o.Offset)
	d = binary.AppendVarint(d, int64(o.LeaderEpoch))
	d = appendString(d, o.Metadata)
	d = binary.AppendVarint(d, o.CommitTime)
	return binary.AppendVarint(d, o.ExpireTime)
}

func (c *cursor) offset(p api.Partition) api.GroupOffset {
	o := api.GroupOffset{TopicID: p.Topic, Partition: p.Index, Offset: c.varint()}
	epoch := c.varint()
	c.check(epoch >= -1<<31 && epoch < 1<<31)
	o.LeaderEpoch = int32(epoch)
	o.Metadata = c.string()
	o.CommitTime = c.varint()
	o.ExpireTime = c.varint()
	return o
}

func appendVersioned(d []byte, r api.Record) []byte {
	return append(binary.AppendUvarint(d, uint64(r.Version)), r.Value...)
}

// loadRow applies a row of a checkpoint to a state that is being made.
func (s *state) loadRow(r catalog.Row) error {
	key, value := cursor{b: r.Key}, cursor{b: r.Value}
	switch r.Section {
	case sectionMeta:
		if v := value.byte(); !value.bad && v != rowsVersion {
			return fmt.Errorf("%w: unknown version %d", errRow, v)
		}
		s.timeMillis = value.varint()
		s.producerIDs = value.uint(1<<63 - 1)
	case sectionTopics:
		t := decodeTopic(&value)
		t.CreateTime = value.varint()
		key.check(len(key.b) == len(t.ID) && string(key.b) == string(t.ID[:]) && !value.bad)
		if !key.bad {
			key.b = nil
			s.topics.put(newTopic(t))
		}
	case sectionPartitions:
		s.loadPartition(&key, &value)
	case sectionBlocks:
		s.loadBlock(&key, &value)
	case sectionProducers:
		p, id := s.topics.partition(key.cutPartition()), int64(key.bigEndian(8))
		known := value.producer()
		key.check(p != nil && id >= 0)
		if !key.bad && !value.bad {
			if p.producers == nil {
				p.producers = make(map[int64]*producer)
			}
			p.producers[id] = known
		}
	case sectionSchemas:
		var k api.Key
		key.copy(k[:])
		s.schemas.put(api.Schema{Key: k, Encoded: value.b})
		value.b = nil
	case sectionOffsets:
		group := key.string()
		o := value.offset(key.cutPartition())
		s.offsets.put(group, &o)
	case sectionRecords:
		rec := api.Record{Key: string(key.b), Version: value.uint(1<<63 - 1), Value: value.b}
		value.check(rec.Version > 0)
		s.records.put(rec)
		key.b, value.b = nil, nil
	default:
		return fmt.Errorf("%w: unknown section %q", errRow, r.Section)
	}
	if key.bad || value.bad || len(key.b) != 0 || len(value.b) != 0 {
		return fmt.Errorf("%w: malformed row in %s", errRow, r.Section)
	}
	return nil
}

func (s *state) loadPartition(key, value *cursor) {
	p := s.topics.partition(key.cutPartition())
	if key.check(p != nil); key.bad {
		return
	}
	p.draft.start = value.uint(1<<63 - 1)
	p.draft.high = value.uint(1<<63 - 1)
	p.loading = value.uint(1 << 40)
	for range value.count(2) {
		if p.open == nil {
			p.open = make(map[int64]int64)
		}
		id := value.uint(1<<63 - 1)
		p.open[id] = value.uint(1<<63 - 1)
	}
	for range value.count(3) {
		p.draft.aborted = append(p.draft.aborted, abortedRange{
			producerID: value.uint(1<<63 - 1), firstOffset: value.uint(1<<63 - 1), lastOffset: value.uint(1<<63 - 1),
		})
	}
	p.draft.stable = p.draft.high
	for _, first := range p.open {
		p.draft.stable = min(p.draft.stable, first)
	}
	value.check(p.draft.start <= p.draft.high)
	s.touched = append(s.touched, p)
}

func (s *state) loadBlock(key, value *cursor) {
	p, number := s.topics.partition(key.cutPartition()), key.bigEndian(4)
	if key.check(p != nil && int(number)*blockRefs == p.draft.len()); key.bad {
		return
	}
	n := value.count(8)
	value.check(n <= blockRefs)
	var before batchRef
	for range n {
		before = value.ref(&before)
		if value.bad {
			return
		}
		p.draft.add(before)
	}
	p.savedRefs = len(p.draft.full) * blockRefs
}

// checkLoaded says what no checkpoint can have.
func (s *state) checkLoaded() error {
	for _, p := range s.touched {
		n := p.draft.len()
		if int64(n) != p.loading || n > 0 && p.draft.at(n-1).baseOffset >= p.draft.high {
			return fmt.Errorf("%w: partition %x-%d has %d batches, not %d", errRow, p.id.Topic, p.id.Index, n, p.loading)
		}
	}
	return nil
}

// oldest returns the position of the oldest batch that is still to be read, at
// most limit: the journal is kept from there on.
func (s *state) oldest(limit journal.Position) journal.Position {
	for _, top := range s.topics.all() {
		for _, p := range top.partitions {
			if p.draft.len() > 0 {
				limit = min(limit, p.draft.at(0).position)
			}
		}
	}
	return limit
}

// sortRows puts rows into the order in which they are loaded.
func sortRows(rows []catalog.Row) {
	slices.SortFunc(rows, func(a, b catalog.Row) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), slices.Compare(a.Key, b.Key))
	})
}
