package backendtest

import (
	"math"
	"testing"

	"milena/broker/stored"
	"milena/gateway/backend"
)

// span returns the number of offsets that a batch takes.
func span(t *testing.T, b backend.StoredBatch) int64 {
	t.Helper()
	h, err := stored.ParseHeader(b.Bytes)
	if err != nil {
		t.Fatalf("parse batch: %v", err)
	}
	return int64(h.LastOffsetDelta) + 1
}

func (s *suite) duplicates(p backend.Partition, b *Batch, offset int64) {
	s.Helper()
	a := s.append1(p, b)
	s.ok(a.Err)
	if !a.Duplicate || a.BaseOffset != offset {
		s.Fatalf("outcome %+v, want a duplicate of %d", a, offset)
	}
}

func testSequences(s *suite) {
	p := s.partition("t")
	three := Batch{Count: 3}
	s.stores(p, three.By(1, 0, 0), 0)
	s.stores(p, three.By(1, 0, 3), 3)
	s.duplicates(p, three.By(1, 0, 0), 0)
	s.duplicates(p, three.By(1, 0, 3), 3)
	s.refuses(p, three.By(1, 0, 7), backend.ErrOutOfOrderSequence)
	s.refuses(p, three.By(1, 0, 4), backend.ErrOutOfOrderSequence)
	s.refuses(p, (&Batch{Count: 2}).By(1, 0, 3), backend.ErrOutOfOrderSequence)
	// A refused batch leaves the sequence as it was.
	s.stores(p, three.By(1, 0, 6), 6)
	// Nothing is known of other producers: any sequence.
	s.stores(p, three.By(2, 5, 70), 9)
	s.refuses(p, three.By(2, 4, 73), backend.ErrProducerFenced)
	s.refuses(p, three.By(2, 6, 73), backend.ErrOutOfOrderSequence)
	s.stores(p, three.By(2, 6, 0), 12)
	s.refuses(p, three.By(2, 5, 73), backend.ErrProducerFenced)
	s.stores(p, three.By(2, 6, 3), 15)
	// Before the first batch that was ever seen: not known to be stored.
	s.stores(p, three.By(3, 0, 50), 18)
	s.refuses(p, three.By(3, 0, 20), backend.ErrOutOfOrderSequence)
	// Duplicates within one call.
	out, err := s.append(backend.Synced, []backend.Append{
		{Partition: p, Batch: three.By(4, 0, 0).Bytes(s.T)},
		{Partition: p, Batch: three.By(4, 0, 0).Bytes(s.T)},
		{Partition: p, Batch: three.By(4, 0, 3).Bytes(s.T)},
	})
	s.ok(err)
	if out[0].BaseOffset != 21 || !out[1].Duplicate || out[1].BaseOffset != 21 || out[2].BaseOffset != 24 {
		s.Fatalf("outcomes %+v", out)
	}
	// Another partition knows nothing of it.
	s.stores(s.partition("u"), three.By(1, 0, 40), 0)
	// A sequence without an epoch, or an id without a sequence, can't be meant.
	s.refuses(p, three.By(1, -1, 9), backend.ErrInvalid)
	s.refuses(p, three.By(1, 0, -1), backend.ErrInvalid)
}

func testWindow(s *suite) {
	p := s.partition("t")
	two := Batch{Count: 2}
	for i := range int32(8) {
		s.stores(p, two.By(1, 0, 100+2*i), int64(2*i))
	}
	for i := int32(3); i < 8; i++ {
		s.duplicates(p, two.By(1, 0, 100+2*i), int64(2*i))
	}
	for i := range int32(3) {
		s.refuses(p, two.By(1, 0, 100+2*i), backend.ErrStaleDuplicate)
	}
	s.refuses(p, two.By(1, 0, 96), backend.ErrOutOfOrderSequence)
	s.stores(p, two.By(1, 0, 116), 16)
}

func testWrap(s *suite) {
	p := s.partition("t")
	three := Batch{Count: 3}
	s.stores(p, three.By(1, 0, math.MaxInt32-3), 0)
	s.stores(p, three.By(1, 0, math.MaxInt32), 3) // takes 2^31-1, 0, 1
	s.refuses(p, three.By(1, 0, 0), backend.ErrOutOfOrderSequence)
	s.stores(p, three.By(1, 0, 2), 6)
	s.duplicates(p, three.By(1, 0, math.MaxInt32), 3)
	s.duplicates(p, three.By(1, 0, math.MaxInt32-3), 0)
	q := s.partition("u")
	s.stores(q, three.By(1, 0, math.MaxInt32-2), 0)
	s.stores(q, three.By(1, 0, 0), 3)
}
