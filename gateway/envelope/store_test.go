package envelope

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"milena/broker/stored"
	"milena/gateway/batch"
	"milena/serde/schema"
	"milena/serde/wire"
)

// TestForms: what each kind of payload is stored as, and that it comes back.
func TestForms(t *testing.T) {
	tags := []string{"a", "bc"}
	headers := func(hs ...batch.RecordHeader) []byte { return batch.AppendHeaders(nil, hs...) }
	for name, c := range map[string]struct {
		record    batch.Record
		form      Form
		framing   stored.Framing
		undecoded Reason
		counts    int
	}{
		"canonical":          {batch.Record{Value: framed(7, order(1, "x", tags, oneBlock))}, Rebuilt, stored.FramingPrefix, 0, 0},
		"counted blocks":     {batch.Record{Value: framed(7, order(1, "x", tags, counted))}, Rebuilt, stored.FramingPrefix, 0, 0},
		"split blocks":       {batch.Record{Value: framed(7, order(1, "x", tags, split))}, WithOriginal, stored.FramingPrefix, 0, 0},
		"plain":              {batch.Record{Value: []byte("plain")}, Raw, stored.FramingNone, 0, 0},
		"empty":              {batch.Record{Value: []byte{}}, Raw, stored.FramingNone, 0, 0},
		"tombstone":          {batch.Record{Key: []byte("k")}, Raw, stored.FramingNone, 0, 0},
		"enveloped key":      {batch.Record{Key: framed(8, event(1, "k"))}, Rebuilt, stored.FramingNone, 0, 0},
		"id 0":               {batch.Record{Value: []byte{0, 0, 0, 0, 0, 1}}, Raw, stored.FramingNone, 0, 0},
		"negative id":        {batch.Record{Value: []byte{0, 0xff, 0, 0, 0, 1}}, Raw, stored.FramingNone, 0, 0},
		"only a prefix":      {batch.Record{Value: []byte{0, 0, 0, 0, 7}}, Raw, stored.FramingNone, BadPayload, 1},
		"null schema":        {batch.Record{Value: []byte{0, 0, 0, 0, 10}}, Rebuilt, stored.FramingPrefix, 0, 0},
		"bare bytes":         {batch.Record{Value: framed(11, []byte("as Java writes them"))}, Rebuilt, stored.FramingPrefix, 0, 0},
		"no bytes at all":    {batch.Record{Value: framed(11, nil)}, Rebuilt, stored.FramingPrefix, 0, 0},
		"unknown id":         {batch.Record{Value: framed(77, order(1, "x", nil, oneBlock))}, Raw, stored.FramingNone, UnknownID, 1},
		"trailing byte":      {batch.Record{Value: framed(7, append(order(1, "x", nil, oneBlock), 0))}, Raw, stored.FramingNone, BadPayload, 1},
		"no program":         {batch.Record{Value: framed(9, []byte{0, 8, 1})}, Raw, stored.FramingNone, NoProgram, 1},
		"id header":          {batch.Record{Value: order(1, "x", tags, oneBlock), Headers: headers(idHeader(wire.ValueHeader, 7))}, Rebuilt, stored.FramingHeaderV0, 0, 0},
		"guid header":        {batch.Record{Value: order(1, "x", tags, counted), Headers: headers(guidHeader(wire.ValueHeader, orderGUID))}, Rebuilt, stored.FramingHeaderV1, 0, 0},
		"last header wins":   {batch.Record{Value: event(1, "x"), Headers: headers(idHeader(wire.ValueHeader, 7), idHeader(wire.ValueHeader, 8))}, Rebuilt, stored.FramingHeaderV0, 0, 0},
		"null last header":   {batch.Record{Value: framed(8, event(1, "x")), Headers: headers(idHeader(wire.ValueHeader, 7), batch.RecordHeader{Key: []byte(wire.ValueHeader)})}, Rebuilt, stored.FramingPrefix, 0, 0},
		"header of the key":  {batch.Record{Key: event(1, "k"), Value: []byte("v"), Headers: headers(idHeader(wire.KeyHeader, 8))}, Raw, stored.FramingNone, 0, 0},
		"split in a header":  {batch.Record{Value: order(1, "x", tags, split), Headers: headers(idHeader(wire.ValueHeader, 7))}, WithOriginal, stored.FramingHeaderV0, 0, 0},
		"bad header":         {batch.Record{Value: event(1, "x"), Headers: headers(batch.RecordHeader{Key: []byte(wire.ValueHeader), Value: []byte{9}})}, Raw, stored.FramingNone, BadHeader, 1},
		"key makes it worse": {batch.Record{Key: framed(7, order(1, "x", tags, split)), Value: framed(8, event(1, "x"))}, WithOriginal, stored.FramingPrefix, 0, 0},
	} {
		r := newRig(t, nil)
		b := build(t, batch.None, nil, c.record)
		s := r.mustStore(b, Policy{})
		if fmt.Sprint(r.forms) != fmt.Sprint(map[Form]int{c.form: 1}) {
			t.Errorf("%s: forms %v, want %v", name, r.forms, c.form)
		}
		if r.undecoded[c.undecoded] != c.counts || len(r.undecoded) > c.counts {
			t.Errorf("%s: undecoded %v", name, r.undecoded)
		}
		if _, records := opened(t, s); records[0].Value.Framing != c.framing {
			t.Errorf("%s: framing %v, want %v", name, records[0].Value.Framing, c.framing)
		}
		if s.Exact != (c.form != WithOriginal) {
			t.Errorf("%s: exact %v", name, s.Exact)
		}
		same(t, name, r.rebuild(s, 0), b)
	}
}

