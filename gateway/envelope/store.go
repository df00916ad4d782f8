package envelope

import (
	"context"
	"errors"
	"fmt"
	"time"

	"milena/broker/stored"
	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/serde"
	"milena/serde/record"
	"milena/serde/wire"
)

// Produced is one batch to be stored. Nothing of it is kept.
type Produced struct {
	// Topic and TopicName say where it goes.
	Topic     backend.TopicID
	TopicName string
	Policy    Policy
	// Header is what batch.Check returned for Batch.
	Header batch.Header
	Batch  []byte
	// Large has Store wait for a place among few, for a batch that was ErrLarge
	// before. The caller then holds no other batch, and waits for nothing but
	// the broker before it releases this one.
	Large bool
}

// Stored is a batch ready for the broker.
type Stored struct {
	// Batch is a stored batch, version 1; it belongs to the caller.
	Batch []byte
	// Schemas are those used in it that the broker is not known to have.
	Schemas []backend.Schema
	// Exact: no record needs its original beside its RecordValue, so the
	// producer's own batch may be served for it (Tail).
	Exact bool
	// MaxTimestamp is the latest timestamp of the records, in milliseconds since
	// the epoch, whatever the producer's header says.
	MaxTimestamp int64
	// ContentCRC is the checksum that ties a tail cache entry to the batch.
	ContentCRC uint32
	// Hold is memory that the batch takes, released by the caller when the broker
	// has answered; or, of a large batch, when the broker has it.
	Hold Hold
}

// Store turns a produced batch into a stored one. Errors: a *batch.Error or a
// *Rejected where the producer is at fault, an error that wraps
// schema.ErrUnavailable where the registry can't be reached (the batch may come
// again), ErrLarge, or the context's. Whether a batch is refused is decided after all its
// records were looked at.
func (e *Engine) Store(ctx context.Context, p Produced) (Stored, error) {
	p.Policy = p.Policy.withDefaults(e.opts.KeyMode, e.opts.ValueMode)
	if !p.Large {
		return e.store(ctx, &p, 0)
	}
	s, err := e.store(ctx, &p, 1)
	if errors.Is(err, ErrLarge) {
		s, err = e.store(ctx, &p, int64(e.opts.LargeBatchesMax))
	}
	return s, err
}

// store is one attempt, with so many places for large batches.
func (e *Engine) store(ctx context.Context, p *Produced, places int64) (Stored, error) {
	s, ok := e.storing.Get().(*storing)
	if !ok {
		s = newStoring(e)
	}
	defer func() {
		s.reset()
		e.storing.Put(s)
	}()
	if err := s.memory.begin(ctx, p, places); err != nil {
		return Stored{}, err
	}
	section := p.Batch[batch.HeaderBytes:]
	if codec := p.Header.Codec(); codec != batch.None {
		if err := s.decompress(section, codec); err != nil {
			return Stored{}, err
		}
		section = s.section
	}
	if len(section) > e.opts.BatchBytesMax {
		return Stored{}, &batch.Error{Kind: batch.ErrTooLarge, Reason: fmt.Sprintf("%d bytes of records, at most %d", len(section), e.opts.BatchBytesMax), Record: -1}
	}
	return s.store(ctx, p, section)
}

// decompress opens the section into s.section.
func (s *storing) decompress(section []byte, codec batch.Codec) (err error) {
	s.section, err = s.engine.opts.Codecs.Decompress(s.section[:0], section, codec, s.memory.limit)
	if errors.Is(err, batch.ErrTooLarge) && s.memory.beyond() != nil {
		return ErrLarge
	}
	if err != nil {
		return err
	}
	return s.memory.grow(len(s.section))
}

// storing is the working memory of one Store call.
type storing struct {
	engine  *Engine
	memory  allowance
	section []byte
	builder stored.Builder
	packed  []byte
	// decoded is the sum of packed bytes in the batch so far.
	decoded int
	// used are the schemas by their index in the batch.
	used       []*serde.Compiled
	key, value side
	refused    Rejected
	forms      [forms]int
	reasons    [reasons]int
	// next is the record that iteration fills; a field, so that it isn't
	// allocated.
	next batch.Record
	out  stored.Record
}

func newStoring(e *Engine) *storing {
	s := &storing{engine: e, memory: allowance{engine: e}}
	s.key.storing, s.value.storing = s, s
	s.key.name, s.value.name = "key", "value"
	return s
}

func (s *storing) reset() {
	s.memory.end()
	s.section, s.packed = keep(s.section), keep(s.packed)
	s.decoded = 0
	s.builder.Reset()
	clear(s.used)
	s.used = s.used[:0]
	s.key.reset()
	s.value.reset()
	s.refused = Rejected{}
	s.forms, s.reasons = [forms]int{}, [reasons]int{}
	s.next, s.out = batch.Record{}, stored.Record{}
}

