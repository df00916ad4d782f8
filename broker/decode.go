package broker

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"milena/broker/api"
	"milena/broker/stored"
	"milena/serde"
	"milena/serde/schema"
)

// recordDecoder turns stored batches into records for subscribers, with the
// programs of the stored schemas: no registry is asked.
type recordDecoder struct {
	broker   *Broker
	programs *serde.Programs
}

// abortedSet says which records a read_committed reader skips.
type abortedSet struct {
	// pending transactions by first offset, in order; active ones by producer.
	pending []api.AbortedTransaction
	active  map[int64]bool
}

func newAbortedSet(aborted []api.AbortedTransaction) *abortedSet {
	return &abortedSet{pending: aborted, active: make(map[int64]bool)}
}

// skips says whether the batch at base is control data or aborted, and goes on
// behind it.
func (a *abortedSet) skips(h *stored.Header, base int64) bool {
	for len(a.pending) > 0 && a.pending[0].FirstOffset <= base+int64(h.LastOffsetDelta) {
		a.active[a.pending[0].ProducerID] = true
		a.pending = a.pending[1:]
	}
	if h.Control {
		delete(a.active, h.ProducerID)
		return true
	}
	return h.Transactional && a.active[h.ProducerID]
}

// batch calls fn for each record, which is valid during the call only, and
// returns the offset behind the batch.
func (d *recordDecoder) batch(b *api.StoredBatch, aborted *abortedSet, fn func(*api.DecodedRecord) error) (int64, error) {
	batch, err := stored.Open(b.Bytes)
	if err != nil {
		return 0, fmt.Errorf("batch at offset %d: %w: %w", b.BaseOffset, api.ErrCorrupt, err)
	}
	end := b.BaseOffset + int64(batch.Header.LastOffsetDelta) + 1
	if aborted.skips(&batch.Header, b.BaseOffset) {
		return end, nil
	}
	records := batch.Records()
	var r stored.Record
	for records.Next(&r) {
		out := api.DecodedRecord{
			Offset:    b.BaseOffset + int64(r.OffsetDelta),
			Timestamp: batch.Header.FirstTimestamp + r.TimestampDelta,
		}
		if batch.Header.LogAppendTime {
			out.Timestamp = b.AppendTime
		}
		if out.Key, err = d.datum(&batch, &r.Key); err == nil {
			if out.Value, err = d.datum(&batch, &r.Value); err == nil {
				out.Headers, err = parseHeaders(r.Headers)
			}
		}
		if err == nil {
			err = fn(&out)
		}
		if err != nil {
			return end, fmt.Errorf("record at offset %d: %w", out.Offset, err)
		}
	}
	if err := records.Err(); err != nil {
		return end, fmt.Errorf("batch at offset %d: %w: %w", b.BaseOffset, api.ErrCorrupt, err)
	}
	return end, nil
}

func (d *recordDecoder) datum(batch *stored.Batch, p *stored.Payload) (api.Datum, error) {
	out := api.Datum{Null: p.Null, Framing: api.Framing(p.Framing), SchemaID: p.ID}
	if p.Null || p.Schema < 0 {
		out.Raw = p.Raw
		return out, nil
	}
	out.Schema = batch.SchemaKey(p.Schema)
	compiled, ok := d.programs.Get(schema.Key(out.Schema))
	if !ok {
		encoded, found := d.broker.state.schemas.get(out.Schema)
		if !found {
			return out, fmt.Errorf("%w: schema %x is not stored", api.ErrCorrupt, out.Schema)
		}
		var err error
		if compiled, err = d.programs.LoadEncoded(schema.Key(out.Schema), encoded); err != nil {
			return out, fmt.Errorf("%w: %w", api.ErrCorrupt, err)
		}
	}
	if compiled.Err != nil {
		return out, fmt.Errorf("%w: schema %x: %w", api.ErrCorrupt, out.Schema, compiled.Err)
	}
	value, err := compiled.Program.AppendRecordValue(nil, p.Packed)
	if err != nil {
		return out, fmt.Errorf("%w: %w", api.ErrCorrupt, err)
	}
	out.RecordValue = value
	return out, nil
}

// parseHeaders reads a Kafka header block: a varint count, then key and value
// with varint lengths each, -1 for a null value.
func parseHeaders(block []byte) ([]api.Header, error) {
	if len(block) == 0 {
		return nil, nil
	}
	bad := fmt.Errorf("%w: header block", api.ErrCorrupt)
	count, n := binary.Varint(block)
	if n <= 0 || count < 0 || count > int64(len(block)) {
		return nil, bad
	}
	block = block[n:]
	out := make([]api.Header, 0, count)
	field := func() ([]byte, bool) {
		size, n := binary.Varint(block)
		if n <= 0 || size < -1 || size > int64(len(block)-n) {
			return nil, false
		}
		block = block[n:]
		if size < 0 {
			return nil, true
		}
		v := bytes.Clone(block[:size:size])
		block = block[size:]
		if v == nil {
			v = []byte{}
		}
		return v, true
	}
	for range count {
		key, ok := field()
		if !ok || key == nil {
			return nil, bad
		}
		value, ok := field()
		if !ok {
			return nil, bad
		}
		out = append(out, api.Header{Key: string(key), Value: value})
	}
	if len(block) != 0 {
		return nil, bad
	}
	return out, nil
}

// decodedBytes is about what a record takes in a reply.
func decodedBytes(r *api.DecodedRecord) int {
	n := 64 + len(r.Key.RecordValue) + len(r.Key.Raw) + len(r.Value.RecordValue) + len(r.Value.Raw)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value) + 8
	}
	return n
}
