package registry_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store"
	"milena/registry/store/memory"
	"milena/registry/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestManyRegistrationsOfOneSchemaGetOneID(t *testing.T) {
	r := open(t, registry.Options{})
	const clients = 64
	ids := make([]int, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			a, err := r.Register(t.Context(), "s", request(record("R", "a:int")), registry.RegisterOptions{})
			if err != nil {
				t.Error(err)
			}
			ids[i] = a.ID
		})
	}
	wg.Wait()
	if distinct := slices.Compact(ids); len(distinct) != 1 || distinct[0] != 1 {
		t.Errorf("ids %v", ids)
	}
	wantVersions(t, r, "s", true, 1)
}

func TestCrowdOnOneSubjectMakesProgress(t *testing.T) {
	r := open(t, registry.Options{})
	setConfig(t, r, "s", api.ConfigRequest{Compatibility: api.Given("NONE")})
	const clients = 100
	got := make([]int, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			a, err := r.Register(t.Context(), "s", request(record(fmt.Sprintf("R%d", i), "a:int")), registry.RegisterOptions{})
			if err != nil {
				t.Error(err)
			}
			got[i] = a.Version
		})
	}
	wg.Wait()
	slices.Sort(got)
	for i, v := range got {
		if v != i+1 {
			t.Fatalf("versions %v are not dense", got)
		}
	}
}

func TestConcurrentWritesShareCommits(t *testing.T) {
	// The first append blocks until all others have queued up.
	release := make(chan struct{})
	first := make(chan struct{})
	var once sync.Once
	log := &flakyLog{Log: memory.New(), before: func() error {
		once.Do(func() {
			close(first)
			<-release
		})
		return nil
	}}
	var commits, writes atomic.Int64
	r := open(t, registry.Options{Log: log, Observer: registry.Observer{Committed: func(w, _ int, _ time.Duration) {
		commits.Add(1)
		writes.Add(int64(w))
	}}})
	const clients = 50
	var wg sync.WaitGroup
	wg.Go(func() { register(t, r, "first", `"int"`) })
	<-first
	for i := range clients {
		wg.Go(func() { register(t, r, fmt.Sprint("s", i), `"long"`) })
	}
	for r.QueuedWrites() < clients {
		runtime.Gosched()
	}
	close(release)
	wg.Wait()
	if commits.Load() != 2 || writes.Load() != clients+1 {
		t.Errorf("%d writes in %d commits", writes.Load(), commits.Load())
	}
	// One schema under many subjects of one commit has one id.
	if a := register(t, r, "another", `"long"`); a.ID != 2 {
		t.Errorf("id %d, want 2", a.ID)
	}
}

func TestTwoRegistriesOnOneLog(t *testing.T) {
	log := memory.New()
	a := open(t, registry.Options{Log: log})
	b := open(t, registry.Options{Log: log})
	if got := register(t, a, "s", `"int"`); got.ID != 1 || got.Version != 1 {
		t.Fatalf("%+v", got)
	}
	// b has not seen that; its append conflicts, it reads on and decides again.
	if got := register(t, b, "s", `"int"`); got.ID != 1 || got.Version != 1 {
		t.Errorf("the same schema: %+v", got)
	}
	if got := register(t, b, "s", `"long"`); got.ID != 2 || got.Version != 2 {
		t.Errorf("another schema: %+v", got)
	}
	if _, err := a.Register(t.Context(), "s", request(`"string"`), registry.RegisterOptions{}); !errors.Is(err, errcode.Incompatible) {
		t.Errorf("an incompatible one: %v", err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { register(t, a, "a", fmt.Sprintf(`{"type":"fixed","name":"F","size":4,"doc":"%d"}`, i%5)) })
		wg.Go(func() { register(t, b, "b", fmt.Sprintf(`{"type":"fixed","name":"F","size":4,"doc":"%d"}`, i%5)) })
	}
	wg.Wait()
	register(t, a, "end", `"bytes"`)
	register(t, b, "end", `"bytes"`)
	if x, y := dump(t, a), dump(t, b); x != y {
		t.Errorf("the two differ:\n%s\n%s", x, y)
	}
}

func TestCrashBetweenAppendAndAnswer(t *testing.T) {
	boom := errors.New("boom")
	fail := true
	log := &flakyLog{Log: memory.New(), after: func() error {
		if fail {
			return boom
		}
		return nil
	}}
	r := open(t, registry.Options{Log: log})
	// The append failed after it had written: the log says so, and that counts.
	if a := register(t, r, "s", `"int"`); a.ID != 1 {
		t.Errorf("%+v", a)
	}
	fail = false
	if a := register(t, r, "s", `"int"`); a.ID != 1 || a.Version != 1 {
		t.Errorf("%+v", a)
	}
	again := open(t, registry.Options{Log: log})
	if x, y := dump(t, r), dump(t, again); x != y {
		t.Errorf("a restart changed the state:\n%s\n%s", x, y)
	}
}

