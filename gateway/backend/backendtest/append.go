package backendtest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"milena/gateway/backend"
)

func testDenseOffsets(s *suite) {
	t := s.topic("t", 2)
	p0, p1 := backend.Partition{Topic: t.ID}, backend.Partition{Topic: t.ID, Index: 1}
	batch := func(p backend.Partition, text string, count int) backend.Append {
		return backend.Append{Partition: p, Batch: (&Batch{Count: count, Text: text}).Bytes(s.T)}
	}
	out, err := s.append(backend.Synced, []backend.Append{
		batch(p0, "a", 3), batch(p1, "b", 2), batch(p0, "c", 1), batch(p0, "d", 4), batch(p1, "e", 1),
	})
	s.ok(err)
	for i, want := range []int64{0, 0, 3, 4, 2} {
		if out[i].Err != nil || out[i].BaseOffset != want || out[i].Timestamp != -1 || out[i].LogStart != 0 || out[i].Duplicate {
			s.Fatalf("outcome %d is %+v, want offset %d", i, out[i], want)
		}
	}
	s.stores(p0, &Batch{Text: "f"}, 8)
	var got []string
	for _, b := range s.read1(p0, 0).Batches {
		got = append(got, values(s.T, b)...)
	}
	want := []string{"0=a 0", "1=a 1", "2=a 2", "3=c 0", "4=d 0", "5=d 1", "6=d 2", "7=d 3", "8=f 0"}
	if !slices.Equal(got, want) {
		s.Fatalf("read %v, want %v", got, want)
	}
}

func testEachBatch(s *suite) {
	p := s.partition("t")
	broken := (&Batch{}).Bytes(s.T)
	broken[len(broken)/2] ^= 1
	out, err := s.append(backend.Synced, []backend.Append{
		{Partition: p, Batch: (&Batch{}).Bytes(s.T)},
		{Partition: backend.Partition{Topic: p.Topic, Index: 1}, Batch: (&Batch{}).Bytes(s.T)},
		{Partition: backend.Partition{Topic: p.Topic, Index: -1}, Batch: (&Batch{}).Bytes(s.T)},
		{Partition: backend.Partition{Topic: backend.TopicID{9}}, Batch: (&Batch{}).Bytes(s.T)},
		{Partition: p, Batch: broken},
		{Partition: p, Batch: nil},
		{Partition: p, Batch: (&Batch{}).Bytes(s.T)},
	})
	s.ok(err)
	for i, want := range []error{nil, backend.ErrUnknownTopic, backend.ErrUnknownTopic, backend.ErrUnknownTopic, backend.ErrInvalid, backend.ErrInvalid, nil} {
		if want == nil {
			s.ok(out[i].Err)
			continue
		}
		s.is(out[i].Err, want)
		if out[i].BaseOffset != -1 {
			s.Fatalf("refused batch %d has offset %d", i, out[i].BaseOffset)
		}
	}
	if out[0].BaseOffset != 0 || out[6].BaseOffset != 1 {
		s.Fatalf("offsets %d and %d", out[0].BaseOffset, out[6].BaseOffset)
	}
	_, err = s.append(backend.Synced, nil)
	s.is(err, backend.ErrInvalid)
}

func testDurabilities(s *suite) {
	p := s.partition("t")
	for i := range 20 {
		d := backend.Synced
		if i%2 == 1 {
			d = backend.Written
		}
		out, err := s.append(d, []backend.Append{{Partition: p, Batch: (&Batch{}).Bytes(s.T)}})
		s.ok(err)
		s.ok(out[0].Err)
		if out[0].BaseOffset != int64(i) {
			s.Fatalf("offset %d, want %d", out[0].BaseOffset, i)
		}
		if a := s.listed(p, -1); a.Err != nil || a.Offset != int64(i)+1 {
			s.Fatalf("latest offset is %+v after the answer for offset %d", a, i)
		}
		if d == backend.Synced {
			if r := s.read1(p, 0); r.HighWatermark != int64(i)+1 {
				s.Fatalf("high watermark %d after acknowledged offset %d", r.HighWatermark, i)
			}
		}
	}
}

func testAppendTime(s *suite) {
	t, err := s.b.CreateTopic(s.ctx, backend.TopicSpec{
		Name: "t", Partitions: 1, Configs: map[string]string{"message.timestamp.type": "LogAppendTime"},
	})
	s.ok(err)
	p := backend.Partition{Topic: t.ID}
	before := time.Now().UnixMilli()
	a := s.append1(p, (&Batch{Count: 2, Times: []int64{5, 7}}).By(1, 0, 0))
	s.ok(a.Err)
	if a.Timestamp < before || a.Timestamp > time.Now().UnixMilli() {
		s.Fatalf("append time is %d", a.Timestamp)
	}
	again := s.append1(p, (&Batch{Count: 2, Times: []int64{5, 7}}).By(1, 0, 0))
	if again.Err != nil || !again.Duplicate || again.Timestamp != a.Timestamp {
		s.Fatalf("duplicate is %+v, want time %d", again, a.Timestamp)
	}
	if r := s.read1(p, 0); r.Batches[0].AppendTime != a.Timestamp {
		s.Fatalf("read has append time %d, want %d", r.Batches[0].AppendTime, a.Timestamp)
	}
	answers, err := s.b.ListOffsets(s.ctx, []backend.OffsetQuery{{Partition: p, Timestamp: 8}, {Partition: p, Timestamp: -3}})
	s.ok(err)
	for _, got := range answers {
		if got.Err != nil || got.Offset != 0 || got.Timestamp != a.Timestamp {
			s.Fatalf("offset by time is %+v", got)
		}
	}
}

