package backendtest

import (
	"fmt"
	"strings"

	"milena/gateway/backend"
)

// listed asks for one partition's offset by time.
func (s *suite) listed(p backend.Partition, timestamp int64) backend.OffsetAnswer {
	s.Helper()
	out, err := s.b.ListOffsets(s.ctx, []backend.OffsetQuery{{Partition: p, Timestamp: timestamp, LeaderEpoch: -1}})
	s.ok(err)
	if len(out) != 1 {
		s.Fatalf("%d answers to one query", len(out))
	}
	return out[0]
}

func testListOffsets(s *suite) {
	p := s.partition("t")
	check := func(timestamp, offset, at int64, epoch int32) {
		s.Helper()
		if a := s.listed(p, timestamp); a.Err != nil || a.Offset != offset || a.Timestamp != at || a.LeaderEpoch != epoch {
			s.Fatalf("time %d: %+v, want offset %d, time %d, epoch %d", timestamp, a, offset, at, epoch)
		}
	}
	check(-1, 0, -1, 0)
	check(-2, 0, -1, 0)
	check(-4, 0, -1, 0)
	check(-3, -1, -1, -1)
	check(-5, -1, -1, -1)
	check(0, -1, -1, -1)
	s.stores(p, &Batch{Count: 3, Times: []int64{100, 200, 300}}, 0)
	s.stores(p, &Batch{Count: 2, Times: []int64{300, 250}}, 3)
	check(-1, 5, -1, 0)
	check(-2, 0, -1, 0)
	check(-4, 0, -1, 0)
	check(-5, -1, -1, -1)
	check(-3, 2, 300, 0) // the first of equals
	check(0, 0, 100, 0)
	check(100, 0, 100, 0)
	check(101, 1, 200, 0)
	check(300, 2, 300, 0)
	check(301, -1, -1, -1)
	out, err := s.b.ListOffsets(s.ctx, []backend.OffsetQuery{
		{Partition: backend.Partition{Topic: backend.TopicID{1}}, Timestamp: -1},
		{Partition: p, Timestamp: -1},
		{Partition: p, Timestamp: -10},
	})
	s.ok(err)
	s.is(out[0].Err, backend.ErrUnknownTopic)
	s.is(out[2].Err, backend.ErrInvalid)
	if out[1].Err != nil || out[1].Offset != 5 {
		s.Fatalf("answer %+v", out[1])
	}
}

// testListTimes compares every look-up over many batches of unordered times
// with what a walk over the records finds.
func testListTimes(s *suite) {
	p := s.partition("t")
	type record struct{ offset, time int64 }
	var records []record
	next := int64(0)
	seed := uint32(7)
	random := func(n int64) int64 {
		seed = seed*1664525 + 1013904223
		return int64(seed>>8) % n
	}
	var batches []backend.Append
	for i := range 1100 { // more than two blocks of an index
		b := &Batch{Count: 1 + int(random(3)), Skip: map[int]bool{}}
		for n := range b.Count {
			b.Times = append(b.Times, int64(i)/4+random(60))
			if b.Skip[n] = random(5) == 0; !b.Skip[n] {
				records = append(records, record{next + int64(n), b.Times[n]})
			}
		}
		next += int64(b.Count)
		batches = append(batches, backend.Append{Partition: p, Batch: b.Bytes(s.T)})
	}
	for len(batches) > 0 {
		n := min(len(batches), 50)
		out, err := s.append(backend.Synced, batches[:n])
		s.ok(err)
		for _, a := range out {
			s.ok(a.Err)
		}
		batches = batches[n:]
	}
	newest := record{-1, -1}
	for _, r := range records {
		if r.time > newest.time {
			newest = r
		}
	}
	if a := s.listed(p, -3); a.Err != nil || a.Offset != newest.offset || a.Timestamp != newest.time {
		s.Fatalf("greatest is %+v, want %+v", a, newest)
	}
	for at := int64(0); at < 345; at++ {
		want := record{-1, -1}
		for _, r := range records {
			if r.time >= at {
				want = r
				break
			}
		}
		if a := s.listed(p, at); a.Err != nil || a.Offset != want.offset || a.Timestamp != want.time {
			s.Fatalf("time %d: %+v, want %+v", at, a, want)
		}
	}
}

