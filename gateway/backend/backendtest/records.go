package backendtest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"milena/gateway/backend"
)

func (s *suite) wantRecord(key string, version int64, value string) {
	s.Helper()
	r, err := s.b.Load(s.ctx, key)
	s.ok(err)
	if r.Key != key || r.Version != version || string(r.Value) != value {
		s.Fatalf("record is %q version %d %q, want version %d %q", r.Key, r.Version, r.Value, version, value)
	}
}

func testRecords(s *suite) {
	put := func(key string, expected int64, value []byte, want int64) {
		s.Helper()
		version, err := s.b.CompareAndAppend(s.ctx, key, expected, value)
		s.ok(err)
		if version != want {
			s.Fatalf("version %d, want %d", version, want)
		}
	}
	s.wantRecord("group/a", 0, "")
	put("group/a", 0, []byte("one"), 1)
	put("group/a", 1, []byte("two"), 2)
	for _, expected := range []int64{0, 1, 3} {
		_, err := s.b.CompareAndAppend(s.ctx, "group/a", expected, []byte("x"))
		s.is(err, backend.ErrConflict)
		_, err = s.b.CompareAndAppend(s.ctx, "group/a", expected, nil)
		s.is(err, backend.ErrConflict)
	}
	s.wantRecord("group/a", 2, "two")
	put("group/b", 0, []byte{}, 1) // empty is a value
	s.wantRecord("group/b", 1, "")
	put("groupie", 0, []byte("x"), 1)
	put("txn/a", 0, []byte(strings.Repeat("large", 300_000)), 1)
	list, err := s.b.LoadPrefix(s.ctx, "group/")
	s.ok(err)
	text := ""
	for _, r := range list {
		text += fmt.Sprintf("%s@%d=%s ", r.Key, r.Version, r.Value)
	}
	if text != "group/a@2=two group/b@1= " {
		s.Fatalf("records %s", text)
	}
	if list, err = s.b.LoadPrefix(s.ctx, ""); err != nil || len(list) != 4 || len(list[3].Value) != 1_500_000 {
		s.Fatalf("%d records: %v", len(list), err)
	}
	put("group/a", 2, nil, 0)
	s.wantRecord("group/a", 0, "")
	put("group/a", 0, []byte("again"), 1)
	s.wantRecord("group/a", 1, "again")
}

// testRecordsRace has many writers count one record up: each version is won
// once.
func testRecordsRace(s *suite) {
	const writers, wins = 6, 15
	var won atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; n < wins; {
				r, err := s.b.Load(s.ctx, "counter")
				if err != nil {
					s.Errorf("load: %v", err)
					return
				}
				version, err := s.b.CompareAndAppend(s.ctx, "counter", r.Version, number(uint64(w)))
				switch {
				case err == nil && version == r.Version+1:
					won.Add(1)
					n++
				case !errors.Is(err, backend.ErrConflict):
					s.Errorf("version %d after %d: %v", version, r.Version, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if r, err := s.b.Load(s.ctx, "counter"); err != nil || r.Version != writers*wins || won.Load() != writers*wins {
		s.Fatalf("version %d after %d wins: %v", r.Version, won.Load(), err)
	}
}

func testRestart(s *suite) {
	if s.Restart == nil {
		s.Skip("nothing outlives this broker")
	}
	p := s.partition("t")
	s.topic("gone", 1)
	gone, err := s.b.TopicByName(s.ctx, "gone")
	s.ok(err)
	s.ok(s.b.DeleteTopic(s.ctx, gone.ID))
	for i := range int32(8) {
		s.stores(p, (&Batch{Count: 2, Text: fmt.Sprint(i), Times: []int64{int64(i), 50}}).By(1, 0, 2*i), int64(2*i))
	}
	s.ok(s.b.CommitOffsets(s.ctx, "g", []backend.GroupOffset{{Topic: "t", TopicID: p.Topic, Offset: 5, LeaderEpoch: -1, Metadata: "m", ExpireTime: -1}}))
	_, err = s.b.CompareAndAppend(s.ctx, "k", 0, []byte("v"))
	s.ok(err)
	id, err := s.b.NewProducerID(s.ctx)
	s.ok(err)
	before := s.readAll(p)

	s.b = s.Restart(s.T)
	after := s.readAll(p)
	if len(after) != len(before) {
		s.Fatalf("%d batches, before %d", len(after), len(before))
	}
	for i := range after {
		if string(after[i].Bytes) != string(before[i].Bytes) || after[i].BaseOffset != before[i].BaseOffset || after[i].AppendTime != before[i].AppendTime {
			s.Fatalf("batch %d differs", i)
		}
	}
	two := Batch{Count: 2, Text: "7", Times: []int64{7, 50}}
	s.duplicates(p, two.By(1, 0, 14), 14)
	s.refuses(p, two.By(1, 0, 2), backend.ErrStaleDuplicate)
	s.refuses(p, two.By(1, 0, 18), backend.ErrOutOfOrderSequence)
	s.stores(p, two.By(1, 0, 16), 16)
	s.wantOffsets("g", `t-0=5/-1/"m"/0/-1 `)
	s.wantRecord("k", 1, "v")
	if a := s.listed(p, 7); a.Offset != 1 || a.Timestamp != 50 {
		s.Fatalf("by time: %+v", a)
	}
	if next, err := s.b.NewProducerID(s.ctx); err != nil || next <= id {
		s.Fatalf("producer id %d after %d: %v", next, id, err)
	}
	list, err := s.b.ListTopics(s.ctx)
	s.ok(err)
	if len(list) != 1 || list[0].Name != "t" || list[0].ID != p.Topic {
		s.Fatalf("topics %+v", list)
	}
	s.is(s.read1(backend.Partition{Topic: gone.ID}, 0).Err, backend.ErrUnknownTopic)
}