// TestOffLooksAtNothing: a side whose mode is off is stored as it is.
func TestOffLooksAtNothing(t *testing.T) {
	r := newRig(t, nil)
	b := build(t, batch.None, nil, batch.Record{Key: framed(8, event(1, "k")), Value: framed(7, order(1, "x", nil, oneBlock))})
	s := r.mustStore(b, Policy{Key: Off, Value: Off})
	if r.registry.count() != 0 || r.forms[Raw] != 1 || len(s.Schemas) != 0 {
		t.Errorf("asked %d times, forms %v, %d schemas", r.registry.count(), r.forms, len(s.Schemas))
	}
	same(t, "off", r.rebuild(s, 0), b)
	r.reset()
	s = r.mustStore(b, Policy{Key: Permissive, Value: Off})
	if _, records := opened(t, s); records[0].Key.Schema < 0 || records[0].Value.Schema >= 0 {
		t.Errorf("key %+v, value %+v", records[0].Key, records[0].Value)
	}
}

func TestStrict(t *testing.T) {
	good := framed(7, order(1, "x", nil, oneBlock))
	bad := framed(7, order(1, "x\xff", nil, oneBlock))
	r := newRig(t, nil)
	b := build(t, batch.Gzip, nil, values(good, []byte("plain"), bad, nil, framed(77, nil), framed(9, []byte{0}), good)...)
	_, err := r.store(b, Policy{Value: Strict})
	var rejected *Rejected
	if !errors.As(err, &rejected) || !errors.Is(err, ErrInvalidRecord) {
		t.Fatal(err)
	}
	var got []string
	for _, rec := range rejected.Records {
		got = append(got, fmt.Sprintf("%d: %s", rec.Index, rec.Message))
	}
	want := []string{
		"1: value of topic orders: no schema id before the payload",
		"2: value of topic orders, schema id 7: name: string is not valid UTF-8 at byte ",
		"4: value of topic orders, schema id 77: no such schema in context .",
		"5: value of topic orders, schema id 9: ", // the reason is the format's
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("rejects\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if rejected.Count != 4 || r.rejected != 4 || len(r.forms) != 0 || !strings.Contains(rejected.Error(), "topic orders: 4 records") {
		t.Errorf("count %d, counted %d, forms %v, %v", rejected.Count, r.rejected, r.forms, rejected)
	}
	if _, err := r.store(build(t, batch.None, nil, values(good, nil, good)...), Policy{Value: Strict}); err != nil {
		t.Errorf("valid records and a tombstone: %v", err)
	}
	_, err = r.store(build(t, batch.None, nil, batch.Record{Key: []byte("k"), Value: []byte("v")}), Policy{Key: Strict, Value: Strict})
	if !errors.As(err, &rejected) || rejected.Count != 1 || !strings.Contains(rejected.Records[0].Message, "key of topic") || !strings.Contains(rejected.Records[0].Message, "value of topic") {
		t.Errorf("both sides of one record: %v", err)
	}
}

func TestRejectsAreBounded(t *testing.T) {
	r := newRig(t, func(o *Options) { o.RejectsMax = 3 })
	_, err := r.store(build(t, batch.None, nil, make([]batch.Record, 50)...), Policy{KeyRequired: true})
	var rejected *Rejected
	if !errors.As(err, &rejected) || rejected.Count != 50 || len(rejected.Records) != 3 {
		t.Errorf("%+v", rejected)
	}
}

// TestKafkasOwnChecks: keys before timestamps before contents, and only the
// first kind is reported.
func TestKafkasOwnChecks(t *testing.T) {
	r := newRig(t, nil)
	late := int64(2 * time.Hour / time.Millisecond)
	records := func() []batch.Record {
		return []batch.Record{{Key: []byte("k"), Value: []byte("plain")}, {Key: []byte("k"), TimestampDelta: late}, {TimestampDelta: -late}}
	}
	for name, c := range map[string]struct {
		policy Policy
		want   error
		index  []int32
	}{
		"keys first":             {Policy{KeyRequired: true, TimestampAfterMax: time.Hour, Value: Strict}, ErrInvalidRecord, []int32{2}},
		"then timestamps":        {Policy{TimestampAfterMax: time.Hour, TimestampBeforeMax: time.Hour, Value: Strict}, ErrInvalidTimestamp, []int32{1, 2}},
		"future only":            {Policy{TimestampAfterMax: time.Hour}, ErrInvalidTimestamp, []int32{1}},
		"then contents":          {Policy{Value: Strict}, ErrInvalidRecord, []int32{0}},
		"append time has no say": {Policy{LogAppendTime: true, TimestampAfterMax: time.Hour, TimestampBeforeMax: time.Hour}, nil, nil},
		"nothing":                {Policy{}, nil, nil},
	} {
		_, err := r.store(build(t, batch.LZ4, nil, records()...), c.policy)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		var rejected *Rejected
		var index []int32
		if errors.As(err, &rejected) {
			for _, rec := range rejected.Records {
				index = append(index, rec.Index)
			}
		}
		if fmt.Sprint(index) != fmt.Sprint(c.index) {
			t.Errorf("%s: records %v, want %v", name, index, c.index)
		}
	}
}

func TestIdsResolveInOneContext(t *testing.T) {
	r := newRig(t, nil)
	asOrder := build(t, batch.None, nil, values(framed(7, order(1, "x", nil, oneBlock)))...)
	asEvent := build(t, batch.None, nil, values(framed(7, event(1, "x")))...)
	onlyDefault := build(t, batch.None, nil, values(framed(8, event(1, "x")))...)
	r.mustStore(asOrder, Policy{})
	r.mustStore(asEvent, Policy{Context: ".other"})
	if r.forms[Rebuilt] != 2 {
		t.Errorf("forms %v, want both rebuilt", r.forms)
	}
	if r.mustStore(onlyDefault, Policy{Context: ".other"}); r.undecoded[UnknownID] != 1 {
		t.Errorf("id of another context: %v", r.undecoded)
	}
}

func TestRegistryOutOfReach(t *testing.T) {
	r := newRig(t, nil)
	r.registry.fail(fmt.Errorf("no route: %w", schema.ErrUnavailable))
	b := build(t, batch.None, nil, values([]byte("plain"), framed(7, order(1, "x", nil, oneBlock)))...)
	for _, mode := range []Mode{Permissive, Strict} {
		if _, err := r.store(b, Policy{Value: mode}); !errors.Is(err, schema.ErrUnavailable) {
			t.Errorf("%v: %v, want unavailable", mode, err)
		}
	}
	if _, err := r.store(build(t, batch.None, nil, values([]byte("plain"))...), Policy{}); err != nil {
		t.Errorf("nothing to ask for: %v", err)
	}
	r.registry.fail(errors.New("something else")) // is not "unknown" either
	if _, err := r.store(b, Policy{}); !errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("unclassified error: %v", err)
	}
	r.registry.fail(nil)
	r.mustStore(b, Policy{})
	r.registry.fail(schema.ErrUnavailable)
	r.mustStore(b, Policy{}) // known by now
	r.now = r.now.Add(30 * time.Minute)
	r.mustStore(b, Policy{}) // stale, but there is nobody to ask
	r.now = r.now.Add(2 * time.Hour)
	if _, err := r.store(b, Policy{}); !errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("too stale: %v", err)
	}
}

