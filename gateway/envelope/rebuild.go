package envelope

import (
	"context"
	"errors"
	"fmt"

	"milena/broker/stored"
	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/serde"
	"milena/serde/record"
	"milena/serde/schema"
	"milena/serde/wire"
)

// Serve appends the record batch of a stored batch: the producer's own bytes if
// the tail cache has them and their codec will do, else rebuilt. Errors are
// those of Rebuild.
func (e *Engine) Serve(ctx context.Context, dst []byte, p backend.Partition, b backend.StoredBatch, s Served) ([]byte, error) {
	if !e.tail.off {
		h, err := stored.ParseHeader(b.Bytes)
		if err != nil {
			e.opts.Observer.Mismatch()
			return dst, storageError(b, err)
		}
		if s.keeps(&h) {
			if produced, ok := e.tail.get(p, b, h); ok {
				e.opts.Observer.Tail(true)
				return append(dst, produced...), nil
			}
		}
	}
	e.opts.Observer.Tail(false)
	return e.Rebuild(ctx, dst, b, s)
}

// Rebuild appends the record batch of a stored batch: every key, value, header
// and timestamp as produced, compressed as the topic says, or else lz4 if the
// producer compressed. No registry is asked. On error dst comes back unchanged. The error wraps
// backend.ErrCorrupt where the stored bytes don't give back what was produced
// (counted by Observer.Mismatch), else it is one of reading the schema from the
// broker.
func (e *Engine) Rebuild(ctx context.Context, dst []byte, b backend.StoredBatch, s Served) ([]byte, error) {
	r, ok := e.rebuilding.Get().(*rebuilding)
	if !ok {
		r = &rebuilding{engine: e}
	}
	defer func() {
		r.reset()
		e.rebuilding.Put(r)
	}()
	out, err := r.rebuild(ctx, dst, b, s)
	if err == nil {
		return out, nil
	}
	if retriable(err) {
		return dst, err
	}
	e.opts.Observer.Mismatch()
	return dst, storageError(b, err)
}

