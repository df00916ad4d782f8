package backendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"milena/gateway/backend"
)

func testReadWhole(s *suite) {
	p := s.partition("t")
	sent := [][]byte{}
	for i := range 3 {
		b := &Batch{Count: 4, Text: fmt.Sprint("batch ", i)}
		s.stores(p, b, int64(4*i))
		sent = append(sent, b.Bytes(s.T))
	}
	for offset := range int64(12) {
		r := s.read1(p, offset)
		s.ok(r.Err)
		first := offset / 4
		if len(r.Batches) != 3-int(first) || r.HighWatermark != 12 || r.LastStableOffset != 12 || r.LogStart != 0 {
			s.Fatalf("read at %d: %d batches, %+v", offset, len(r.Batches), r)
		}
		for i, b := range r.Batches {
			if n := first + int64(i); b.BaseOffset != 4*n || !slices.Equal(b.Bytes, sent[n]) || b.LeaderEpoch != 0 {
				s.Fatalf("read at %d: batch %d is at %d, epoch %d", offset, i, b.BaseOffset, b.LeaderEpoch)
			}
			if age := time.Now().UnixMilli() - b.AppendTime; age < 0 || age > time.Hour.Milliseconds() {
				s.Fatalf("append time %d", b.AppendTime)
			}
		}
	}
}

func testReadSizes(s *suite) {
	t := s.topic("t", 3)
	part := func(i int32) backend.Partition { return backend.Partition{Topic: t.ID, Index: i} }
	for i := range int32(2) {
		for range 5 {
			s.append1(part(i), &Batch{Size: 100})
		}
	}
	read := func(partitionMax, total int32, order ...int32) string {
		r := backend.Read{BytesMax: total}
		for _, i := range order {
			r.Partitions = append(r.Partitions, backend.ReadPartition{Partition: part(i), BytesMax: partitionMax, LeaderEpoch: -1})
		}
		out := ""
		for _, res := range s.read(r) {
			s.ok(res.Err)
			out += fmt.Sprint(len(res.Batches), " ")
		}
		return out
	}
	for _, c := range []struct {
		partitionMax, total int32
		order               []int32
		want                string
	}{
		{1000, 1000, []int32{0, 1}, "5 5 "},
		{300, 1000, []int32{0, 1}, "3 3 "},
		{350, 1000, []int32{0, 1}, "3 3 "},
		{1000, 700, []int32{0, 1}, "5 2 "},
		{1000, 700, []int32{1, 0}, "5 2 "},
		// The first batch of all is whole, whatever the limits (KIP-74).
		{0, 0, []int32{0, 1}, "1 0 "},
		{50, 1000, []int32{0, 1}, "1 0 "},
		{50, 1000, []int32{2, 1}, "0 1 "},
		{1000, 50, []int32{2, 0, 1}, "0 1 0 "},
		{100, 1000, []int32{0, 1}, "1 1 "},
	} {
		if got := read(c.partitionMax, c.total, c.order...); got != c.want {
			s.Errorf("limits %d and %d, order %v: %s batches, want %s", c.partitionMax, c.total, c.order, got, c.want)
		}
	}
}

func testReadReserves(s *suite) {
	p := s.partition("t")
	var asked []int64
	var refusal error
	r := backend.Read{
		Partitions: []backend.ReadPartition{{Partition: p, BytesMax: 1 << 20, LeaderEpoch: -1}}, BytesMax: 1 << 20,
		Reserve: func(_ context.Context, bytes int64) error { asked = append(asked, bytes); return refusal },
	}
	if s.read(r); len(asked) != 0 {
		s.Fatalf("%v bytes asked for where there are none", asked)
	}
	s.append1(p, &Batch{Size: 100})
	s.append1(p, &Batch{Size: 300})
	want := int64(400)
	for _, b := range s.read(r)[0].Batches {
		want += int64(len(b.Bytes))
	}
	if len(asked) != 1 || asked[0] != want {
		s.Fatalf("%v bytes asked for, want %d once", asked, want)
	}
	refusal = errors.New("no memory")
	if _, err := s.b.Read(s.ctx, r); !errors.Is(err, refusal) {
		s.Fatalf("a refused read: %v", err)
	}
	refusal = nil
	if got := s.read(r)[0]; len(got.Batches) != 2 {
		s.Fatalf("the next read has %d batches", len(got.Batches))
	}
}

