package serde

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"milena/serde/schema"
)

func record(name string) schema.Resolved {
	return schema.Resolved{Type: schema.Avro, Text: `{"type":"record","name":"` + name + `","fields":[{"name":"a","type":"long"}]}`}
}

func newPrograms(t testing.TB, o ProgramsOptions) *Programs {
	t.Helper()
	p, err := NewPrograms(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProgramsAreCompiledOnce(t *testing.T) {
	p := newPrograms(t, ProgramsOptions{})
	s := record("A")
	if _, ok := p.Get(s.Key()); ok {
		t.Error("found in an empty cache")
	}
	var wg sync.WaitGroup
	got := make([]*Compiled, 20)
	for i := range got {
		wg.Go(func() { got[i] = p.Load(s) })
	}
	wg.Wait()
	for _, c := range got {
		if c != got[0] || c.Program == nil || c.Err != nil || c.Key != s.Key() || c.Type != schema.Avro {
			t.Fatalf("%+v", c)
		}
	}
	if c, ok := p.Get(s.Key()); !ok || c != got[0] {
		t.Error("not cached")
	}
	if c, err := p.LoadEncoded(s.Key(), nil); err != nil || c != got[0] {
		t.Errorf("cached and encoded: %v", err)
	}
}

func TestLoadEncodedTrustsNothing(t *testing.T) {
	a, b := record("A"), record("B")
	for name, encoded := range map[string][]byte{"nothing": nil, "garbage": {9, 9}, "another schema": b.AppendBinary(nil)} {
		if _, err := newPrograms(t, ProgramsOptions{}).LoadEncoded(a.Key(), encoded); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	c, err := newPrograms(t, ProgramsOptions{}).LoadEncoded(a.Key(), a.AppendBinary(nil))
	if err != nil || c.Program == nil || string(c.Encoded) != string(a.AppendBinary(nil)) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestSchemasThatDontCompileAreKnown(t *testing.T) {
	p := newPrograms(t, ProgramsOptions{})
	for _, s := range []schema.Resolved{{Type: schema.Avro, Text: "{"}, {Type: "XML", Text: "<a/>"}} {
		c := p.Load(s)
		if c.Program != nil || c.Err == nil || c != p.Load(s) {
			t.Errorf("%v: %+v", s.Type, c)
		}
	}
}

func TestProgramsAreBounded(t *testing.T) {
	p := newPrograms(t, ProgramsOptions{EntriesMax: 3})
	for i := range 10 {
		p.Load(record(fmt.Sprint("A", i)))
	}
	if n := p.lru.Len(); n != 3 {
		t.Errorf("%d entries", n)
	}
	if _, ok := p.Get(record("A9").Key()); !ok {
		t.Error("the newest is gone")
	}
	p = newPrograms(t, ProgramsOptions{TextBytesMax: 1000})
	for i := range 30 {
		p.Load(record(fmt.Sprint("A", i)))
		if p.bytes > 1000 || p.bytes <= 0 {
			t.Fatalf("%d bytes", p.bytes)
		}
	}
	before := p.lru.Len()
	if c := p.Load(record(strings.Repeat("A", 2000))); c.Program == nil || p.lru.Len() != before {
		t.Errorf("%d entries after one that doesn't fit, %v", p.lru.Len(), c.Err)
	}
}

// registry is a Lookup whose answers can be held back.
type registry struct {
	mu      sync.Mutex
	schemas map[int32]schema.Resolved
	err     error
	delay   time.Duration
	asked   int
}

func (r *registry) ByID(ctx context.Context, c string, id int32) (schema.Resolved, error) {
	r.mu.Lock()
	r.asked++
	s, ok := r.schemas[id]
	err, delay := r.err, r.delay
	r.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return s, fmt.Errorf("ask: %w: %w", schema.ErrUnavailable, ctx.Err())
	}
	if err != nil {
		return s, err
	}
	if !ok || c != schema.DefaultContext {
		return s, fmt.Errorf("%s %d: %w", c, id, schema.ErrUnknown)
	}
	return s, nil
}

func (r *registry) ByGUID(ctx context.Context, guid string) (schema.Resolved, error) {
	return r.ByID(ctx, schema.DefaultContext, int32(len(guid)))
}

func (r *registry) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

func newResolver(t testing.TB, r *registry, change func(*ResolverOptions)) *Resolver {
	t.Helper()
	o := ResolverOptions{Lookup: r, Programs: newPrograms(t, ProgramsOptions{})}
	if change != nil {
		change(&o)
	}
	res, err := NewResolver(o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestResolverNeedsItsParts(t *testing.T) {
	if _, err := NewResolver(ResolverOptions{}); err == nil {
		t.Error("a resolver without a registry")
	}
}

func TestResolverAsksOnceWhileTheAnswerHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := &registry{schemas: map[int32]schema.Resolved{7: record("A"), 36: record("G")}, delay: time.Second}
		res := newResolver(t, r, nil)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if c, err := res.ByID(ctx, ".", 7); err != nil || c.Program == nil {
					t.Errorf("%+v, %v", c, err)
				}
			})
		}
		wg.Wait()
		if c, ok := res.CachedID(".", 7); !ok || c.Key != record("A").Key() || r.asked != 1 {
			t.Errorf("cached %v, asked %d times", ok, r.asked)
		}
		if _, ok := res.CachedID(".other", 7); ok {
			t.Error("found in another context")
		}
		if _, err := res.ByID(ctx, ".other", 7); !errors.Is(err, schema.ErrUnknown) {
			t.Errorf("another context: %v", err)
		}
		guid := "00000000-0000-0000-0000-000000000001"
		if _, ok := res.CachedGUID(guid); ok {
			t.Error("GUID cached before it was asked for")
		}
		if c, err := res.ByGUID(ctx, guid); err != nil || c.Key != record("G").Key() {
			t.Errorf("GUID: %v", err)
		}
		if _, ok := res.CachedGUID(guid); !ok {
			t.Error("GUID not cached")
		}
		// The id was freed and is used again.
		r.set(func() { r.schemas[7] = record("B") })
		time.Sleep(6 * time.Minute)
		if _, ok := res.CachedID(".", 7); ok {
			t.Error("cached beyond its time")
		}
		if c, err := res.ByID(ctx, ".", 7); err != nil || c.Key != record("B").Key() {
			t.Errorf("after the time: %v", err)
		}
		// Unreachable, then gone.
		r.set(func() { r.err = schema.ErrUnavailable })
		time.Sleep(6 * time.Minute)
		if c, err := res.ByID(ctx, ".", 7); err != nil || c.Key != record("B").Key() {
			t.Errorf("registry out of reach: %v", err)
		}
		time.Sleep(2 * time.Hour)
		if _, err := res.ByID(ctx, ".", 7); !errors.Is(err, schema.ErrUnavailable) {
			t.Errorf("out of reach for too long: %v", err)
		}
		r.set(func() { r.err = nil; delete(r.schemas, 7) })
		if _, err := res.ByID(ctx, ".", 7); !errors.Is(err, schema.ErrUnknown) {
			t.Errorf("gone: %v", err)
		}
		r.set(func() { r.err = schema.ErrUnavailable })
		if _, err := res.ByID(ctx, ".", 7); !errors.Is(err, schema.ErrUnavailable) {
			t.Errorf("an id that is gone must not come back: %v", err)
		}
	})
}