// TestNewIdIsFound: an id that was unknown a moment ago is asked for again.
func TestNewIdIsFound(t *testing.T) {
	r := newRig(t, nil)
	b := build(t, batch.None, nil, values(framed(50, event(1, "x")))...)
	r.mustStore(b, Policy{})
	r.registry.set(". 50", schema.Resolved{Type: schema.Avro, Text: eventText})
	r.reset()
	if r.mustStore(b, Policy{}); r.forms[Rebuilt] != 1 {
		t.Errorf("forms %v", r.forms)
	}
}

// TestIdIsReused: what an id means is only believed for a while.
func TestIdIsReused(t *testing.T) {
	r := newRig(t, nil)
	r.mustStore(build(t, batch.None, nil, values(framed(7, order(1, "x", nil, oneBlock)))...), Policy{})
	r.registry.set(". 7", schema.Resolved{Type: schema.Avro, Text: eventText})
	r.now = r.now.Add(10 * time.Minute)
	r.reset()
	if r.mustStore(build(t, batch.None, nil, values(framed(7, event(1, "x")))...), Policy{}); r.forms[Rebuilt] != 1 {
		t.Errorf("forms %v", r.forms)
	}
}

// TestUnknownIdsAreBounded: plain payloads that look like envelopes don't flood
// the registry, and a side that never carried one is left alone.
func TestUnknownIdsAreBounded(t *testing.T) {
	r := newRig(t, nil)
	next := int32(1000)
	lookAlikes := func() []byte {
		var v [][]byte
		for range 20 {
			next++
			v = append(v, framed(next, []byte("xyz")))
		}
		return build(t, batch.None, nil, values(v...)...)
	}
	for range 50 {
		b := lookAlikes()
		same(t, "look-alikes", r.rebuild(r.mustStore(b, Policy{}), 0), b)
	}
	if n := r.registry.count(); n != 32 {
		t.Errorf("asked %d times, want 32", n)
	}
	if r.forms[Raw] != 1000 || r.undecoded[UnknownID] != 32 || r.undecoded[NotAsked] != 968 {
		t.Errorf("forms %v, undecoded %v", r.forms, r.undecoded)
	}
	r.now = r.now.Add(time.Minute)
	r.mustStore(lookAlikes(), Policy{})
	if n := r.registry.count(); n != 32+6 {
		t.Errorf("asked %d times in the minute after, want 6", n-32)
	}
	r.registry.fail(schema.ErrUnavailable)
	r.now = r.now.Add(time.Minute)
	if _, err := r.store(lookAlikes(), Policy{}); err != nil {
		t.Errorf("plain data needs no registry: %v", err)
	}
	r.registry.fail(nil)
	// An envelope turns the side into one that carries them: more look-ups.
	r.now = r.now.Add(time.Minute)
	r.mustStore(build(t, batch.None, nil, values(framed(7, order(1, "x", nil, oneBlock)))...), Policy{})
	before := r.registry.count()
	r.now = r.now.Add(time.Minute)
	r.mustStore(lookAlikes(), Policy{})
	if n := r.registry.count() - before; n != 20 {
		t.Errorf("asked %d times, want 20", n)
	}
	// Repeats within a batch cost one look-up; the key side has its own budget.
	before = r.registry.count()
	again := framed(5000, []byte("xyz"))
	r.mustStore(build(t, batch.None, nil, batch.Record{Key: again, Value: again}, batch.Record{Key: again, Value: again}), Policy{})
	if n := r.registry.count() - before; n != 2 {
		t.Errorf("asked %d times, want once per side", n)
	}
}