func testReadEnds(s *suite) {
	p := s.partition("t")
	s.stores(p, &Batch{Count: 2}, 0)
	if r := s.read1(p, 2); r.Err != nil || len(r.Batches) != 0 || r.HighWatermark != 2 {
		s.Fatalf("read at the end is %+v", r)
	}
	for _, offset := range []int64{-1, 3, 1 << 40} {
		r := s.read1(p, offset)
		s.is(r.Err, backend.ErrOffsetOutOfRange)
		if len(r.Batches) != 0 || r.HighWatermark != -1 || r.LastStableOffset != -1 || r.LogStart != -1 {
			s.Fatalf("read out of range is %+v", r)
		}
	}
	s.is(s.read1(backend.Partition{Topic: p.Topic, Index: 1}, 0).Err, backend.ErrUnknownTopic)
	// One partition's error is not another's, and ends the wait.
	began := time.Now()
	out := s.read(backend.Read{
		Partitions: []backend.ReadPartition{
			{Partition: backend.Partition{Topic: backend.TopicID{7}}, BytesMax: 1000, LeaderEpoch: -1},
			{Partition: p, BytesMax: 1000, LeaderEpoch: -1},
		},
		BytesMin: 1 << 20, BytesMax: 1 << 20, MaxWait: 10 * soon,
	})
	s.is(out[0].Err, backend.ErrUnknownTopic)
	if out[1].Err != nil || len(out[1].Batches) != 1 || time.Since(began) > soon {
		s.Fatalf("the other partition has %+v after %v", out[1], time.Since(began))
	}
}

func testReadHoles(s *suite) {
	p := s.partition("t")
	s.stores(p, &Batch{Count: 3, Skip: map[int]bool{0: true, 2: true}}, 0)
	s.stores(p, &Batch{SpanMax: 4}, 3) // one record, five offsets
	s.stores(p, &Batch{Count: 2, Skip: map[int]bool{0: true, 1: true}}, 8)
	s.stores(p, &Batch{}, 10)
	for offset, want := range map[int64]string{0: "0 3 8 10 ", 2: "0 3 8 10 ", 5: "3 8 10 ", 7: "3 8 10 ", 9: "8 10 ", 10: "10 ", 11: ""} {
		if r := s.read1(p, offset); r.Err != nil || bases(r) != want || r.HighWatermark != 11 {
			s.Errorf("read at %d: %q %+v, want %q", offset, bases(r), r.Err, want)
		}
	}
}

func testReadWaits(s *suite) {
	t := s.topic("t", 2)
	p := backend.Partition{Topic: t.ID, Index: 1}
	r := backend.Read{
		Partitions: []backend.ReadPartition{
			{Partition: backend.Partition{Topic: t.ID}, BytesMax: 1000, LeaderEpoch: -1},
			{Partition: p, BytesMax: 1000, LeaderEpoch: -1},
		},
		BytesMin: 250, BytesMax: 1000, MaxWait: 60 * time.Millisecond,
	}
	// Not enough: the time passes, and what is there is returned.
	s.stores(p, &Batch{Size: 100}, 0)
	began := time.Now()
	out := s.read(r)
	if waited := time.Since(began); waited < r.MaxWait || len(out[1].Batches) != 1 {
		s.Fatalf("%d batches after %v", len(out[1].Batches), waited)
	}
	// Enough comes while it waits.
	r.MaxWait = 10 * soon
	type answer struct {
		out []backend.ReadResult
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		out, err := s.b.Read(s.ctx, r)
		answers <- answer{out, err}
	}()
	for i := range int64(2) {
		select {
		case a := <-answers:
			s.Fatalf("answered with %+v, %v before there was enough", a.out, a.err)
		case <-time.After(20 * time.Millisecond):
		}
		s.stores(p, &Batch{Size: 100}, 1+i)
	}
	select {
	case a := <-answers:
		s.ok(a.err)
		if bases(a.out[1]) != "0 1 2 " {
			s.Fatalf("got batches %q", bases(a.out[1]))
		}
	case <-time.After(soon):
		s.Fatal("no answer")
	}
	// A topic that is deleted ends the wait for it.
	r.Partitions[1].Offset = 3
	go func() {
		out, err := s.b.Read(s.ctx, r)
		answers <- answer{out, err}
	}()
	time.Sleep(10 * time.Millisecond) // so that it waits; either way the answer is the same
	s.ok(s.b.DeleteTopic(s.ctx, t.ID))
	select {
	case a := <-answers:
		s.ok(a.err)
		s.is(a.out[0].Err, backend.ErrUnknownTopic)
	case <-time.After(soon):
		s.Fatal("no answer after the topic was deleted")
	}
}