func offsetsText(offsets []backend.GroupOffset) string {
	var b strings.Builder
	for _, o := range offsets {
		fmt.Fprintf(&b, "%s-%d=%d/%d/%q/%d/%d ", o.Topic, o.Partition, o.Offset, o.LeaderEpoch, o.Metadata, o.CommitTime, o.ExpireTime)
	}
	return b.String()
}

func (s *suite) wantOffsets(group, want string) {
	s.Helper()
	got, err := s.b.GroupOffsets(s.ctx, group)
	s.ok(err)
	if text := offsetsText(got); text != want {
		s.Fatalf("group %q has %s, want %s", group, text, want)
	}
}

func testGroupOffsets(s *suite) {
	t := s.topic("t", 3)
	s.wantOffsets("g", "")
	s.ok(s.b.CommitOffsets(s.ctx, "g", []backend.GroupOffset{
		{Topic: "t", TopicID: t.ID, Partition: 0, Offset: 5, LeaderEpoch: 0, Metadata: "m", CommitTime: 10, ExpireTime: -1},
		{Topic: "t", TopicID: t.ID, Partition: 2, Offset: 7, LeaderEpoch: -1, CommitTime: 11, ExpireTime: 99},
	}))
	s.wantOffsets("g", `t-0=5/0/"m"/10/-1 t-2=7/-1/""/11/99 `)
	// By name alone, backwards, and for another group.
	s.ok(s.b.CommitOffsets(s.ctx, "g", []backend.GroupOffset{{Topic: "t", Partition: 0, Offset: 3, LeaderEpoch: -1, CommitTime: 12, ExpireTime: -1}}))
	s.ok(s.b.CommitOffsets(s.ctx, "a", []backend.GroupOffset{{Topic: "t", TopicID: t.ID, Partition: 1, Offset: 1, LeaderEpoch: -1, ExpireTime: -1}}))
	s.wantOffsets("g", `t-0=3/-1/""/12/-1 t-2=7/-1/""/11/99 `)
	groups, err := s.b.OffsetGroups(s.ctx)
	s.ok(err)
	if strings.Join(groups, " ") != "a g" {
		s.Fatalf("groups are %v", groups)
	}
	s.ok(s.b.DeleteGroupOffsets(s.ctx, "g", []backend.GroupOffset{{Topic: "t", TopicID: t.ID, Partition: 0}, {Topic: "t", TopicID: t.ID, Partition: 1}}))
	s.wantOffsets("g", `t-2=7/-1/""/11/99 `)
	s.ok(s.b.DeleteGroupOffsets(s.ctx, "g", []backend.GroupOffset{}))
	s.wantOffsets("g", `t-2=7/-1/""/11/99 `)
	s.ok(s.b.DeleteGroupOffsets(s.ctx, "g", nil))
	s.wantOffsets("g", "")
	s.wantOffsets("a", `t-1=1/-1/""/0/-1 `)
	s.ok(s.b.DeleteGroupOffsets(s.ctx, "unknown", nil))
}

func testGroupOffsetsAll(s *suite) {
	t := s.topic("t", 1)
	for _, bad := range []backend.GroupOffset{
		{Topic: "u", Partition: 0},
		{Topic: "t", TopicID: t.ID, Partition: 1},
		{Topic: "t", TopicID: backend.TopicID{3}, Partition: 0},
	} {
		s.is(s.b.CommitOffsets(s.ctx, "g", []backend.GroupOffset{{Topic: "t", TopicID: t.ID, Offset: 1, ExpireTime: -1}, bad}), backend.ErrUnknownTopic)
	}
	s.wantOffsets("g", "")
}
