// Package storetest is the contract of store.Log as a test suite. Every
// implementation runs it; a new one is done when it passes.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"milena/registry/store"
)

// Store says how to open the log under test.
type Store struct {
	// Open returns a log that is empty. The suite closes it.
	Open func(t *testing.T) store.Log
	// Reopen closes nothing and returns the log over the same storage again,
	// as another process would after a crash. Nil if there is no storage.
	Reopen func(t *testing.T, old store.Log) store.Log
}

// Run runs the suite.
func Run(t *testing.T, s Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Store)
	}{
		{"an empty log ends at 0", emptyLog},
		{"entries come back as they were", roundTrip},
		{"a late append conflicts and writes nothing", conflict},
		{"an append is all or nothing", tooLarge},
		{"reading starts anywhere", readFrom},
		{"a long log is read in order", longLog},
		{"of concurrent appends at one position one wins", oneWins},
		{"a cancelled append fails", cancelled},
		{"a closed log refuses", closed},
		{"entries survive without a close", survives},
		{"two openers see each other", twoOpeners},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

func open(t *testing.T, s Store) store.Log {
	t.Helper()
	l := s.Open(t)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func reopen(t *testing.T, s Store, old store.Log) store.Log {
	t.Helper()
	if s.Reopen == nil {
		t.Skip("this log has no storage to open again")
	}
	l := s.Reopen(t, old)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func entry(n int) store.Entry {
	return store.Entry{
		TimestampMillis: int64(1000 + n),
		Key:             fmt.Appendf(nil, `{"k":%d}`, n),
		Value:           fmt.Appendf(nil, `{"v":%d}`, n),
	}
}

func appendAll(t *testing.T, l store.Log, expected int64, entries ...store.Entry) int64 {
	t.Helper()
	end, err := l.Append(t.Context(), expected, entries)
	if err != nil {
		t.Fatalf("append at %d: %v", expected, err)
	}
	if end != expected+int64(len(entries)) {
		t.Fatalf("append of %d at %d ended at %d", len(entries), expected, end)
	}
	return end
}

func readAll(t *testing.T, l store.Log, from int64) []store.Entry {
	t.Helper()
	var got []store.Entry
	for e, err := range l.Read(t.Context(), from) {
		if err != nil {
			t.Fatalf("read from %d: %v", from, err)
		}
		got = append(got, e)
	}
	return got
}

func check(t *testing.T, got []store.Entry, from int64, want ...store.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("read %d entries, want %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.Position != from+int64(i) || g.TimestampMillis != w.TimestampMillis ||
			!bytes.Equal(g.Key, w.Key) || !bytes.Equal(g.Value, w.Value) || (g.Value == nil) != (w.Value == nil) {
			t.Fatalf("entry %d is %+v, want %+v", i, g, w)
		}
	}
}

func emptyLog(t *testing.T, s Store) {
	l := open(t, s)
	check(t, readAll(t, l, 0), 0)
	check(t, readAll(t, l, 7), 0)
	if end := appendAll(t, l, 0); end != 0 {
		t.Fatalf("end is %d, want 0", end)
	}
	if _, err := l.Append(t.Context(), 1, nil); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("append of nothing past the end: %v, want a conflict", err)
	}
}

func roundTrip(t *testing.T, s Store) {
	l := open(t, s)
	want := []store.Entry{
		entry(0),
		{TimestampMillis: -5, Key: []byte("tombstone")},
		{TimestampMillis: 1 << 50, Key: []byte("empty"), Value: []byte{}},
		{Key: []byte("bytes\x00\xff\xf0\x9f\x98\x80"), Value: []byte{0, 1, 2, 0xff}},
	}
	appendAll(t, l, 0, want...)
	check(t, readAll(t, l, 0), 0, want...)
	// What a reader does to its entries must not reach the log.
	for _, e := range readAll(t, l, 0) {
		for i := range e.Key {
			e.Key[i] = 'x'
		}
	}
	check(t, readAll(t, l, 0), 0, want...)
}

func conflict(t *testing.T, s Store) {
	l := open(t, s)
	appendAll(t, l, 0, entry(0), entry(1))
	for _, expected := range []int64{0, 1, 3, -1} {
		if _, err := l.Append(t.Context(), expected, []store.Entry{entry(9)}); !errors.Is(err, store.ErrConflict) {
			t.Fatalf("append at %d: %v, want a conflict", expected, err)
		}
	}
	check(t, readAll(t, l, 0), 0, entry(0), entry(1))
	appendAll(t, l, 2, entry(2))
}

func tooLarge(t *testing.T, s Store) {
	l := open(t, s)
	big := store.Entry{Key: []byte("k"), Value: make([]byte, store.EntryBytesMax)}
	if _, err := l.Append(t.Context(), 0, []store.Entry{entry(0), big}); !errors.Is(err, store.ErrTooLarge) {
		t.Fatalf("append: %v, want too large", err)
	}
	check(t, readAll(t, l, 0), 0)
	big.Value = big.Value[1:]
	appendAll(t, l, 0, big)
}

func readFrom(t *testing.T, s Store) {
	l := open(t, s)
	appendAll(t, l, 0, entry(0), entry(1), entry(2))
	check(t, readAll(t, l, 1), 1, entry(1), entry(2))
	check(t, readAll(t, l, 3), 3)
	for e, err := range l.Read(t.Context(), 0) {
		if err != nil || e.Position != 0 {
			t.Fatalf("first entry %+v, %v", e, err)
		}
		break
	}
	appendAll(t, l, 3, entry(3)) // a reader that stopped early holds nothing
}

func longLog(t *testing.T, s Store) {
	l := open(t, s)
	var want []store.Entry
	for n := range 3000 {
		want = append(want, entry(n))
	}
	for i := 0; i < len(want); i += 750 {
		appendAll(t, l, int64(i), want[i:i+750]...)
	}
	check(t, readAll(t, l, 0), 0, want...)
	check(t, readAll(t, l, 1023), 1023, want[1023:]...)
}

func oneWins(t *testing.T, s Store) {
	l := open(t, s)
	const rounds, writers = 5, 8
	for round := range rounds {
		var wg sync.WaitGroup
		errs := make([]error, writers)
		for w := range writers {
			wg.Go(func() {
				_, errs[w] = l.Append(t.Context(), int64(round), []store.Entry{entry(w)})
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, store.ErrConflict) {
				t.Fatalf("append: %v, want a conflict", err)
			}
		}
		if won != 1 {
			t.Fatalf("%d appends won, want 1", won)
		}
	}
	if got := readAll(t, l, 0); len(got) != rounds {
		t.Fatalf("%d entries, want %d", len(got), rounds)
	}
}

func cancelled(t *testing.T, s Store) {
	l := open(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Append(ctx, 0, []store.Entry{entry(0)}); !errors.Is(err, context.Canceled) {
		t.Fatalf("append: %v, want cancelled", err)
	}
	appendAll(t, l, 0, entry(1))
}

func closed(t *testing.T, s Store) {
	l := open(t, s)
	appendAll(t, l, 0, entry(0))
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	if _, err := l.Append(t.Context(), 1, []store.Entry{entry(1)}); !errors.Is(err, store.ErrClosed) {
		t.Fatalf("append: %v, want closed", err)
	}
	for _, err := range l.Read(t.Context(), 0) {
		if !errors.Is(err, store.ErrClosed) {
			t.Fatalf("read: %v, want closed", err)
		}
	}
}

func survives(t *testing.T, s Store) {
	l := open(t, s)
	appendAll(t, l, 0, entry(0), entry(1))
	again := reopen(t, s, l)
	check(t, readAll(t, again, 0), 0, entry(0), entry(1))
	appendAll(t, again, 2, entry(2))
}

func twoOpeners(t *testing.T, s Store) {
	a := open(t, s)
	b := reopen(t, s, a)
	appendAll(t, a, 0, entry(0))
	if _, err := b.Append(t.Context(), 0, []store.Entry{entry(1)}); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("append: %v, want a conflict", err)
	}
	check(t, readAll(t, b, 0), 0, entry(0))
	appendAll(t, b, 1, entry(1))
	check(t, readAll(t, a, 1), 1, entry(1))
}
