package registry_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/store"
	"milena/registry/store/memory"
	"milena/registry/store/sqlite"
)

// longSubject returns a log with a subject of n compatible versions that new
// ones are compared with, all of them.
func longSubject(t testing.TB, n int) store.Log {
	t.Helper()
	log := memory.New()
	records := []*store.Record{{Kind: store.ConfigKind, Subject: "long", Config: &store.Config{Subject: "long", CompatibilityLevel: "FULL_TRANSITIVE"}}}
	for i := range n {
		records = append(records, &store.Record{Kind: store.SchemaKind, Subject: "long", Version: i + 1, Schema: &store.Schema{
			Subject: "long", Version: i + 1, ID: i + 1, Type: "AVRO", Text: record("R", "a:int", fmt.Sprintf("b%d:int=0", i)),
		}})
	}
	entries := make([]store.Entry, len(records))
	for i, r := range records {
		var err error
		if entries[i], err = store.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := log.Append(t.Context(), 0, entries); err != nil {
		t.Fatal(err)
	}
	return log
}

// TestLongSubject registers into a subject of 2,000 versions: the older ones
// are parsed once, not for each new one.
func TestLongSubject(t *testing.T) {
	const versions = 2_000
	var parsed atomic.Int64
	r := open(t, registry.Options{Log: longSubject(t, versions), Observer: registry.Observer{
		Parsed: func(cached bool) {
			if !cached {
				parsed.Add(1)
			}
		},
	}})
	for i := range 5 {
		before := parsed.Load()
		a := register(t, r, "long", record("R", "a:int", fmt.Sprintf("c%d:int=0", i)))
		if a.Version != versions+i+1 {
			t.Errorf("version %d, want %d", a.Version, versions+i+1)
		}
		n := parsed.Load() - before
		if i == 0 && n > versions+2 || i > 0 && n > 2 {
			t.Errorf("registration %d parsed %d schemas", i, n)
		}
	}
	before := parsed.Load()
	register(t, r, "long", record("R", "a:int", "b7:int=0")) // known
	if n := parsed.Load() - before; n > 1 {
		t.Errorf("a known schema made %d be parsed", n)
	}
}

// TestLongSubjectBeyondTheCache does the same with room for a few parsed
// schemas only.
func TestLongSubjectBeyondTheCache(t *testing.T) {
	r := open(t, registry.Options{Log: longSubject(t, 300), Limits: registry.Limits{ParsedCacheBytesMax: 64 << 10}})
	for i := range 2 {
		if a := register(t, r, "long", record("R", "a:int", fmt.Sprintf("c%d:int=0", i))); a.Version != 301+i {
			t.Errorf("version %d, want %d", a.Version, 301+i)
		}
	}
}

// TestSlowCheckHoldsUpNobody stops one registration in the middle of what it
// has to read and registers elsewhere meanwhile.
func TestSlowCheckHoldsUpNobody(t *testing.T) {
	stopped, goOn := make(chan struct{}), make(chan struct{})
	var slow atomic.Bool
	var n atomic.Int64
	r := open(t, registry.Options{Log: longSubject(t, 50), Observer: registry.Observer{
		Parsed: func(bool) {
			if slow.Load() && n.Add(1) == 20 {
				close(stopped)
				<-goOn
			}
		},
	}})
	slow.Store(true)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := r.Register(t.Context(), "long", request(record("R", "a:int", "c:int=0")), registry.RegisterOptions{}); err != nil {
			t.Error(err)
		}
	})
	<-stopped
	slow.Store(false)
	for i := range 100 {
		register(t, r, fmt.Sprint("other", i), record("R", "a:int"))
	}
	if got := r.QueuedWrites(); got != 0 {
		t.Errorf("%d writes wait", got)
	}
	wantVersions(t, r, "long", false, slices.Collect(func(yield func(int) bool) {
		for i := range 50 {
			if !yield(i + 1) {
				return
			}
		}
	})...)
	close(goOn)
	wg.Wait()
	if got := versions(t, r, "long", false); len(got) != 51 {
		t.Errorf("the slow registration made it %d versions, want 51", len(got))
	}
}

// groupRatioMin is how many times faster 64 writers are together than with a
// transaction each.
const groupRatioMin = 10

// TestGroupCommitRatio compares registrations by 64 writers with the same ones
// in a transaction each, on the same kind of file in turns. MILENA_BENCH=1 runs
// it.
func TestGroupCommitRatio(t *testing.T) {
	if os.Getenv("MILENA_BENCH") == "" {
		t.Skip("MILENA_BENCH=1 runs it")
	}
	start := func(perCommit int) *registry.Registry {
		log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		return open(t, registry.Options{Log: log, Limits: registry.Limits{WritesPerCommitMax: perCommit}})
	}
	grouped, single := start(0), start(1)
	var n atomic.Int64
	turn := func(r *registry.Registry) float64 {
		var done atomic.Int64
		began := time.Now()
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for time.Since(began) < 500*time.Millisecond {
					i := n.Add(1)
					if _, err := r.Register(t.Context(), fmt.Sprint("s", i), request(record(fmt.Sprint("R", i), "a:int", "b:string")), registry.RegisterOptions{}); err != nil {
						t.Error(err)
						return
					}
					done.Add(1)
				}
			})
		}
		wg.Wait()
		return float64(done.Load()) / time.Since(began).Seconds()
	}
	var together, alone []float64
	for range 6 {
		together, alone = append(together, turn(grouped)), append(alone, turn(single))
	}
	slices.Sort(together)
	slices.Sort(alone)
	ratio := together[3] / alone[3]
	t.Logf("%.0f registrations a second with 64 writers, %.0f in a transaction each: %.1f times", together[3], alone[3], ratio)
	if ratio < groupRatioMin {
		t.Errorf("ratio %.1f, want %d at least; turns %s", ratio, groupRatioMin, strings.TrimSpace(fmt.Sprintf("%.0f %.0f", together, alone)))
	}
}