func testReadCancel(s *suite) {
	p := s.partition("t")
	ctx, cancel := context.WithTimeout(s.ctx, 30*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.b.Read(ctx, backend.Read{
		Partitions: []backend.ReadPartition{{Partition: p, BytesMax: 1000, LeaderEpoch: -1}},
		BytesMin:   1, BytesMax: 1000, MaxWait: 10 * soon,
	})
	s.is(err, context.DeadlineExceeded)
	if time.Since(began) > soon {
		s.Fatal("cancelled late")
	}
}

// testTransactions holds the data side of transactions: what read_committed
// sees. Brokers without it may refuse transactional batches with ErrInvalid.
func testTransactions(s *suite) {
	p := s.partition("t")
	data := Batch{Count: 2, Transactional: true}
	s.stores(p, &Batch{}, 0)
	if a := s.append1(p, data.By(1, 0, 0)); a.Err != nil {
		s.is(a.Err, backend.ErrInvalid)
		s.Skip("no transactions here")
	}
	s.stores(p, &Batch{}, 3)
	committed := func(offset int64) backend.ReadResult {
		return s.read(backend.Read{
			Partitions: []backend.ReadPartition{{Partition: p, Offset: offset, BytesMax: 1 << 20, LeaderEpoch: -1}},
			BytesMax:   1 << 20, Isolation: backend.ReadCommitted,
		})[0]
	}
	if r := committed(0); bases(r) != "0 " || r.HighWatermark != 4 || r.LastStableOffset != 1 {
		s.Skipf("no last stable offset here: %q %+v", bases(r), r)
	}
	if r := s.read1(p, 0); bases(r) != "0 1 3 " {
		s.Fatalf("uncommitted read has %q", bases(r))
	}
	end := func(producer int64, commit bool) {
		out, err := s.append(backend.Synced, []backend.Append{{Partition: p, Batch: marker(s.T, producer, 0, commit)}})
		s.ok(err)
		s.ok(out[0].Err)
	}
	end(1, false) // 4
	r := committed(0)
	if bases(r) != "0 1 3 4 " || r.LastStableOffset != 5 || len(r.Aborted) != 1 || r.Aborted[0] != (backend.AbortedTransaction{ProducerID: 1, FirstOffset: 1}) {
		s.Fatalf("after the abort: %q %+v", bases(r), r)
	}
	s.stores(p, data.By(2, 0, 0), 5)
	s.stores(p, data.By(1, 0, 2), 7)
	end(1, true) // 9
	if r := committed(0); r.LastStableOffset != 5 || len(r.Aborted) != 1 {
		s.Fatalf("with one open: %+v", r)
	}
	end(2, true) // 10
	if r := committed(5); bases(r) != "5 7 9 10 " || r.LastStableOffset != 11 || len(r.Aborted) != 0 {
		s.Fatalf("after the commits: %q %+v", bases(r), r)
	}
}
