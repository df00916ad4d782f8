package registry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store/sqlite"
)

const (
	stressClients  = 64
	stressSubjects = 12
	stressRequests = 6 // of each client between two restarts
	stressEpochs   = 4 // unless MILENA_STRESS says how long to run
)

// stress is a registry under load, with all that is known of it.
type stress struct {
	t     *testing.T
	r     *registry.Registry
	clock atomic.Int64 // ticks at every call and every end

	mu        sync.Mutex // guards all below
	histories [stressSubjects][]*stressOp
	texts     map[int]string // by id, which never means another text
}

// TestStress lets 64 clients register, look up, delete and change config and
// mode on shared subjects of a registry on SQLite that is restarted again and
// again, every other time under their hands. Every answer must be one that some
// order of the requests explains, the replayed state must be the live one, and
// an id must never mean two schemas. MILENA_STRESS is how long it runs ("1m").
func TestStress(t *testing.T) {
	var deadline time.Time
	if s := os.Getenv("MILENA_STRESS"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		deadline = time.Now().Add(d)
	}
	path := filepath.Join(t.TempDir(), "registry.db")
	s := &stress{t: t, texts: map[int]string{}}
	var subjects [stressSubjects]stressSubject
	requests, unknown := 0, 0
	for epoch := 0; epoch < stressEpochs || time.Now().Before(deadline); epoch++ {
		log, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if s.r, err = registry.Open(t.Context(), registry.Options{Log: log, SnapshotEvery: 50}); err != nil {
			t.Fatal(err)
		}
		s.run(epoch%2 == 1)
		live := dump(t, s.r)
		if err := errors.Join(s.r.Close(), log.Close()); err != nil {
			t.Fatal(err)
		}
		if log, err = sqlite.Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if s.r, err = registry.Open(t.Context(), registry.Options{Log: log, SnapshotEvery: 50}); err != nil {
			t.Fatal(err)
		}
		if replayed := dump(t, s.r); replayed != live {
			t.Fatalf("epoch %d: replayed\n%s\nlive\n%s", epoch, replayed, live)
		}
		for i := range subjects {
			after := s.look(i)
			for _, o := range s.histories[i] {
				requests++
				if o.unknown {
					unknown++
				}
			}
			if !linearizable(subjects[i], s.histories[i]) {
				for _, o := range s.histories[i] {
					t.Log(o)
				}
				t.Fatalf("epoch %d: no order of the requests on subject %d explains the answers, from %+v to %+v", epoch, i, subjects[i], after)
			}
			subjects[i], s.histories[i] = after, nil
		}
		if err := errors.Join(s.r.Close(), log.Close()); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d requests, %d of them cut off by a restart, %d ids", requests, unknown, len(s.texts))
}

// run sends the requests of an epoch; with cut it closes the registry meanwhile.
func (s *stress) run(cut bool) {
	var wg sync.WaitGroup
	var sent atomic.Int64
	for range stressClients {
		wg.Go(func() {
			for range stressRequests {
				open := s.request(rand.IntN(stressSubjects))
				sent.Add(1)
				if !open {
					return
				}
			}
		})
	}
	if cut {
		for sent.Load() < stressClients*stressRequests/2 {
			time.Sleep(time.Millisecond) // what is cut off is up to chance anyway
		}
		if err := s.r.Close(); err != nil {
			s.t.Error(err)
		}
	}
	wg.Wait()
}

func stressText(i int) string {
	if i == stressIncompatible {
		return `"string"`
	}
	return record("R", "a:int", fmt.Sprintf("b%d:int=0", i))
}

func stressName(i int) string {
	if i%3 == 0 {
		return fmt.Sprintf(":.c:s%d", i)
	}
	return fmt.Sprint("s", i)
}

// request sends one request and notes what came of it. It reports false if the
// registry was closed.
func (s *stress) request(subject int) bool {
	kinds := []string{
		"register", "register", "register", "register", "lookup", "lookup", "versions", "delete version", "delete version",
		"delete subject", "set config", "delete config", "set mode", "delete mode", "delete mode",
	}
	o := &stressOp{
		kind: kinds[rand.IntN(len(kinds))], text: rand.IntN(stressIncompatible + 1), version: rand.IntN(4), flag: rand.IntN(2) == 0,
		value: []string{"NONE", "BACKWARD", "BACKWARD_TRANSITIVE"}[rand.IntN(3)],
	}
	if o.kind == "set mode" {
		o.value = []string{"READWRITE", "READWRITE", "READONLY"}[rand.IntN(3)]
	}
	s.send(subject, o)
	return !o.unknown
}

func (s *stress) send(subject int, o *stressOp) {
	o.call = s.clock.Add(1)
	answer, err := s.ask(stressName(subject), o)
	o.end = s.clock.Add(1)
	switch {
	case errors.Is(err, errcode.Unavailable):
		o.unknown, o.outcome = true, err.Error()
	case err != nil:
		code := errcode.Of(err).Row.Code
		o.outcome = fmt.Sprint(code)
		if code >= 500 && code < 600 || code >= 50000 {
			s.t.Errorf("%s: %v", o, err)
		}
	default:
		o.outcome = answer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.histories[subject] = append(s.histories[subject], o)
}

// ask makes the call behind an op and returns its answer as the model writes it.
func (s *stress) ask(name string, o *stressOp) (string, error) {
	ctx := s.t.Context()
	switch o.kind {
	case "register":
		a, err := s.r.Register(ctx, name, request(stressText(o.text)), registry.RegisterOptions{})
		if err == nil {
			s.checkID(name, a.ID, stressText(o.text))
		}
		return fmt.Sprint(a.Version), err
	case "lookup":
		a, err := s.r.Lookup(ctx, name, request(stressText(o.text)), registry.LookupOptions{Deleted: o.flag})
		if err == nil && a.Schema != stressText(o.text) {
			s.t.Errorf("%s found %s", o, a.Schema)
		}
		return fmt.Sprint(a.Version), err
	case "versions":
		list, err := s.r.Versions(ctx, name, registry.VersionsQuery{Deleted: o.flag})
		return fmt.Sprint(list), err
	case "delete version":
		version := "latest"
		if o.version > 0 {
			version = fmt.Sprint(o.version)
		}
		n, err := s.r.DeleteVersion(ctx, name, version, o.flag)
		return fmt.Sprint(n), err
	case "delete subject":
		list, err := s.r.DeleteSubject(ctx, name, o.flag)
		return fmt.Sprint(list), err
	case "set config":
		_, err := s.r.SetConfig(ctx, name, api.ConfigRequest{Compatibility: api.Given(o.value)})
		return "ok", err
	case "delete config":
		c, err := s.r.DeleteConfig(ctx, name)
		return c.CompatibilityLevel, err
	case "set mode":
		_, err := s.r.SetMode(ctx, name, api.ModeRequest{Mode: api.Given(o.value)}, false)
		return "ok", err
	default:
		m, err := s.r.DeleteMode(ctx, name, false)
		return m.Mode, err
	}
}

// checkID reads a schema back by the id that a registration answered: it may be
// gone, but it must not be another one.
func (s *stress) checkID(name string, id int, text string) {
	context := name[:strings.LastIndex(name, ":")+1]
	body, err := s.r.BodyByID(s.t.Context(), id, registry.ByIDQuery{Subject: context})
	if errors.Is(err, errcode.SchemaNotFound) {
		return
	}
	var found api.SchemaString
	if err == nil {
		err = json.Unmarshal(body, &found)
	}
	if err != nil || found.Schema != text {
		s.t.Errorf("id %d of %s is %s, %v, want %s", id, name, found.Schema, err, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := id
	if context != "" {
		key = -id // another context, other ids
	}
	if known, ok := s.texts[key]; ok && known != text {
		s.t.Errorf("id %d of %s means %s and %s", id, name, known, text)
	}
	s.texts[key] = text
}

// look reads a subject when nobody writes, as requests of its history, and
// returns it.
func (s *stress) look(subject int) stressSubject {
	var m stressSubject
	name := stressName(subject)
	for _, deleted := range []bool{true, false} {
		s.send(subject, &stressOp{kind: "versions", flag: deleted})
	}
	for text := range stressIncompatible + 1 {
		s.send(subject, &stressOp{kind: "lookup", text: text})
		s.send(subject, &stressOp{kind: "lookup", text: text, flag: true})
	}
	all, err := s.r.Schemas(s.t.Context(), registry.SchemasQuery{Prefix: name, Deleted: true})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, version := range all {
		if version.Subject != name {
			continue // of a longer name
		}
		text := 0
		for text < stressIncompatible && stressText(text) != version.Schema {
			text++
		}
		m.versions = append(m.versions, stressVersion{version.Version, text, *version.Deleted})
	}
	config, err := s.r.Config(s.t.Context(), name, false)
	if err != nil && !errors.Is(err, errcode.CompatibilityNotSet) {
		s.t.Fatal(err)
	}
	mode, err := s.r.Mode(s.t.Context(), name, false)
	if err != nil && !errors.Is(err, errcode.ModeNotSet) {
		s.t.Fatal(err)
	}
	m.level, m.mode = config.CompatibilityLevel, mode.Mode
	return m
}
