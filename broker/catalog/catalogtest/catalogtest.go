// Package catalogtest is the contract of catalog.Store as tests, which every
// implementation runs. It is imported by tests only and has no state.
package catalogtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"milena/broker/catalog"
)

// Fixture makes the store of one test.
type Fixture struct {
	// Open opens the store, an empty one at first, later the same again.
	Open func(t *testing.T) catalog.Store
}

// Run runs the contract; fixture is called once for each test.
func Run(t *testing.T, fixture func(t *testing.T) Fixture) {
	tests := []struct {
		name string
		run  func(t *testing.T, s catalog.Store, f Fixture)
	}{
		{"save and load", testSave},
		{"refusals", testRefusals},
		{"order", testOrder},
		{"failing callback", testCallback},
		{"random history", testHistory},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := fixture(t)
			s := f.Open(t)
			test.run(t, s, f)
		})
	}
}

func row(section, key, value string) catalog.Row {
	return catalog.Row{Section: section, Key: []byte(key), Value: []byte(value)}
}

func save(t *testing.T, s catalog.Store, c catalog.Checkpoint) {
	t.Helper()
	if err := s.Save(context.Background(), c); err != nil {
		t.Fatalf("save at %d: %v", c.Position, err)
	}
}

// expect loads and compares with rows, which are in order.
func expect(t *testing.T, s catalog.Store, position int64, rows ...catalog.Row) {
	t.Helper()
	i := 0
	got, err := s.Load(context.Background(), func(r catalog.Row) error {
		if i == len(rows) {
			return fmt.Errorf("more than %d rows: %v", len(rows), r)
		}
		w := rows[i]
		if r.Section != w.Section || !bytes.Equal(r.Key, w.Key) || !bytes.Equal(r.Value, w.Value) || r.Delete {
			return fmt.Errorf("row %d is %v, want %v", i, r, w)
		}
		i++
		return nil
	})
	if err != nil || got != position || i != len(rows) {
		t.Fatalf("loaded %d of %d rows at %d (want %d): %v", i, len(rows), got, position, err)
	}
}

