package broker

import (
	"milena/broker/api"
	"milena/broker/journal"
)

// operation is one request to the committer. All methods run on its goroutine.
type operation interface {
	// size is what the request takes of the queue, in bytes.
	size() int64
	// stage judges the request against the state and what is staged before it
	// in the same group, and adds its items to the group's records.
	stage(*staging)
	// early says that the request is answered when the group is written, not
	// only when it is synced.
	early() bool
	// written is called on such a request when the group survives a crash of
	// the process.
	written()
	// finish is called once, last: with nil when the group is durable and
	// applied, or it had nothing to commit, else with why it is not.
	finish(error)
}

// call is the part that simple operations share: one answer, when all is done.
type call struct {
	// err is the verdict of stage; read after done is closed.
	err  error
	done chan struct{}
}

func (c *call) early() bool { return false }

func (c *call) written() {}

func (c *call) finish(err error) {
	if c.err == nil {
		c.err = err
	}
	close(c.done)
}

// entry is one journal entry being built: a chunk and its commit record.
type entry struct {
	chunk  []byte
	record recordBuilder
}

// stagedBatch is a batch of the group, for the tail in memory.
type stagedBatch struct {
	entry       int
	chunkOffset uint32
	bytes       []byte
}

// staging is one group commit being built, over a state that doesn't change
// before the group is durable. The committer owns it.
type staging struct {
	state *state
	opts  *Options
	// group is the number of the group, growing.
	group      uint64
	timeMillis int64

	entries []*entry
	used    int // of entries
	batches []stagedBatch
	stats   Commit

	// What earlier requests of the group change.
	created           map[string]bool // by name
	createdPartitions int
	deleted           map[api.TopicID]bool
	deletedNames      map[string]bool
	schemas           map[api.Key]bool
	schemaBytes       int64
	versions          map[string]int64 // of records; 0: deleted
	recordBytes       int64
	producerIDs       int64
	offsets           int
}

// reset starts the next group.
func (s *staging) reset(timeMillis int64) {
	s.group++
	s.timeMillis = timeMillis
	s.used = 0
	clear(s.batches)
	s.batches = s.batches[:0]
	s.stats = Commit{}
	resetMap(&s.created)
	resetMap(&s.deleted)
	resetMap(&s.deletedNames)
	resetMap(&s.schemas)
	resetMap(&s.versions)
	s.createdPartitions, s.schemaBytes, s.recordBytes, s.offsets = 0, 0, 0, 0
	s.producerIDs = s.state.producerIDs
}

func resetMap[K comparable, V any](m *map[K]V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	clear(*m)
}

// topic returns a topic that the group has not deleted, or nil.
func (s *staging) topic(id api.TopicID) *topic {
	if s.deleted[id] {
		return nil
	}
	return s.state.topics.get(id)
}

// partition returns a partition of such a topic, or nil, and its topic.
func (s *staging) partition(p api.Partition) (*topic, *partition) {
	top := s.topic(p.Topic)
	if top == nil || p.Index < 0 || int(p.Index) >= len(top.partitions) {
		return nil, nil
	}
	return top, top.partitions[p.Index]
}

// entryFor returns the entry to which an item with so many bytes goes: the
// last one, or a new one where that would exceed the size of a group.
func (s *staging) entryFor(bytes int) *entry {
	if s.used > 0 {
		e := s.entries[s.used-1]
		if len(e.chunk)+len(e.record.buf)+bytes <= s.opts.GroupBytesMax {
			return e
		}
	}
	if s.used == len(s.entries) {
		s.entries = append(s.entries, &entry{})
	}
	e := s.entries[s.used]
	s.used++
	e.chunk = e.chunk[:0]
	e.record.reset(s.timeMillis)
	return e
}

// record returns the builder for an item of about so many bytes.
func (s *staging) record(bytes int) *recordBuilder { return &s.entryFor(bytes).record }

// addBatch adds a batch with what it needs.
func (s *staging) addBatch(b *batchItem, batch []byte, schemas []api.Schema) {
	bytes := len(batch) + chunkFrameBytes + 96
	for i := range schemas {
		bytes += len(schemas[i].Encoded) + 40
	}
	e := s.entryFor(bytes)
	for i := range schemas {
		e.record.addSchema(schemas[i])
	}
	e.chunk, b.chunkOffset = appendChunk(e.chunk, b.partition, batch)
	b.length = uint32(len(batch))
	e.record.addBatch(b)
	s.batches = append(s.batches, stagedBatch{entry: s.used - 1, chunkOffset: b.chunkOffset, bytes: batch})
	s.stats.Batches++
	s.stats.Records += int64(b.lastOffsetDelta) + 1
	s.stats.Bytes += int64(len(batch))
}

// journalEntries returns what is to be appended.
func (s *staging) journalEntries() []journal.Entry {
	out := make([]journal.Entry, s.used)
	for i, e := range s.entries[:s.used] {
		out[i] = journal.Entry{Chunk: e.chunk, Commit: e.record.buf}
	}
	return out
}

// shrink gives back buffers that one large request made grow.
func (s *staging) shrink() {
	keep := min(len(s.entries), 2)
	clear(s.entries[keep:])
	s.entries = s.entries[:keep]
	for _, e := range s.entries {
		if limit := 2 * s.opts.GroupBytesMax; cap(e.chunk) > limit || cap(e.record.buf) > limit || cap(e.record.scratch) > limit {
			*e = entry{}
		}
	}
}
