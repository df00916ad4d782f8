package broker

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"milena/broker/api"
	"milena/broker/catalog"
)

var update = flag.Bool("update", false, "write golden files of the version that this build writes")

// everyItem builds a commit record with every kind of item.
func everyItem() []byte {
	id := api.TopicID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	var r recordBuilder
	r.reset(1_700_000_000_123)
	r.addTopicCreated(api.Topic{ID: id, Name: "orders", Partitions: 3, Configs: map[string]string{"b": "2", "a": "1"}})
	r.addSchema(schemaOf("schema"))
	r.addBatch(&batchItem{
		partition: api.Partition{Topic: id, Index: 2}, baseOffset: 300, chunkOffset: 24, length: 5000,
		lastOffsetDelta: 99, maxTimestamp: 1_700_000_000_000, encodedSize: 7000,
		flags: flagProducer | flagTransactional, producerID: 77, producerEpoch: 3, baseSequence: 1000,
	})
	r.addBatch(&batchItem{
		partition: api.Partition{Topic: id}, chunkOffset: 5048, length: 100, maxTimestamp: -1, flags: flagAppendTime,
		producerID: -1, producerEpoch: -1, baseSequence: -1,
	})
	r.addBatch(&batchItem{
		partition: api.Partition{Topic: id}, baseOffset: 1, chunkOffset: 5172, length: 90,
		flags: flagProducer | flagTransactional | flagControl | flagAbort, producerID: 77, producerEpoch: 3, baseSequence: -1,
	})
	r.addProducerIDs(2000)
	r.addOffsets("group", []api.GroupOffset{
		{TopicID: id, Partition: 1, Offset: 42, LeaderEpoch: -1, Metadata: "m", CommitTime: 5, ExpireTime: -1},
		{TopicID: id, Partition: 0, Offset: -1, LeaderEpoch: 7, ExpireTime: 99},
	})
	r.addOffsetsGone("group", []api.GroupOffset{{TopicID: id, Partition: 1}})
	r.addOffsetsGone("other", nil)
	r.addRecord(api.Record{Key: "group/a", Version: 9, Value: []byte("state")})
	r.addRecordGone("group/b")
	r.addTopicDeleted(id)
	return r.buf
}

// describe renders a commit record, one line for each item.
func describe(record []byte) (string, error) {
	var b strings.Builder
	err := foldRecord(record, func(at int64, it *item) error {
		fmt.Fprintf(&b, "%d kind %d", at, it.kind)
		switch it.kind {
		case itemBatch:
			fmt.Fprintf(&b, " %+v", it.batch)
		case itemSchema:
			fmt.Fprintf(&b, " %x %q", it.schema.Key[:4], it.schema.Encoded)
		case itemTopicCreated:
			fmt.Fprintf(&b, " %x %q %d %v", it.topic.ID, it.topic.Name, it.topic.Partitions, it.topic.Configs)
		case itemTopicDeleted:
			fmt.Fprintf(&b, " %x", it.topicID)
		case itemProducerIDs:
			fmt.Fprintf(&b, " %d", it.producerID)
		case itemOffsets, itemOffsetsGone:
			fmt.Fprintf(&b, " %q %+v", it.group, it.offsets)
		case itemRecord, itemRecordGone:
			fmt.Fprintf(&b, " %q %d %q", it.record.Key, it.record.Version, it.record.Value)
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String(), err
}

// golden compares got with a file; -update writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: got\n%s\nwant\n%s", name, got, want)
	}
}

// TestRecordGolden: version 1 is written and read as it always was.
func TestRecordGolden(t *testing.T) {
	golden(t, "record_v1.hex", []byte(hex.EncodeToString(everyItem())+"\n"))
	text, err := os.ReadFile(filepath.Join("testdata", "record_v1.hex"))
	if err != nil {
		t.Fatal(err)
	}
	record, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := describe(record)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "record_v1.txt", []byte(got))
}