func testSchemas(s *suite) {
	p := s.partition("t")
	schema := func(text string) backend.Schema {
		return backend.Schema{Key: sha256.Sum256([]byte(text)), Encoded: []byte(text)}
	}
	one, two := schema("one"), schema("two")
	_, err := s.b.Schema(s.ctx, one.Key)
	s.is(err, backend.ErrInvalid)
	forged := backend.Schema{Key: schema("other").Key, Encoded: []byte("not other")}
	out, err := s.append(backend.Synced, []backend.Append{
		{Partition: p, Batch: (&Batch{}).Bytes(s.T), Schemas: []backend.Schema{one, one}},
		{Partition: p, Batch: (&Batch{}).Bytes(s.T), Schemas: []backend.Schema{two, one}},
		{Partition: p, Batch: (&Batch{}).Bytes(s.T), Schemas: []backend.Schema{forged}},
	})
	s.ok(err)
	s.ok(out[0].Err)
	s.ok(out[1].Err)
	s.is(out[2].Err, backend.ErrInvalid)
	for _, want := range []backend.Schema{one, two} {
		got, err := s.b.Schema(s.ctx, want.Key)
		s.ok(err)
		if got.Key != want.Key || string(got.Encoded) != string(want.Encoded) {
			s.Fatalf("schema is %q, want %q", got.Encoded, want.Encoded)
		}
	}
	_, err = s.b.Schema(s.ctx, forged.Key)
	s.is(err, backend.ErrInvalid)
}

func testProducerIDs(s *suite) {
	var mu sync.Mutex
	seen := make(map[int64]bool)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 30 {
				id, err := s.b.NewProducerID(s.ctx)
				mu.Lock()
				if err != nil || id < 0 || seen[id] {
					s.Errorf("producer id %d (seen %v): %v", id, seen[id], err)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// testConcurrentAppends has many producers append to all partitions at once:
// each one's batches are there once, in its order.
func testConcurrentAppends(s *suite) {
	const producers, batches, partitions = 8, 25, 3
	t := s.topic("t", partitions)
	var wg sync.WaitGroup
	for id := range producers {
		wg.Go(func() {
			for i := range batches {
				b := (&Batch{Count: 1 + (id+i)%3, Text: fmt.Sprintf("%d/%d", id, i)}).By(int64(id), 0, 0)
				for n := range i {
					b.Sequence += int32(1 + (id+n)%3)
				}
				var calls []backend.Append
				for index := range int32(partitions) {
					calls = append(calls, backend.Append{Partition: backend.Partition{Topic: t.ID, Index: index}, Batch: b.Bytes(s.T)})
				}
				out, err := s.append(backend.Synced, calls)
				if err != nil || slices.ContainsFunc(out, func(a backend.Appended) bool { return a.Err != nil || a.Duplicate }) {
					s.Errorf("append %d/%d: %v %+v", id, i, err, out)
					return
				}
			}
		})
	}
	wg.Wait()
	for index := range int32(partitions) {
		next := make(map[int]int)
		offset := int64(0)
		for _, b := range s.readAll(backend.Partition{Topic: t.ID, Index: index}) {
			if b.BaseOffset != offset {
				s.Fatalf("batch at %d, want %d", b.BaseOffset, offset)
			}
			records := values(s.T, b)
			offset += int64(len(records))
			var id, i int
			if _, err := fmt.Sscanf(records[0], fmt.Sprint(b.BaseOffset)+"=%d/%d", &id, &i); err != nil || next[id] != i {
				s.Fatalf("batch %q where %d/%d is next (%v)", records[0], id, next[id], err)
			}
			next[id]++
		}
		for id := range producers {
			if next[id] != batches {
				s.Fatalf("partition %d has %d batches of producer %d", index, next[id], id)
			}
		}
	}
}

// readAll reads a partition from the start to its end.
func (s *suite) readAll(p backend.Partition) []backend.StoredBatch {
	s.Helper()
	var out []backend.StoredBatch
	for offset := int64(0); ; {
		r := s.read1(p, offset)
		s.ok(r.Err)
		if len(r.Batches) == 0 {
			if offset != r.HighWatermark {
				s.Fatalf("nothing at %d below the high watermark %d", offset, r.HighWatermark)
			}
			return out
		}
		for _, b := range r.Batches {
			if b.BaseOffset < offset {
				s.Fatalf("batch at %d again", b.BaseOffset)
			}
			offset = b.BaseOffset + span(s.T, b)
		}
		out = append(out, r.Batches...)
	}
}