// retriable says that the broker couldn't be asked for a schema: the batch may
// be as it should.
func retriable(err error) bool {
	return errors.Is(err, backend.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func storageError(b backend.StoredBatch, err error) error {
	return fmt.Errorf("rebuild batch at offset %d: %w: %w", b.BaseOffset, backend.ErrCorrupt, err)
}

// Size is the size in bytes of the rebuilt record batch, uncompressed, by which
// fetch sizes are counted.
func Size(b backend.StoredBatch) int {
	h, err := stored.ParseHeader(b.Bytes)
	if err != nil {
		return len(b.Bytes) // it can't be served either
	}
	return int(h.EncodedSize)
}

// rebuilding is the working memory of one Rebuild call.
type rebuilding struct {
	engine     *Engine
	key, value []byte
	section    []byte
	schemas    []*serde.Compiled
	in         stored.Record
	out        batch.Record
}

func (r *rebuilding) reset() {
	r.key, r.value, r.section = keep(r.key), keep(r.value), keep(r.section)
	clear(r.schemas)
	r.schemas = r.schemas[:0]
	r.in, r.out = stored.Record{}, batch.Record{}
}

func (r *rebuilding) rebuild(ctx context.Context, dst []byte, sb backend.StoredBatch, s Served) ([]byte, error) {
	b, err := stored.Open(sb.Bytes)
	if err != nil {
		return dst, err
	}
	if err := r.load(ctx, &b); err != nil {
		return dst, err
	}
	h := &b.Header
	start := len(dst)
	dst = batch.Begin(dst)
	codec := s.codec(h)
	if codec != batch.None {
		if r.section, err = r.records(r.section[:0], &b); err != nil {
			return dst[:start], err
		}
		dst, err = r.engine.opts.Codecs.Compress(dst, r.section, codec)
	} else {
		dst, err = r.records(dst, &b)
	}
	if err != nil {
		return dst[:start], err
	}
	first, last := h.FirstTimestamp, h.MaxTimestamp
	if h.LogAppendTime {
		first, last = sb.AppendTime, sb.AppendTime
	}
	batch.Finish(dst[start:], batch.Header{
		BaseOffset: sb.BaseOffset, LeaderEpoch: sb.LeaderEpoch,
		Attributes:      batch.Attributes(codec, h.LogAppendTime, h.Transactional, h.Control),
		LastOffsetDelta: h.LastOffsetDelta, FirstTimestamp: first, MaxTimestamp: last,
		ProducerID: h.ProducerID, ProducerEpoch: h.ProducerEpoch, BaseSequence: h.BaseSequence, Count: h.Count,
	})
	return dst, nil
}

// load finds the programs of the batch's schemas: cached, or compiled from what
// the broker stored with the records.
func (r *rebuilding) load(ctx context.Context, b *stored.Batch) error {
	programs := r.engine.opts.Programs
	for i := range b.SchemaCount() {
		key := b.SchemaKey(i)
		c, ok := programs.Get(schema.Key(key))
		if !ok {
			s, err := r.engine.opts.Schemas.Schema(ctx, backend.Key(key))
			if err != nil {
				return fmt.Errorf("read schema %v: %w", schema.Key(key), err)
			}
			if c, err = programs.LoadEncoded(schema.Key(key), s.Encoded); err != nil {
				return err
			}
		}
		if c.Program == nil {
			return fmt.Errorf("compile schema %v: %w", c.Key, c.Err)
		}
		r.schemas = append(r.schemas, c)
	}
	return nil
}

// records appends the records of b in Kafka's form and checks that they are
// what was produced.
func (r *rebuilding) records(dst []byte, b *stored.Batch) ([]byte, error) {
	var crc uint32
	it := b.Records()
	for it.Next(&r.in) {
		var key, value []byte
		var err error
		if key, r.key, err = r.payload(r.key[:0], &r.in.Key); err != nil {
			return dst, fmt.Errorf("key of record %d: %w", r.in.OffsetDelta, err)
		}
		if value, r.value, err = r.payload(r.value[:0], &r.in.Value); err != nil {
			return dst, fmt.Errorf("value of record %d: %w", r.in.OffsetDelta, err)
		}
		r.out = batch.Record{Attributes: r.in.Attributes, TimestampDelta: r.in.TimestampDelta, OffsetDelta: r.in.OffsetDelta,
			Key: key, Value: value, Headers: r.in.Headers}
		crc = stored.UpdateContent(crc, key, value, r.in.Headers)
		dst = batch.AppendRecord(dst, &r.out)
	}
	if err := it.Err(); err != nil {
		return dst, err
	}
	if crc != b.Header.ContentCRC {
		return dst, fmt.Errorf("%w: checksum %08x, want %08x", stored.ErrContent, crc, b.Header.ContentCRC)
	}
	return dst, nil
}

// payload returns a key or value as produced, nil for null; buf is working
// memory that comes back, grown or not.
func (r *rebuilding) payload(buf []byte, p *stored.Payload) (data, grown []byte, err error) {
	switch {
	case p.Null:
		return nil, buf, nil
	case p.Schema < 0:
		return p.Raw, buf, nil
	case p.HasRaw && p.Framing != stored.FramingPrefix:
		return p.Raw, buf, nil
	}
	if p.Framing == stored.FramingPrefix {
		buf = wire.AppendPrefix(buf, int32(p.ID))
	}
	buf = append(buf, p.Indexes...)
	if p.HasRaw {
		buf = append(buf, p.Raw...)
		return buf, buf, nil
	}
	if p.Mapping != record.MappingVersion {
		return nil, buf, fmt.Errorf("mapping version %d is not known", p.Mapping)
	}
	buf, err = r.schemas[p.Schema].Program.Encode(buf, p.Packed, record.Style(p.Style))
	if buf == nil {
		buf = []byte{} // an empty payload isn't null
	}
	return buf, buf, err
}
