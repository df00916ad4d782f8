package backendtest

import (
	"fmt"

	"milena/gateway/backend"
)

// enqueue enqueues one batch.
func (s *suite) enqueue(d backend.Durability, p backend.Partition, b *Batch) backend.Pending {
	s.Helper()
	pending, err := s.b.Enqueue(s.ctx, d, []backend.Append{{Partition: p, Batch: b.Bytes(s.T)}})
	s.ok(err)
	return pending
}

// outcome waits for an append of one batch.
func (s *suite) outcome(pending backend.Pending) backend.Appended {
	s.Helper()
	out, err := pending.Wait(s.ctx)
	s.ok(err)
	if len(out) != 1 {
		s.Fatalf("%d outcomes for one batch", len(out))
	}
	return out[0]
}

// testPipelineOrder has one caller append to several partitions without waiting:
// each partition has its batches in the order of the calls, and with an
// idempotent producer none is taken for a gap. Who asks last is answered too.
func testPipelineOrder(s *suite) {
	const partitions, rounds = 3, 60
	t := s.topic("t", partitions)
	var pending []backend.Pending
	for i := range rounds {
		for index := range int32(partitions) {
			d := backend.Synced
			if (i+int(index))%4 == 3 {
				d = backend.Written
			}
			b := (&Batch{Count: 2, Text: fmt.Sprint(i)}).By(7, 0, int32(2*i))
			pending = append(pending, s.enqueue(d, backend.Partition{Topic: t.ID, Index: index}, b))
		}
	}
	for n := len(pending) - 1; n >= 0; n-- {
		a := s.outcome(pending[n])
		s.ok(a.Err)
		if want := int64(2 * (n / partitions)); a.BaseOffset != want || a.Duplicate {
			s.Fatalf("append %d is at %d (duplicate %v), want %d", n, a.BaseOffset, a.Duplicate, want)
		}
	}
	for index := range int32(partitions) {
		p := backend.Partition{Topic: t.ID, Index: index}
		if a := s.listed(p, -1); a.Err != nil || a.Offset != 2*rounds {
			s.Fatalf("latest offset of partition %d is %+v", index, a)
		}
		for i, b := range s.readAll(p) {
			if got, want := values(s.T, b)[0], fmt.Sprintf("%d=%d 0", 2*i, i); got != want {
				s.Fatalf("partition %d has %q, want %q", index, got, want)
			}
		}
	}
}

// testPipelineRefused refuses what comes behind a refused batch, though it was
// already on its way, and nothing of it takes an offset; other producers,
// other partitions and a producer that begins anew are not touched.
func testPipelineRefused(s *suite) {
	p, q := s.partition("t"), s.partition("u")
	three := Batch{Count: 3}
	s.stores(p, three.By(1, 0, 0), 0)
	late := []backend.Pending{
		s.enqueue(backend.Synced, p, three.By(1, 0, 6)), // 3 is missing
		s.enqueue(backend.Written, p, three.By(1, 0, 9)),
		s.enqueue(backend.Synced, p, three.By(1, 0, 12)),
	}
	others := []backend.Pending{
		s.enqueue(backend.Synced, p, three.By(2, 0, 0)),
		s.enqueue(backend.Synced, q, three.By(1, 0, 0)),
		s.enqueue(backend.Synced, q, three.By(1, 0, 3)),
		s.enqueue(backend.Synced, p, three.By(1, 0, 3)),
		s.enqueue(backend.Synced, p, three.By(1, 0, 6)),
		s.enqueue(backend.Synced, p, three.By(1, 1, 0)), // a new epoch
		s.enqueue(backend.Synced, p, three.By(1, 1, 3)),
	}
	for i, pending := range late {
		a := s.outcome(pending)
		s.is(a.Err, backend.ErrOutOfOrderSequence)
		if a.BaseOffset != -1 {
			s.Fatalf("refused batch %d has offset %d", i, a.BaseOffset)
		}
	}
	for i, want := range []int64{3, 0, 3, 6, 9, 12, 15} {
		a := s.outcome(others[i])
		s.ok(a.Err)
		if a.BaseOffset != want {
			s.Fatalf("batch %d is at %d, want %d", i, a.BaseOffset, want)
		}
	}
}

// testPipelineForgotten waits for the last append only: the others are stored
// all the same.
func testPipelineForgotten(s *suite) {
	p := s.partition("t")
	var last backend.Pending
	for range 20 {
		last = s.enqueue(backend.Synced, p, &Batch{})
	}
	if a := s.outcome(last); a.Err != nil || a.BaseOffset != 19 {
		s.Fatalf("outcome %+v, want offset 19", a)
	}
	if n := len(s.readAll(p)); n != 20 {
		s.Fatalf("%d batches, want 20", n)
	}
}
