// Package journaltest is the contract of journal.Journal as tests. Every
// implementation runs them; what only one of them can do (crashes, damaged
// files) is tested beside it.
//
// It is imported by tests only and has no state.
package journaltest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"milena/broker/journal"
)

// EntryBytesMax is the limit of chunk plus commit that journals under test
// must have.
const EntryBytesMax = 64 << 10

// Fixture makes journals for one test.
type Fixture struct {
	// Open opens the journal of this test: an empty one at first, later the
	// same again.
	Open func(t *testing.T) journal.Journal
	// Forgets: what was appended doesn't survive Close.
	Forgets bool
}

// Run runs the contract; fixture is called once for each test.
func Run(t *testing.T, fixture func(t *testing.T) Fixture) {
	tests := []struct {
		name string
		run  func(t *testing.T, f Fixture)
	}{
		{"append and replay", testReplay},
		{"read chunk", testReadChunk},
		{"limits", testLimits},
		{"trim", testTrim},
		{"reopen", testReopen},
		{"close", testClose},
		{"concurrent readers", testConcurrent},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, fixture(t)) })
	}
}

// Entry returns the entry number i of seed, of a few bytes up to sizeMax.
func Entry(seed uint64, i, sizeMax int) journal.Entry {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	chunk := make([]byte, r.IntN(sizeMax+1))
	for k := 0; k < len(chunk); k += 8 {
		var b [8]byte
		binary.NativeEndian.PutUint64(b[:], r.Uint64())
		copy(chunk[k:], b[:])
	}
	if r.IntN(4) == 0 {
		chunk = nil
	}
	return journal.Entry{Chunk: chunk, Commit: fmt.Appendf(nil, "commit %d of %d", i, seed)}
}

type placed struct {
	position journal.Position
	journal.Entry
}