// TestUnknownIsNeverOlderThanTheQuestion: who joins a look-up that began before
// the schema was registered asks again.
func TestUnknownIsNeverOlderThanTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{schemas: map[int32]schema.Resolved{}, delay: 10 * time.Millisecond}
		res := newResolver(t, r, nil)
		first := make(chan error)
		go func() {
			_, err := res.ByID(context.Background(), ".", 7)
			first <- err
		}()
		synctest.Wait() // the question is on its way
		r.set(func() { r.schemas[7] = record("A") })
		second := make(chan error)
		go func() {
			_, err := res.ByID(context.Background(), ".", 7)
			second <- err
		}()
		if err := <-first; !errors.Is(err, schema.ErrUnknown) {
			t.Errorf("first: %v", err)
		}
		if err := <-second; err != nil {
			t.Errorf("second: %v", err)
		}
	})
}

func TestResolverWaitsNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{schemas: map[int32]schema.Resolved{7: record("A")}, delay: time.Hour}
		res := newResolver(t, r, nil)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := res.ByID(ctx, ".", 7); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if _, err := res.ByID(context.Background(), ".", 7); !errors.Is(err, schema.ErrUnavailable) || time.Since(start) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		// One who gives up doesn't take the others along.
		r.set(func() { r.delay = 5 * time.Second })
		impatient, give := context.WithCancel(context.Background())
		go func() {
			if _, err := res.ByID(impatient, ".", 7); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}()
		synctest.Wait()
		done := make(chan error)
		go func() {
			_, err := res.ByID(context.Background(), ".", 7)
			done <- err
		}()
		synctest.Wait()
		give()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestResolverIsBounded(t *testing.T) {
	r := &registry{schemas: map[int32]schema.Resolved{}}
	res := newResolver(t, r, func(o *ResolverOptions) { o.EntriesMax = 5 })
	for id := range int32(20) {
		r.schemas[id] = record("A")
		if _, err := res.ByID(context.Background(), ".", id); err != nil {
			t.Fatal(err)
		}
	}
	if n := res.lru.Len(); n != 5 {
		t.Errorf("%d entries", n)
	}
}

func TestOtherErrorsAreNotUnknown(t *testing.T) {
	res := newResolver(t, &registry{err: errors.New("broken")}, nil)
	if _, err := res.ByID(context.Background(), ".", 7); !errors.Is(err, schema.ErrUnavailable) || errors.Is(err, schema.ErrUnknown) {
		t.Error(err)
	}
}

// BenchmarkLookup compares a warm look-up of an id with compiling its schema.
func BenchmarkLookup(b *testing.B) {
	r := &registry{schemas: map[int32]schema.Resolved{7: record("A")}}
	res := newResolver(b, r, nil)
	if _, err := res.ByID(context.Background(), ".", 7); err != nil {
		b.Fatal(err)
	}
	b.Run("warm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := res.CachedID(".", 7); !ok {
				b.Fatal("not cached")
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			newPrograms(b, ProgramsOptions{}).Load(record("A"))
		}
	})
}