// TestStrictWaitsForTheBudget: a strict topic doesn't take "not asked" for
// "unknown".
func TestStrictWaitsForTheBudget(t *testing.T) {
	r := newRig(t, func(o *Options) { o.UnknownBurst = 2 })
	good := build(t, batch.None, nil, values(framed(7, order(1, "x", nil, oneBlock)))...)
	bad := build(t, batch.None, nil, values(framed(101, nil), framed(102, nil), framed(103, nil), framed(7, order(1, "x", nil, oneBlock)))...)
	var rejected *Rejected
	if _, err := r.store(bad, Policy{Value: Strict}); !errors.As(err, &rejected) || rejected.Count != 2 {
		t.Errorf("%v, want a refusal for the two that were asked for", err)
	}
	if _, err := r.store(good, Policy{Value: Strict}); !errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("%v, want a retriable error", err)
	}
	r.now = r.now.Add(time.Second)
	if _, err := r.store(good, Policy{Value: Strict}); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

func TestSchemasGoWithTheirFirstRecords(t *testing.T) {
	r := newRig(t, nil)
	b := build(t, batch.None, nil, batch.Record{Key: framed(8, event(1, "k")), Value: framed(7, order(1, "x", nil, oneBlock))})
	first := r.mustStore(b, Policy{})
	if len(first.Schemas) != 2 || len(r.mustStore(b, Policy{}).Schemas) != 2 {
		t.Fatal("schemas must go along until the broker has them")
	}
	for _, s := range first.Schemas {
		parsed, err := schema.ParseBinary(s.Encoded)
		if err != nil || parsed.Key() != schema.Key(s.Key) {
			t.Errorf("schema %x: %v", s.Key, err)
		}
	}
	r.engine.Acknowledge(first.Schemas)
	if n := len(r.mustStore(b, Policy{}).Schemas); n != 0 {
		t.Errorf("%d schemas after the acknowledgement", n)
	}
	r.now = r.now.Add(2 * time.Minute)
	if n := len(r.mustStore(b, Policy{}).Schemas); n != 2 {
		t.Errorf("%d schemas after a while", n)
	}
}