func TestFailedAppendIsNoRegistration(t *testing.T) {
	disk := errors.New("disk is full")
	var failing atomic.Bool
	log := &flakyLog{Log: memory.New(), before: func() error {
		if failing.Load() {
			return disk
		}
		return nil
	}}
	var failures atomic.Int64
	r := open(t, registry.Options{Log: log, Observer: registry.Observer{CommitFailed: func(error) { failures.Add(1) }}})
	register(t, r, "s", `"int"`)
	failing.Store(true)
	_, err := r.Register(t.Context(), "s", request(`"long"`), registry.RegisterOptions{})
	wantRow(t, err, errcode.StoreFailed, "Error while writing to the log")
	if !errors.Is(err, disk) || failures.Load() != 1 {
		t.Errorf("cause %v, %d failures observed", err, failures.Load())
	}
	wantVersions(t, r, "s", true, 1)
	failing.Store(false)
	if a := register(t, r, "s", `"long"`); a.ID != 2 || a.Version != 2 {
		t.Errorf("%+v", a)
	}
}

func TestUnreadableLogMakesUnready(t *testing.T) {
	gone := errors.New("the disk is gone")
	var failing atomic.Bool
	fail := func() error {
		if failing.Load() {
			return gone
		}
		return nil
	}
	log := &flakyLog{Log: memory.New(), before: fail, reads: fail}
	r := open(t, registry.Options{Log: log})
	register(t, r, "s", `"int"`)
	if err := r.Ready(); err != nil {
		t.Fatal(err)
	}
	failing.Store(true)
	for range 2 {
		_, err := r.Register(t.Context(), "s", request(`"long"`), registry.RegisterOptions{})
		wantRow(t, err, errcode.StoreFailed, "")
	}
	if err := r.Ready(); !errors.Is(err, gone) {
		t.Errorf("ready: %v", err)
	}
	if _, err := r.ByID(t.Context(), ".", 1); err != nil {
		t.Errorf("what is known is still served: %v", err)
	}
	failing.Store(false)
	register(t, r, "s", `"long"`)
	if err := r.Ready(); err != nil {
		t.Errorf("ready: %v", err)
	}
}

func TestFullQueueIsAnAnswer(t *testing.T) {
	release, first := make(chan struct{}), make(chan struct{})
	var once sync.Once
	log := &flakyLog{Log: memory.New(), before: func() error {
		once.Do(func() {
			close(first)
			<-release
		})
		return nil
	}}
	r := open(t, registry.Options{Log: log, Limits: registry.Limits{QueuedWritesMax: 1}})
	var wg sync.WaitGroup
	wg.Go(func() { register(t, r, "a", `"int"`) })
	<-first
	wg.Go(func() { register(t, r, "b", `"int"`) })
	for r.QueuedWrites() < 1 {
		runtime.Gosched()
	}
	_, err := r.Register(t.Context(), "c", request(`"int"`), registry.RegisterOptions{})
	wantRow(t, err, errcode.TooManyRequests, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Register(ctx, "a", request(`"int"`), registry.RegisterOptions{}); err == nil {
		t.Error("a cancelled request was served")
	}
	close(release)
	wg.Wait()
}

func TestClosedRegistryRefusesWrites(t *testing.T) {
	r := open(t, registry.Options{})
	register(t, r, "s", `"int"`)
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.Register(t.Context(), "s", request(`"long"`), registry.RegisterOptions{})
	wantRow(t, err, errcode.Unavailable, "")
	if r.Ready() == nil {
		t.Error("a closed registry is ready")
	}
	wantVersions(t, r, "s", false, 1)
}

func TestRestartOnSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	start := func() (*registry.Registry, store.Log) {
		log, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := registry.Open(t.Context(), registry.Options{Log: log})
		if err != nil {
			t.Fatal(err)
		}
		return r, log
	}
	r, log := start()
	register(t, r, "s", record("R", "a:int"))
	register(t, r, "s", record("R", "a:int", "b:int=0"))
	register(t, r, ":.c:s\xff", `"int"`)
	if _, err := r.DeleteVersion(t.Context(), "s", "1", false); err != nil {
		t.Fatal(err)
	}
	before := dump(t, r)
	if err := errors.Join(r.Close(), log.Close()); err != nil {
		t.Fatal(err)
	}
	r, log = start()
	if after := dump(t, r); after != before {
		t.Errorf("a restart changed the state:\n%s\n%s", before, after)
	}
	if err := errors.Join(r.Close(), log.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := registry.Open(t.Context(), registry.Options{}); err == nil {
		t.Error("opened without a log")
	}
	if _, err := registry.Open(t.Context(), registry.Options{Log: memory.New(), CompatibilityLevel: "SOMETIMES"}); err == nil {
		t.Error("opened with an unknown level")
	}
	unreadable := &flakyLog{Log: memory.New(), reads: func() error { return errors.New("disk") }}
	if _, err := registry.Open(t.Context(), registry.Options{Log: unreadable}); err == nil {
		t.Error("opened over a log that can't be read")
	}
}