func (s *storing) store(ctx context.Context, p *Produced, section []byte) (Stored, error) {
	s.builder.Reset()
	s.key.begin(p, p.Policy.Key)
	s.value.begin(p, p.Policy.Value)
	s.refused.topic = p.TopicName
	limits := timestampLimits(p.Policy, s.engine.opts.Clock())

	size := int64(batch.HeaderBytes)
	maxTimestamp := p.Header.FirstTimestamp
	var crc uint32
	var it batch.Records
	it.Reset(section, p.Header.Count)
	for it.Next(&s.next) {
		r := &s.next
		timestamp := p.Header.FirstTimestamp + r.TimestampDelta
		if r.OffsetDelta == 0 || timestamp > maxTimestamp {
			maxTimestamp = timestamp
		}
		if p.Policy.KeyRequired && r.Key == nil {
			s.refuse(refusedKey, r.OffsetDelta, func() string { return "a record of a compacted topic needs a key" })
		}
		if !limits.contain(timestamp) {
			s.refuse(refusedTimestamp, r.OffsetDelta, func() string { return fmt.Sprintf("timestamp %d is out of the topic's range", timestamp) })
		}
		if err := s.add(ctx, r); err != nil {
			return Stored{}, err
		}
		size += int64(batch.RecordBytes(r))
		crc = stored.UpdateContent(crc, r.Key, r.Value, r.Headers)
	}
	if err := it.Err(); err != nil {
		return Stored{}, err
	}
	s.count()
	if s.refused.Count > 0 {
		refused := s.refused
		s.engine.opts.Observer.Rejected(refused.Count)
		return Stored{}, &refused
	}
	s.builder.Header = stored.Header{
		Transactional: p.Header.Transactional(), LogAppendTime: p.Policy.LogAppendTime, Codec: uint8(p.Header.Codec()),
		ProducerID: p.Header.ProducerID, ProducerEpoch: p.Header.ProducerEpoch, BaseSequence: p.Header.BaseSequence,
		FirstTimestamp: p.Header.FirstTimestamp, MaxTimestamp: maxTimestamp,
		LastOffsetDelta: p.Header.LastOffsetDelta, EncodedSize: int32(min(size, 1<<31-1)), ContentCRC: crc,
	}
	out, err := s.builder.Append(nil)
	if err != nil {
		return Stored{}, builderError(err)
	}
	s.countForms()
	return Stored{Batch: out, Schemas: s.engine.acked.missing(s.used), Exact: s.forms[WithOriginal] == 0,
		MaxTimestamp: maxTimestamp, ContentCRC: crc, Hold: s.memory.hand(len(out), len(p.Batch))}, nil
}

// add decodes both sides of a record and adds it to the batch. Nothing is added
// once the batch is certain to be refused.
func (s *storing) add(ctx context.Context, r *batch.Record) error {
	if s.refused.kind != 0 && s.refused.kind < refusedContent {
		return nil
	}
	var keyHeader, valueHeader []byte
	if len(r.Headers) > 1 && (s.key.decodes || s.value.decodes) {
		keyHeader, valueHeader = schemaHeaders(r.Headers)
	}
	s.packed = s.packed[:0]
	s.out = stored.Record{Attributes: r.Attributes, OffsetDelta: r.OffsetDelta, TimestampDelta: r.TimestampDelta, Headers: r.Headers}
	keyForm, err := s.key.payload(ctx, r.OffsetDelta, r.Key, keyHeader, &s.out.Key)
	if err != nil {
		return err
	}
	valueForm, err := s.value.payload(ctx, r.OffsetDelta, r.Value, valueHeader, &s.out.Value)
	if err != nil {
		return err
	}
	if s.refused.Count > 0 {
		return nil
	}
	form := valueForm
	if r.Value == nil {
		form = keyForm
	}
	if keyForm == WithOriginal && form == Rebuilt {
		form = WithOriginal
	}
	s.forms[form]++
	if err := s.memory.grow(len(s.out.Key.Raw) + len(s.out.Value.Raw)); err != nil {
		return err
	}
	if err := s.builder.Add(&s.out); err != nil {
		return builderError(err)
	}
	return nil
}

// schemaHeaders returns the values of the last headers that name the schemas of
// key and value.
func schemaHeaders(block []byte) (key, value []byte) {
	var hs batch.Headers
	hs.Reset(block)
	var h batch.RecordHeader
	for hs.Next(&h) {
		switch string(h.Key) {
		case wire.KeyHeader:
			key = h.Value
		case wire.ValueHeader:
			value = h.Value
		}
	}
	return key, value
}

// builderError is what a batch that doesn't fit the stored form is answered
// with; the iterator's checks leave only size to go wrong.
func builderError(err error) error {
	if errors.Is(err, stored.ErrTooLarge) {
		return &batch.Error{Kind: batch.ErrTooLarge, Reason: "too large to be stored", Record: -1}
	}
	return fmt.Errorf("build stored batch: %w", err)
}

func (s *storing) count() {
	for i, n := range s.reasons {
		if n > 0 {
			s.engine.opts.Observer.Undecoded(Reason(i), n)
		}
	}
}

func (s *storing) countForms() {
	for i, n := range s.forms {
		if n > 0 {
			s.engine.opts.Observer.Stored(Form(i), n)
		}
	}
}

// timestampRange is an inclusive range in milliseconds since the epoch.
type timestampRange struct{ from, to int64 }

func (t timestampRange) contain(ms int64) bool { return ms >= t.from && ms <= t.to }

func timestampLimits(p Policy, now time.Time) timestampRange {
	t := timestampRange{-1 << 63, 1<<63 - 1}
	if p.LogAppendTime {
		return t
	}
	if p.TimestampAfterMax > 0 {
		t.to = now.Add(p.TimestampAfterMax).UnixMilli()
	}
	if p.TimestampBeforeMax > 0 {
		t.from = now.Add(-p.TimestampBeforeMax).UnixMilli()
	}
	return t
}

// formOf is the form of a decoded payload.
func formOf(s record.Style) Form {
	if s == record.StyleOriginal {
		return WithOriginal
	}
	return Rebuilt
}
