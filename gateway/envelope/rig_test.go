package envelope

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"milena/broker/stored"
	"milena/gateway/backend"
	"milena/gateway/batch"
	"milena/serde"
	"milena/serde/schema"
	"milena/serde/wire"
)

const (
	orderText = `{"type":"record","name":"Order","fields":[
		{"name":"id","type":"long"},{"name":"name","type":"string"},
		{"name":"tags","type":{"type":"array","items":"string"}},
		{"name":"note","type":["null","string"]}]}`
	eventText = `{"type":"record","name":"Event","fields":[{"name":"at","type":"long"},{"name":"kind","type":"string"}]}`
)

// orderGUID is what the registry below calls the order schema.
var orderGUID = wire.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// registry is a schema.Lookup with ids per context. mu guards everything.
type registry struct {
	mu    sync.Mutex
	ids   map[string]schema.Resolved
	err   error
	asked int
}

func newRegistry() *registry {
	order := schema.Resolved{Type: schema.Avro, Text: orderText}
	return &registry{ids: map[string]schema.Resolved{
		". 7": order, ". 8": {Type: schema.Avro, Text: eventText},
		". 9":              {Type: schema.Protobuf, Text: `syntax = "proto3"; message M {}`},
		". 10":             {Type: schema.Avro, Text: `"null"`},
		". 11":             {Type: schema.Avro, Text: `"bytes"`},
		".other 7":         {Type: schema.Avro, Text: eventText},
		orderGUID.String(): order,
	}}
}

func (r *registry) lookup(key string) (schema.Resolved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.err != nil {
		return schema.Resolved{}, r.err
	}
	s, ok := r.ids[key]
	if !ok {
		return s, fmt.Errorf("%s: %w", key, schema.ErrUnknown)
	}
	return s, nil
}

func (r *registry) ByID(_ context.Context, c string, id int32) (schema.Resolved, error) {
	return r.lookup(fmt.Sprintf("%s %d", c, id))
}

func (r *registry) ByGUID(_ context.Context, guid string) (schema.Resolved, error) {
	return r.lookup(guid)
}

func (r *registry) set(key string, s schema.Resolved) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[key] = s
}

func (r *registry) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// rig is an engine with a registry, a broker's schemas, a clock and counters.
type rig struct {
	t        testing.TB
	registry *registry
	engine   *Engine
	now      time.Time
	schemas  map[backend.Key]backend.Schema

	forms      map[Form]int
	undecoded  map[Reason]int
	rejected   int
	mismatches int
	hits       map[bool]int
}

func (r *rig) Schema(_ context.Context, key backend.Key) (backend.Schema, error) {
	s, ok := r.schemas[key]
	if !ok {
		return s, backend.ErrInvalid
	}
	return s, nil
}

func newRig(t testing.TB, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, registry: newRegistry(), now: time.UnixMilli(1_700_000_000_000), schemas: map[backend.Key]backend.Schema{}}
	r.start(change)
	return r
}