func testSave(t *testing.T, s catalog.Store, f Fixture) {
	if _, err := s.Load(context.Background(), func(catalog.Row) error { return nil }); !errors.Is(err, catalog.ErrNone) {
		t.Fatalf("load of nothing: %v", err)
	}
	save(t, s, catalog.Checkpoint{Full: true})
	expect(t, s, 0)
	save(t, s, catalog.Checkpoint{Position: 100, Base: 0, Rows: []catalog.Row{row("b", "1", "x"), row("a", "", ""), row("b", "1", "y")}})
	expect(t, s, 100, row("a", "", ""), row("b", "1", "y"))
	save(t, s, catalog.Checkpoint{Position: 200, Base: 100, Rows: []catalog.Row{
		{Section: "a", Delete: true}, {Section: "never", Delete: true}, row("b", "2", "z"),
	}})
	expect(t, s, 200, row("b", "1", "y"), row("b", "2", "z"))
	save(t, s, catalog.Checkpoint{Position: 200, Base: 200})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = f.Open(t)
	expect(t, s, 200, row("b", "1", "y"), row("b", "2", "z"))
	save(t, s, catalog.Checkpoint{Position: 300, Base: 200, Rows: []catalog.Row{row("b", "2", "new")}})
	expect(t, s, 300, row("b", "1", "y"), row("b", "2", "new"))
	save(t, s, catalog.Checkpoint{Position: 50, Full: true, Rows: []catalog.Row{row("c", "3", "w"), row("b", "1", "y")}})
	expect(t, s, 50, row("b", "1", "y"), row("c", "3", "w"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func testRefusals(t *testing.T, s catalog.Store, _ Fixture) {
	defer s.Close()
	ctx := context.Background()
	if err := s.Save(ctx, catalog.Checkpoint{Position: 1}); !errors.Is(err, catalog.ErrBase) {
		t.Errorf("changes to nothing: %v", err)
	}
	save(t, s, catalog.Checkpoint{Position: 10, Full: true, Rows: []catalog.Row{row("a", "k", "v")}})
	long := string(make([]byte, catalog.SectionBytesMax+1))
	cases := []struct {
		name string
		c    catalog.Checkpoint
		want error
	}{
		{"base before", catalog.Checkpoint{Position: 20, Base: 9}, catalog.ErrBase},
		{"base after", catalog.Checkpoint{Position: 20, Base: 11}, catalog.ErrBase},
		{"backward", catalog.Checkpoint{Position: 9, Base: 10}, catalog.ErrInvalid},
		{"negative", catalog.Checkpoint{Position: -1, Full: true}, catalog.ErrInvalid},
		{"no section", catalog.Checkpoint{Position: 20, Base: 10, Rows: []catalog.Row{row("a", "k", "changed"), {}}}, catalog.ErrInvalid},
		{"long section", catalog.Checkpoint{Position: 20, Base: 10, Rows: []catalog.Row{row(long, "", "")}}, catalog.ErrInvalid},
		{"long key", catalog.Checkpoint{Position: 20, Base: 10, Rows: []catalog.Row{{Section: "a", Key: make([]byte, catalog.KeyBytesMax+1)}}}, catalog.ErrInvalid},
	}
	for _, c := range cases {
		if err := s.Save(ctx, c.c); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Save(cancelled, catalog.Checkpoint{Position: 20, Base: 10, Rows: []catalog.Row{row("a", "k", "changed")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	expect(t, s, 10, row("a", "k", "v"))
}

func testOrder(t *testing.T, s catalog.Store, _ Fixture) {
	defer s.Close()
	want := []catalog.Row{
		row("A", "", "1"), row("A", "\x00", "2"), row("A", "\x00\x00", "3"), row("A", "a", "4"), row("A", "\x80", "5"), row("A", "\xff", "6"),
		row("a", "x", "7"), row("aa", "", "8"),
	}
	shuffled := slices.Clone(want)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	save(t, s, catalog.Checkpoint{Full: true, Rows: shuffled})
	expect(t, s, 0, want...)
}

func testCallback(t *testing.T, s catalog.Store, _ Fixture) {
	defer s.Close()
	save(t, s, catalog.Checkpoint{Full: true, Rows: []catalog.Row{row("a", "", ""), row("b", "", "")}})
	stop := errors.New("stop")
	if _, err := s.Load(context.Background(), func(catalog.Row) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("callback's error: %v", err)
	}
	save(t, s, catalog.Checkpoint{Position: 1, Rows: []catalog.Row{row("c", "", "")}})
	expect(t, s, 1, row("a", "", ""), row("b", "", ""), row("c", "", ""))
}

// testHistory compares with a map.
func testHistory(t *testing.T, s catalog.Store, f Fixture) {
	r := rand.New(rand.NewPCG(2, 2))
	state := map[[2]string]string{}
	position := int64(-1)
	for range 60 {
		c := catalog.Checkpoint{Position: max(position, 0) + int64(r.IntN(1000)), Base: position, Full: position < 0 || r.IntN(10) == 0}
		if c.Full {
			clear(state)
		}
		for range r.IntN(40) {
			n := [2]string{fmt.Sprint("section ", r.IntN(3)), fmt.Sprint(r.IntN(60))}
			v := fmt.Sprint("value ", r.IntN(4))
			change := row(n[0], n[1], v)
			if change.Delete = r.IntN(4) == 0; change.Delete {
				delete(state, n)
			} else {
				state[n] = v
			}
			c.Rows = append(c.Rows, change)
		}
		save(t, s, c)
		position = c.Position
		if r.IntN(10) == 0 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = f.Open(t)
		}
		var want []catalog.Row
		for n, v := range state {
			want = append(want, row(n[0], n[1], v))
		}
		slices.SortFunc(want, func(a, b catalog.Row) int {
			return cmp.Or(cmp.Compare(a.Section, b.Section), bytes.Compare(a.Key, b.Key))
		})
		expect(t, s, position, want...)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