func TestRecordRefuses(t *testing.T) {
	good := everyItem()
	for i := range good {
		if i == 0 {
			continue
		}
		if _, err := describe(good[:i]); err == nil && !endsAtItem(good, i) {
			t.Fatalf("a record cut at %d was read", i)
		}
	}
	for name, bad := range map[string][]byte{
		"empty":           {},
		"version":         append([]byte{recordVersion + 1}, good[1:]...),
		"kind":            append(bytes.Clone(good), 10, 0),
		"long body":       append(bytes.Clone(good), byte(itemProducerIDs), 2, 1, 1),
		"short body":      append(bytes.Clone(good), byte(itemTopicDeleted), 1, 1),
		"padded varint":   append(bytes.Clone(good), byte(itemProducerIDs), 2, 0x81, 0),
		"many offsets":    append(bytes.Clone(good), byte(itemOffsets), 6, 0, 0xff, 0xff, 0xff, 0xff, 0x0f),
		"unordered names": append(bytes.Clone(good), append([]byte{byte(itemTopicCreated), 25}, append(make([]byte, 16), 0, 1, 2, 1, 'b', 0, 1, 'a', 0)...)...),
	} {
		if _, err := describe(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// endsAtItem says whether a cut falls between two items, where the rest is a
// whole record of fewer items (the journal's CRC guards against that).
func endsAtItem(record []byte, cut int) bool {
	c := cursor{b: record[1:]}
	c.varint()
	for len(c.b) > 0 {
		if len(record)-len(c.b) == cut {
			return true
		}
		c.byte()
		c.bytes()
	}
	return false
}

// FuzzRecord: reading never panics, and what is read is written back as it was.
func FuzzRecord(f *testing.F) {
	f.Add(everyItem())
	f.Add([]byte{recordVersion, 0})
	f.Fuzz(func(t *testing.T, record []byte) {
		var r recordBuilder
		first := true
		err := foldRecord(record, func(at int64, it *item) error {
			if first {
				r.reset(at)
				first = false
			}
			switch it.kind {
			case itemBatch:
				r.addBatch(&it.batch)
			case itemSchema:
				r.addSchema(it.schema)
			case itemTopicCreated:
				r.addTopicCreated(it.topic)
			case itemTopicDeleted:
				r.addTopicDeleted(it.topicID)
			case itemProducerIDs:
				r.addProducerIDs(it.producerID)
			case itemOffsets:
				r.addOffsets(it.group, it.offsets)
			case itemOffsetsGone:
				r.addOffsetsGone(it.group, it.offsets)
			case itemRecord:
				r.addRecord(it.record)
			case itemRecordGone:
				r.addRecordGone(it.record.Key)
			}
			return nil
		})
		if err == nil && !first && !bytes.Equal(r.buf, record) {
			t.Fatalf("written again as %x", r.buf)
		}
	})
}

// FuzzRow: loading a row never panics, whatever a checkpoint holds.
func FuzzRow(f *testing.F) {
	s := checkpointState(f)
	for _, r := range s.allRows() {
		f.Add(r.Section, r.Key, r.Value)
	}
	topics := topicRows(f)
	f.Fuzz(func(t *testing.T, section string, key, value []byte) {
		s := newState(s.opts)
		for _, r := range topics {
			if err := s.loadRow(r); err != nil {
				t.Fatal(err)
			}
		}
		if s.loadRow(catalog.Row{Section: section, Key: key, Value: value}) == nil {
			_ = s.checkLoaded()
			s.publish()
			s.allRows()
		}
	})
}

// checkpointState is a state with every kind of row.
func checkpointState(t testing.TB) *state {
	o := Options{}.withDefaults()
	s := newState(&o)
	id := api.TopicID{1, 2, 3}
	var r recordBuilder
	r.reset(1_700_000_000_123)
	r.addSchema(schemaOf("schema"))
	r.addProducerIDs(2000)
	r.addTopicCreated(api.Topic{ID: id, Name: "payments", Partitions: 2, Configs: map[string]string{"x": "y"}})
	for i := range int64(600) {
		r.addBatch(&batchItem{
			partition: api.Partition{Topic: id, Index: 1}, baseOffset: i * 3, chunkOffset: uint32(24 + i*100), length: 76,
			lastOffsetDelta: 2, maxTimestamp: 1000 - i, encodedSize: 300, flags: flagProducer,
			producerID: i % 3, baseSequence: int32(i / 3 * 3),
		})
	}
	p := api.Partition{Topic: id}
	tx := batchItem{partition: p, chunkOffset: 70_000, length: 50, flags: flagProducer | flagTransactional, producerID: 8}
	r.addBatch(&tx)
	tx.baseOffset, tx.flags, tx.baseSequence = 1, tx.flags|flagControl|flagAbort, -1
	r.addBatch(&tx)
	tx.baseOffset, tx.flags, tx.baseSequence = 2, flagProducer|flagTransactional, 1
	r.addBatch(&tx)
	r.addOffsets("group", []api.GroupOffset{{TopicID: id, Partition: 1, Offset: 42, LeaderEpoch: -1, Metadata: "m", ExpireTime: -1}})
	r.addRecord(api.Record{Key: "group/c", Version: 9, Value: []byte("state")})
	if err := s.fold(4096, r.buf); err != nil {
		t.Fatal(err)
	}
	s.publish()
	return s
}

func topicRows(t testing.TB) []catalog.Row {
	rows := checkpointState(t).allRows()
	sortRows(rows)
	var out []catalog.Row
	for _, r := range rows {
		if r.Section <= sectionTopics {
			out = append(out, r)
		}
	}
	return out
}

// TestRowsGolden: checkpoints of version 1 load as they always did.
func TestRowsGolden(t *testing.T) {
	s := checkpointState(t)
	rows := s.allRows()
	sortRows(rows)
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s %x %x\n", r.Section, r.Key, r.Value)
	}
	golden(t, "rows_v1.txt", []byte(b.String()))

	text, err := os.ReadFile(filepath.Join("testdata", "rows_v1.txt"))
	if err != nil {
		t.Fatal(err)
	}
	loaded := newState(s.opts)
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		key, keyErr := hex.DecodeString(fields[1])
		value, valueErr := hex.DecodeString(fields[2])
		if keyErr != nil || valueErr != nil {
			t.Fatal(keyErr, valueErr)
		}
		if err := loaded.loadRow(catalog.Row{Section: fields[0], Key: key, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	if err := loaded.checkLoaded(); err != nil {
		t.Fatal(err)
	}
	loaded.publish()
	again := loaded.allRows()
	sortRows(again)
	if !reflect.DeepEqual(rows, again) {
		t.Fatal("what was loaded is saved otherwise")
	}
	p := loaded.topics.partition(api.Partition{Topic: api.TopicID{1, 2, 3}, Index: 1})
	if v := p.current.Load(); v.len() != 600 || v.high != 1800 || *v.at(599) != *s.topics.partition(p.id).current.Load().at(599) {
		t.Fatalf("loaded view: %d batches up to %d", v.len(), v.high)
	}
}

// TestFoldRefuses: what no commit can hold is an error, never a guess.
func TestFoldRefuses(t *testing.T) {
	for name, add := range map[string]func(*recordBuilder, api.TopicID){
		"offset": func(r *recordBuilder, id api.TopicID) {
			r.addBatch(&batchItem{partition: api.Partition{Topic: id}, baseOffset: 9})
		},
		"partition": func(r *recordBuilder, id api.TopicID) {
			r.addBatch(&batchItem{partition: api.Partition{Topic: id, Index: 5}})
		},
		"topic": func(r *recordBuilder, _ api.TopicID) { r.addTopicDeleted(api.TopicID{9}) },
	} {
		s := checkpointState(t)
		var r recordBuilder
		r.reset(1)
		add(&r, api.TopicID{1, 2, 3})
		if err := s.fold(9000, r.buf); !errors.Is(err, errRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