// TestDecodedSizeIsBounded: a byte of payload can stand for a long enum symbol.
func TestDecodedSizeIsBounded(t *testing.T) {
	r := newRig(t, func(o *Options) { o.BatchBytesMax = 20_000 })
	symbol := strings.Repeat("S", 300)
	r.registry.set(". 12", schema.Resolved{Type: schema.Avro, Text: `{"type":"array","items":{"type":"enum","name":"E","symbols":["` + symbol + `"]}}`})
	item := framed(12, append(append([]byte{100}, make([]byte, 50)...), 0)) // 50 symbols
	b := build(t, batch.None, nil, values(item, item, item)...)
	s := r.mustStore(b, Policy{})
	if r.forms[Rebuilt] != 1 || r.forms[Raw] != 2 || r.undecoded[TooLarge] != 2 {
		t.Errorf("forms %v, undecoded %v", r.forms, r.undecoded)
	}
	same(t, "decoded and not", r.rebuild(s, 0), b)
	var rejected *Rejected
	if _, err := r.store(b, Policy{Value: Strict}); !errors.As(err, &rejected) || rejected.Count != 2 {
		t.Errorf("strict: %v", err)
	}
}

func TestLabels(t *testing.T) {
	var got []string
	for f := range forms {
		got = append(got, f.String())
	}
	for why := range reasons {
		got = append(got, why.String())
	}
	want := "rebuilt with_original raw unknown_id not_asked no_program bad_payload bad_header too_large"
	if strings.Join(got, " ") != want {
		t.Errorf("labels %v", got)
	}
}

func TestBadRecordsAreRefused(t *testing.T) {
	r := newRig(t, nil)
	b := build(t, batch.None, func(h *batch.Header) { h.Count, h.LastOffsetDelta = 2, 1 }, values([]byte("one"), []byte("two"), []byte("three"))...)
	if _, err := r.store(b, Policy{}); !errors.Is(err, batch.ErrInvalid) {
		t.Errorf("%v", err)
	}
	if len(r.forms) != 0 {
		t.Errorf("counted %v of a refused batch", r.forms)
	}
}

func TestStoreAllocatesPerBatchNotPerRecord(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's pools allocate")
	}
	r := newRig(t, nil)
	allocs := func(n int) float64 {
		var records []batch.Record
		for i := range n {
			records = append(records, batch.Record{Key: []byte("key"), Value: framed(7, order(int64(i), "name", []string{"a", "b"}, oneBlock))})
		}
		b := build(t, batch.LZ4, nil, records...)
		s := r.mustStore(b, Policy{})
		r.engine.Acknowledge(s.Schemas)
		r.rebuild(s, 0)
		h, err := batch.Check(b, 0)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(20, func() {
			if _, err := r.engine.Store(context.Background(), Produced{Topic: topicID, Header: h, Batch: b}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(10), allocs(200); many > few+2 {
		t.Errorf("%v allocations for 10 records, %v for 200", few, many)
	}
}
