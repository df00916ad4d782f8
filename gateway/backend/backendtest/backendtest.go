package backendtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"milena/broker/stored"
	"milena/gateway/backend"
)

// Fixture is one empty broker under test.
type Fixture struct {
	Broker backend.Broker
	// Restart closes the broker and opens it again on the same storage; nil if
	// it has none.
	Restart func(t *testing.T) backend.Broker
}

// Run runs the suite; fixture makes an empty broker, and cleans up through t.
func Run(t *testing.T, fixture func(t *testing.T) Fixture) {
	cases := []struct {
		name string
		run  func(*suite)
	}{
		{"create and find topics", testTopics},
		{"refuse bad topics", testBadTopics},
		{"delete topics", testDeleteTopics},
		{"append assigns dense offsets", testDenseOffsets},
		{"append judges each batch", testEachBatch},
		{"append with both durabilities", testDurabilities},
		{"append time", testAppendTime},
		{"schemas", testSchemas},
		{"producer ids", testProducerIDs},
		{"sequences", testSequences},
		{"sequence window", testWindow},
		{"sequences wrap", testWrap},
		{"producers at once", testConcurrentAppends},
		{"pending appends keep their order", testPipelineOrder},
		{"pending appends behind a refused one", testPipelineRefused},
		{"pending appends nobody waits for", testPipelineForgotten},
		{"read whole batches", testReadWhole},
		{"read sizes", testReadSizes},
		{"read reserves", testReadReserves},
		{"read ends", testReadEnds},
		{"read holes", testReadHoles},
		{"read waits", testReadWaits},
		{"read is cancelled", testReadCancel},
		{"transactions' data", testTransactions},
		{"list offsets", testListOffsets},
		{"list offsets by unordered times", testListTimes},
		{"group offsets", testGroupOffsets},
		{"group offsets or none", testGroupOffsetsAll},
		{"records", testRecords},
		{"records race", testRecordsRace},
		{"restart", testRestart},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &suite{T: t, ctx: t.Context()}
			s.Fixture = fixture(t)
			s.b = s.Fixture.Broker
			c.run(s)
		})
	}
}

// suite is one case's broker with helpers that end the test on error.
type suite struct {
	*testing.T
	Fixture
	ctx context.Context
	b   backend.Broker
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v", err)
	}
}

func (s *suite) is(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("error is %v, want %v", err, want)
	}
}

func (s *suite) topic(name string, partitions int32) backend.Topic {
	s.Helper()
	t, err := s.b.CreateTopic(s.ctx, backend.TopicSpec{Name: name, Partitions: partitions})
	s.ok(err)
	return t
}

// partition returns the only partition of a new topic.
func (s *suite) partition(name string) backend.Partition {
	s.Helper()
	return backend.Partition{Topic: s.topic(name, 1).ID}
}

// append enqueues batches and waits for their outcomes.
func (s *suite) append(d backend.Durability, batches []backend.Append) ([]backend.Appended, error) {
	pending, err := s.b.Enqueue(s.ctx, d, batches)
	if err != nil {
		return nil, err
	}
	return pending.Wait(s.ctx)
}

// append1 appends one batch and returns its outcome.
func (s *suite) append1(p backend.Partition, b *Batch) backend.Appended {
	s.Helper()
	out, err := s.append(backend.Synced, []backend.Append{{Partition: p, Batch: b.Bytes(s.T)}})
	s.ok(err)
	if len(out) != 1 {
		s.Fatalf("%d outcomes for one batch", len(out))
	}
	return out[0]
}

// stores appends one batch and wants it at an offset.
func (s *suite) stores(p backend.Partition, b *Batch, offset int64) {
	s.Helper()
	a := s.append1(p, b)
	s.ok(a.Err)
	if a.BaseOffset != offset || a.Duplicate {
		s.Fatalf("stored at %d (duplicate %v), want %d", a.BaseOffset, a.Duplicate, offset)
	}
}

// refuses appends one batch and wants an error.
func (s *suite) refuses(p backend.Partition, b *Batch, want error) {
	s.Helper()
	a := s.append1(p, b)
	s.is(a.Err, want)
	if a.BaseOffset != -1 || a.Timestamp != -1 {
		s.Fatalf("refused batch has offset %d and time %d", a.BaseOffset, a.Timestamp)
	}
}