// start gives the rig a new engine with empty caches, as after a restart.
func (r *rig) start(change func(*Options)) {
	r.t.Helper()
	r.reset()
	programs, err := serde.NewPrograms(serde.ProgramsOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	clock := func() time.Time { return r.now }
	resolver, err := serde.NewResolver(serde.ResolverOptions{Lookup: r.registry, Programs: programs, Clock: clock})
	if err != nil {
		r.t.Fatal(err)
	}
	o := Options{Resolver: resolver, Programs: programs, Schemas: r, Clock: clock, TailOff: true, Observer: Observer{
		Stored:    func(f Form, n int) { r.forms[f] += n },
		Undecoded: func(why Reason, n int) { r.undecoded[why] += n },
		Rejected:  func(n int) { r.rejected += n },
		Mismatch:  func() { r.mismatches++ },
		Tail:      func(hit bool) { r.hits[hit]++ },
	}}
	if change != nil {
		change(&o)
	}
	if r.engine, err = New(o); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) reset() {
	r.forms, r.undecoded, r.hits = map[Form]int{}, map[Reason]int{}, map[bool]int{}
	r.rejected, r.mismatches = 0, 0
}

var topicID = backend.TopicID{1}

// store checks and stores a batch as Produce does.
func (r *rig) store(b []byte, p Policy) (Stored, error) {
	r.t.Helper()
	h, err := batch.Check(b, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	in := Produced{Topic: topicID, TopicName: "orders", Policy: p, Header: h, Batch: b}
	s, err := r.engine.Store(context.Background(), in)
	if errors.Is(err, ErrLarge) {
		in.Large = true
		s, err = r.engine.Store(context.Background(), in)
	}
	s.Hold.Release()
	for _, sch := range s.Schemas {
		r.schemas[sch.Key] = sch
	}
	return s, err
}

func (r *rig) mustStore(b []byte, p Policy) Stored {
	r.t.Helper()
	s, err := r.store(b, p)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) rebuild(s Stored, offset int64) []byte {
	r.t.Helper()
	b, err := r.engine.Rebuild(context.Background(), nil, backend.StoredBatch{BaseOffset: offset, LeaderEpoch: 4, AppendTime: 1234, Bytes: s.Batch}, Served{})
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// section is the decompressed record section of a batch.
func section(t testing.TB, b []byte) []byte {
	t.Helper()
	h, err := batch.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	s, err := new(batch.Codecs).Decompress(nil, b[batch.HeaderBytes:], h.Codec(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// build makes a produced batch; offset deltas and header fields are filled in.
func build(t testing.TB, codec batch.Codec, change func(*batch.Header), records ...batch.Record) []byte {
	t.Helper()
	var section []byte
	h := batch.Header{LeaderEpoch: -1, Attributes: batch.Attributes(codec, false, false, false), LastOffsetDelta: int32(len(records) - 1),
		FirstTimestamp: 1_700_000_000_000, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: int32(len(records))}
	h.MaxTimestamp = h.FirstTimestamp
	for i := range records {
		records[i].OffsetDelta = int32(i)
		h.MaxTimestamp = max(h.MaxTimestamp, h.FirstTimestamp+records[i].TimestampDelta)
		section = batch.AppendRecord(section, &records[i])
	}
	if change != nil {
		change(&h)
	}
	b, err := new(batch.Codecs).Compress(batch.Begin(nil), section, codec)
	if err != nil {
		t.Fatal(err)
	}
	batch.Finish(b, h)
	return b
}

// values are records without keys.
func values(v ...[]byte) []batch.Record {
	records := make([]batch.Record, len(v))
	for i := range v {
		records[i].Value = v[i]
	}
	return records
}

// Avro payloads by hand.

func avroString(dst []byte, s string) []byte {
	return append(binary.AppendVarint(dst, int64(len(s))), s...)
}

// blocks says how an array is written.
type blocks int

const (
	oneBlock blocks = iota
	counted
	split // one block per item: no encoder's style
)

func order(id int64, name string, tags []string, how blocks) []byte {
	b := avroString(binary.AppendVarint(nil, id), name)
	switch {
	case len(tags) == 0:
	case how == split:
		for _, t := range tags {
			b = avroString(binary.AppendVarint(b, 1), t)
		}
	default:
		var items []byte
		for _, t := range tags {
			items = avroString(items, t)
		}
		if how == counted {
			b = binary.AppendVarint(binary.AppendVarint(b, int64(-len(tags))), int64(len(items)))
		} else {
			b = binary.AppendVarint(b, int64(len(tags)))
		}
		b = append(b, items...)
	}
	b = append(b, 0)
	return avroString(append(b, 2), "note")
}

func event(at int64, kind string) []byte { return avroString(binary.AppendVarint(nil, at), kind) }

func framed(id int32, payload []byte) []byte { return append(wire.AppendPrefix(nil, id), payload...) }

func idHeader(name string, id int32) batch.RecordHeader {
	return batch.RecordHeader{Key: []byte(name), Value: wire.AppendPrefix(nil, id)}
}

func guidHeader(name string, guid wire.GUID) batch.RecordHeader {
	return batch.RecordHeader{Key: []byte(name), Value: append([]byte{1}, guid[:]...)}
}

// opened returns the records of a stored batch.
func opened(t testing.TB, s Stored) (stored.Header, []stored.Record) {
	t.Helper()
	b, err := stored.Open(s.Batch)
	if err != nil {
		t.Fatal(err)
	}
	it := b.Records()
	var r stored.Record
	var all []stored.Record
	for it.Next(&r) {
		all = append(all, r)
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return b.Header, all
}

// same fails unless the batch b has exactly the records of produced.
func same(t testing.TB, what string, b, produced []byte) {
	t.Helper()
	if got, want := section(t, b), section(t, produced); !bytes.Equal(got, want) {
		t.Errorf("%s: records differ\n got %x\nwant %x", what, got, want)
	}
}