// fill appends n entries in groups and returns them with their positions.
func fill(t *testing.T, j journal.Journal, seed uint64, n, sizeMax int) []placed {
	t.Helper()
	var all []placed
	for len(all) < n {
		var group []journal.Entry
		for i := range min(1+len(all)%4, n-len(all)) {
			group = append(group, Entry(seed, len(all)+i, sizeMax))
		}
		end := j.End()
		positions, err := j.Append(group)
		if err != nil {
			t.Fatal(err)
		}
		if len(positions) != len(group) || positions[0] < end {
			t.Fatalf("positions %v of %d entries appended at %d", positions, len(group), end)
		}
		for i, p := range positions {
			all = append(all, placed{p, group[i]})
		}
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	return all
}

// expect replays from from and compares.
func expect(t *testing.T, j journal.Journal, from journal.Position, want []placed) {
	t.Helper()
	i := 0
	err := j.Replay(context.Background(), from, func(p journal.Position, e journal.Entry) error {
		if i >= len(want) {
			return fmt.Errorf("more than %d entries", len(want))
		}
		if p != want[i].position || !bytes.Equal(e.Chunk, want[i].Chunk) || !bytes.Equal(e.Commit, want[i].Commit) {
			return fmt.Errorf("entry %d at %d is not the one appended at %d", i, p, want[i].position)
		}
		i++
		return nil
	})
	if err != nil || i != len(want) {
		t.Fatalf("replay from %d: %d of %d entries, %v", from, i, len(want), err)
	}
}

func testReplay(t *testing.T, f Fixture) {
	j := f.Open(t)
	defer j.Close()
	if j.Start() != j.End() {
		t.Fatalf("new journal from %d to %d", j.Start(), j.End())
	}
	expect(t, j, j.Start(), nil)
	if p, err := j.Append(nil); err != nil || len(p) != 0 {
		t.Fatalf("append of nothing: %v, %v", p, err)
	}
	all := fill(t, j, 1, 200, 600)
	for i := 1; i < len(all); i++ {
		if all[i].position <= all[i-1].position {
			t.Fatalf("positions %d, %d", all[i-1].position, all[i].position)
		}
	}
	if j.End() <= all[len(all)-1].position || j.Start() != all[0].position {
		t.Fatalf("from %d to %d", j.Start(), j.End())
	}
	for _, i := range []int{0, 1, 57, 199} {
		expect(t, j, all[i].position, all[i:])
	}
	expect(t, j, j.End(), nil)
	stop := errors.New("stop")
	if err := j.Replay(context.Background(), j.Start(), func(journal.Position, journal.Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("callback's error: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := j.Replay(ctx, j.Start(), func(journal.Position, journal.Entry) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	nothing := func(journal.Position, journal.Entry) error { return nil }
	for _, p := range []journal.Position{all[3].position + 1, j.End() + 8} {
		if err := j.Replay(context.Background(), p, nothing); !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("replay from %d, where no entry is: %v", p, err)
		}
	}
}

func testReadChunk(t *testing.T, f Fixture) {
	j := f.Open(t)
	defer j.Close()
	all := fill(t, j, 2, 100, 600)
	for _, e := range all {
		for _, r := range [][2]int{{0, len(e.Chunk)}, {len(e.Chunk) / 3, len(e.Chunk) / 2}, {len(e.Chunk), 0}} {
			got, err := j.ReadChunk(e.position, r[0], r[1], []byte("before "))
			if err != nil || !bytes.Equal(got, append([]byte("before "), e.Chunk[r[0]:r[0]+r[1]]...)) {
				t.Fatalf("chunk at %d, %v: %q, %v", e.position, r, got, err)
			}
		}
	}
	last := all[len(all)-1].position
	for _, bad := range []struct {
		p           journal.Position
		off, length int
	}{{j.End() + 8, 0, 1}, {j.End(), 0, 1}, {last, 0, 1 << 20}, {last, -1, 1}, {last, 0, -1}} {
		got, err := j.ReadChunk(bad.p, bad.off, bad.length, []byte("x"))
		if !errors.Is(err, journal.ErrCorrupt) || string(got) != "x" {
			t.Errorf("read %+v: %q, %v", bad, got, err)
		}
	}
}

func testLimits(t *testing.T, f Fixture) {
	j := f.Open(t)
	defer j.Close()
	largest := journal.Entry{Chunk: make([]byte, EntryBytesMax-1), Commit: []byte{1}}
	p, err := j.Append([]journal.Entry{largest})
	if err != nil {
		t.Fatal(err)
	}
	end := j.End()
	small := journal.Entry{Commit: []byte{2}}
	if _, err := j.Append([]journal.Entry{small, {Chunk: largest.Chunk, Commit: []byte{1, 2}}}); !errors.Is(err, journal.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := j.Append([]journal.Entry{small, {Chunk: []byte{1}}}); err == nil {
		t.Error("an entry without commit record was appended")
	}
	if j.End() != end {
		t.Errorf("refused appends moved the end from %d to %d", end, j.End())
	}
	expect(t, j, p[0], []placed{{p[0], largest}})
}

func testTrim(t *testing.T, f Fixture) {
	j := f.Open(t)
	defer j.Close()
	all := fill(t, j, 3, 300, 600)
	start := j.Start()
	if err := j.Trim(all[150].position); err != nil {
		t.Fatal(err)
	}
	if j.Start() <= start || j.Start() > all[150].position {
		t.Fatalf("trimmed before %d: start %d, was %d", all[150].position, j.Start(), start)
	}
	expect(t, j, all[150].position, all[150:])
	nothing := func(journal.Position, journal.Entry) error { return nil }
	if err := j.Replay(context.Background(), start, nothing); !errors.Is(err, journal.ErrTrimmed) {
		t.Errorf("replay of what is trimmed: %v", err)
	}
	if _, err := j.ReadChunk(start, 0, 0, nil); !errors.Is(err, journal.ErrTrimmed) {
		t.Errorf("read of what is trimmed: %v", err)
	}
	end := j.End()
	for _, p := range []journal.Position{0, j.End()} {
		if err := j.Trim(p); err != nil {
			t.Fatal(err)
		}
	}
	if j.End() != end || j.Start() > end {
		t.Fatalf("trimming moved the end from %d to %d", end, j.End())
	}
	more := fill(t, j, 4, 50, 600)
	if more[0].position < end {
		t.Fatalf("position %d was used before", more[0].position)
	}
	expect(t, j, more[0].position, more)
}

func testReopen(t *testing.T, f Fixture) {
	if f.Forgets {
		t.Skip("this journal forgets")
	}
	var all []placed
	for round := range 5 {
		j := f.Open(t)
		if len(all) > 0 {
			expect(t, j, all[0].position, all)
		}
		end := j.End()
		all = append(all, fill(t, j, uint64(round), 40, 600)...)
		if j.End() <= end {
			t.Fatal("end didn't move")
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	j := f.Open(t)
	if err := j.Trim(all[100].position); err != nil {
		t.Fatal(err)
	}
	start, end := j.Start(), j.End()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = f.Open(t)
	defer j.Close()
	if j.Start() != start || j.End() != end {
		t.Fatalf("from %d to %d, was from %d to %d", j.Start(), j.End(), start, end)
	}
	expect(t, j, all[100].position, all[100:])
}

func testClose(t *testing.T, f Fixture) {
	j := f.Open(t)
	all := fill(t, j, 5, 10, 100)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := j.Append([]journal.Entry{{Commit: []byte{1}}}); !errors.Is(err, journal.ErrStopped) {
		t.Errorf("append: %v", err)
	}
	if err := j.Sync(); !errors.Is(err, journal.ErrStopped) {
		t.Errorf("sync: %v", err)
	}
	if _, err := j.ReadChunk(all[0].position, 0, 0, nil); !errors.Is(err, journal.ErrStopped) {
		t.Errorf("read: %v", err)
	}
}

// testConcurrent appends and trims while others read.
func testConcurrent(t *testing.T, f Fixture) {
	j := f.Open(t)
	defer j.Close()
	chunk := bytes.Repeat([]byte("0123456789"), 50)
	positions := make(chan journal.Position, 16)
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			var buffer []byte
			for p := range positions {
				var err error
				buffer, err = j.ReadChunk(p, 10, 400, buffer[:0])
				if errors.Is(err, journal.ErrTrimmed) {
					continue
				}
				if err != nil || !bytes.Equal(buffer, chunk[:400]) {
					t.Errorf("chunk at %d: %q, %v", p, buffer, err)
				}
			}
		})
	}
	readers.Go(func() {
		for range 10 {
			err := j.Replay(context.Background(), j.Start(), func(_ journal.Position, e journal.Entry) error {
				if !bytes.Equal(e.Chunk, chunk) {
					return errors.New("another chunk")
				}
				return nil
			})
			if err != nil && !errors.Is(err, journal.ErrTrimmed) {
				t.Errorf("replay: %v", err)
			}
		}
	})
	for i := range 400 {
		p, err := j.Append([]journal.Entry{{Chunk: chunk, Commit: []byte{1}}})
		if err == nil {
			err = j.Sync()
		}
		if err == nil && i%50 == 49 {
			err = j.Trim(p[0] - 5000)
		}
		if err != nil {
			t.Error(err)
			break
		}
		positions <- p[0]
	}
	close(positions)
	readers.Wait()
}