// read1 reads one partition at once.
func (s *suite) read1(p backend.Partition, offset int64) backend.ReadResult {
	s.Helper()
	return s.read(backend.Read{
		Partitions: []backend.ReadPartition{{Partition: p, Offset: offset, BytesMax: 1 << 20, LeaderEpoch: -1}},
		BytesMax:   1 << 20,
	})[0]
}

func (s *suite) read(r backend.Read) []backend.ReadResult {
	s.Helper()
	out, err := s.b.Read(s.ctx, r)
	s.ok(err)
	if len(out) != len(r.Partitions) {
		s.Fatalf("%d results for %d partitions", len(out), len(r.Partitions))
	}
	return out
}

// bases returns the base offsets of a result's batches, in a form to compare.
func bases(r backend.ReadResult) string {
	out := ""
	for _, b := range r.Batches {
		out += fmt.Sprint(b.BaseOffset, " ")
	}
	return out
}

// Batch describes a stored batch of opaque values for tests. The zero value
// has one record.
type Batch struct {
	// Count of records; the default is 1.
	Count int
	// Skip leaves out the records with these offset deltas.
	Skip map[int]bool
	// Times are the records' timestamps; the default is 1000 for each.
	Times []int64
	// Text is part of each value.
	Text string
	// Size is the encoded size; the default is 100 for each record.
	Size int32
	// Producer is id + 1, so that 0 means none.
	Producer int64
	Epoch    int16
	Sequence int32
	// Transactional is the batch's bit.
	Transactional bool
	// SpanMax makes the last offset delta that, whatever Count is.
	SpanMax int32
}

// By returns a copy of b by a producer.
func (b Batch) By(id int64, epoch int16, sequence int32) *Batch {
	b.Producer, b.Epoch, b.Sequence = id+1, epoch, sequence
	return &b
}

// Bytes builds the batch.
func (b *Batch) Bytes(t *testing.T) []byte {
	t.Helper()
	count := max(b.Count, 1)
	at := func(i int) int64 {
		if i < len(b.Times) {
			return b.Times[i]
		}
		return 1000
	}
	h := stored.Header{
		ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, FirstTimestamp: at(0), MaxTimestamp: at(0),
		LastOffsetDelta: max(int32(count-1), b.SpanMax), EncodedSize: b.Size, Transactional: b.Transactional,
	}
	if b.Producer > 0 {
		h.ProducerID, h.ProducerEpoch, h.BaseSequence = b.Producer-1, b.Epoch, b.Sequence
	}
	if h.EncodedSize == 0 {
		h.EncodedSize = int32(100 * count)
	}
	var builder stored.Builder
	for i := range count {
		h.MaxTimestamp = max(h.MaxTimestamp, at(i))
		if b.Skip[i] {
			continue
		}
		value := fmt.Appendf(nil, "%s %d", b.Text, i)
		err := builder.Add(&stored.Record{
			OffsetDelta: int32(i), TimestampDelta: at(i) - at(0),
			Key:     stored.Payload{Null: true, Schema: -1},
			Value:   stored.Payload{Schema: -1, Raw: value, HasRaw: true},
			Headers: []byte{0},
		})
		if err != nil {
			t.Fatalf("build batch: %v", err)
		}
		h.ContentCRC = stored.UpdateContent(h.ContentCRC, nil, value, nil)
	}
	builder.Header = h
	out, err := builder.Append(nil)
	if err != nil {
		t.Fatalf("build batch: %v", err)
	}
	return out
}

// marker builds a control batch.
func marker(t *testing.T, producer int64, epoch int16, commit bool) []byte {
	t.Helper()
	var builder stored.Builder
	out, err := builder.AppendMarker(nil, producer, epoch, 1000, stored.Marker{Commit: commit})
	if err != nil {
		t.Fatalf("build marker: %v", err)
	}
	return out
}

// values returns the records of a batch as "offset=value" strings.
func values(t *testing.T, b backend.StoredBatch) []string {
	t.Helper()
	opened, err := stored.Open(b.Bytes)
	if err != nil {
		t.Fatalf("open batch: %v", err)
	}
	var out []string
	records := opened.Records()
	var r stored.Record
	for records.Next(&r) {
		out = append(out, fmt.Sprintf("%d=%s", b.BaseOffset+int64(r.OffsetDelta), r.Value.Raw))
	}
	if err := records.Err(); err != nil {
		t.Fatalf("read batch: %v", err)
	}
	return out
}

// soon bounds waits that a correct broker ends at once.
const soon = 20 * time.Second

// number makes a value that says which it is.
func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
