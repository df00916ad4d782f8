package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/schema"
)

// newClock returns a clock that stands still.
func newClock() func() time.Time {
	at := time.UnixMilli(1_700_000_000_000)
	return func() time.Time { return at }
}

func TestLookupInProcess(t *testing.T) {
	r := open(t, registry.Options{})
	var lookup schema.Lookup = r
	e := register(t, r, "e", record("E", "x:int"))
	s := registerRequest(t, r, "s", api.RegisterRequest{
		Schema:     ptr(`{"type":"record","name":"S","fields":[{"name":"e","type":"E"}]}`),
		References: []api.Reference{{Name: "E", Subject: "e", Version: 1}},
	})
	c := register(t, r, ":.c:s", `"int"`)
	want := schema.Resolved{
		Type: schema.Avro, Text: s.Schema, Dependencies: []schema.Dependency{{Name: "E", Text: e.Schema}},
	}
	for _, context := range []string{".", ""} {
		got, err := lookup.ByID(t.Context(), context, int32(s.ID))
		if err != nil || got.Key() != want.Key() {
			t.Errorf("by id: %+v, %v", got, err)
		}
	}
	if got, err := lookup.ByGUID(t.Context(), strings.ToUpper(s.GUID)); err != nil || got.Key() != want.Key() {
		t.Errorf("by GUID: %+v, %v", got, err)
	}
	if got, err := lookup.ByID(t.Context(), ".c", int32(c.ID)); err != nil || got.Text != `"int"` {
		t.Errorf("in a context: %+v, %v", got, err)
	}
	for _, miss := range []struct {
		context string
		id      int32
	}{{".c", 2}, {".d", 1}, {".", 99}, {".", 0}, {".", -1}} {
		if _, err := lookup.ByID(t.Context(), miss.context, miss.id); !errors.Is(err, schema.ErrUnknown) || errors.Is(err, schema.ErrUnavailable) {
			t.Errorf("%+v: %v", miss, err)
		}
	}
	for _, guid := range []string{"", "nonsense", "00000000-0000-0000-0000-000000000000"} {
		if _, err := lookup.ByGUID(t.Context(), guid); !errors.Is(err, schema.ErrUnknown) {
			t.Errorf("%q: %v", guid, err)
		}
	}
	// A soft deleted schema is served, a permanently deleted one is not.
	for permanent, want := range map[bool]error{false: nil, true: schema.ErrUnknown} {
		r := open(t, registry.Options{})
		register(t, r, "s", `"int"`)
		if _, err := r.DeleteSubject(t.Context(), "s", false); err != nil {
			t.Fatal(err)
		}
		if permanent {
			if _, err := r.DeleteSubject(t.Context(), "s", true); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.ByID(t.Context(), ".", 1); !errors.Is(err, want) {
			t.Errorf("permanently deleted %t: %v", permanent, err)
		}
	}
	// A closed registry can't say that a schema is unknown.
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := lookup.ByID(t.Context(), ".", 99); !errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("closed: %v", err)
	}
}

func TestReadYourWrites(t *testing.T) {
	r := open(t, registry.Options{})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			a := register(t, r, fmt.Sprint("s", i), record(fmt.Sprint("R", i), "a:int"))
			if got, err := r.ByID(t.Context(), ".", int32(a.ID)); err != nil || got.Text != a.Schema {
				t.Errorf("%d: %+v, %v", a.ID, got, err)
			}
		})
	}
	wg.Wait()
}

func TestNoSchemaIsParsedTwice(t *testing.T) {
	var parsed, cached atomic.Int64
	o := registry.Options{Observer: registry.Observer{Parsed: func(hit bool) {
		if hit {
			cached.Add(1)
		} else {
			parsed.Add(1)
		}
	}}}
	r := open(t, o)
	count := func(what string, want int64, do func()) {
		t.Helper()
		parsed.Store(0)
		do()
		if got := parsed.Load(); got != want {
			t.Errorf("%s parsed %d times, want %d", what, got, want)
		}
	}
	sent := ` {"name":"R","type":"record","fields":[{"name":"a","type":"int"}]}`
	next := record("R", "a:int", "b:int=0")
	count("a new schema", 1, func() { register(t, r, "s", sent) })
	count("the same again", 0, func() { register(t, r, "s", sent) })
	count("its canonical text", 0, func() { register(t, r, "t", record("R", "a:int")) })
	count("the next version, compared with the first", 1, func() { register(t, r, "s", next) })
	count("a look-up", 0, func() {
		if _, err := r.Lookup(t.Context(), "s", request(next), registry.LookupOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	count("a crowd with one new schema", 1, func() {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { register(t, r, "crowd", record("C", "a:int")) })
		}
		wg.Wait()
	})
	if cached.Load() == 0 {
		t.Error("nothing was found in the cache")
	}
}

func TestCacheIsBoundedInBytes(t *testing.T) {
	var parsed atomic.Int64
	r := open(t, registry.Options{
		Limits: registry.Limits{ParsedCacheBytesMax: 4 << 10},
		Observer: registry.Observer{Parsed: func(hit bool) {
			if !hit {
				parsed.Add(1)
			}
		}},
	})
	for i := range 20 {
		register(t, r, fmt.Sprint("s", i), record(fmt.Sprint("R", i), "a:int"))
	}
	parsed.Store(0)
	if _, err := r.Lookup(t.Context(), "s0", request(record("R0", "a:int")), registry.LookupOptions{}); err != nil {
		t.Fatal(err)
	}
	if parsed.Load() == 0 {
		t.Error("the oldest schema is still cached")
	}
}

func TestLimits(t *testing.T) {
	r := open(t, registry.Options{Limits: registry.Limits{SchemaBytesMax: 100}})
	long := record("R", "a:int", "b:int", "c:int", "d:int")
	_, err := r.Register(t.Context(), "s", request(long), registry.RegisterOptions{})
	wantRow(t, err, errcode.SchemaTooLarge, "schema is too large")
	_, err = r.Lookup(t.Context(), "s", request(long), registry.LookupOptions{})
	wantRow(t, err, errcode.SchemaTooLarge, "")

	// The log's own limit: what encodes to more than an entry holds.
	r = open(t, registry.Options{Limits: registry.Limits{SchemaBytesMax: 4 << 20}})
	doc := strings.Repeat(`\"`, 400_000)
	_, err = r.Register(t.Context(), "s", request(`{"type":"record","name":"R","fields":[],"doc":"`+doc+`"}`), registry.RegisterOptions{})
	wantRow(t, err, errcode.SchemaTooLarge, "schema is too large")
	register(t, r, "s", `"int"`)

	deep := strings.Repeat(`{"type":"array","items":`, 100_000) + `"int"` + strings.Repeat("}", 100_000)
	_, err = r.Register(t.Context(), "s", request(deep), registry.RegisterOptions{})
	wantRow(t, err, errcode.InvalidSchema, "")
}

func TestOptions(t *testing.T) {
	r := open(t, registry.Options{
		CompatibilityLevel: "full", FixedModes: true, RejectEmptySubject: true, SkipNewSchemaValidation: true, ValidateFields: true,
	})
	c, err := r.Config(t.Context(), "", false)
	if err != nil || c.CompatibilityLevel != "FULL" {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = r.SetMode(t.Context(), "s", api.ModeRequest{Mode: api.Given("READONLY")}, false)
	wantRow(t, err, errcode.OperationNotPermitted, "Mode changes are not allowed")
	_, err = r.DeleteMode(t.Context(), "s", false)
	wantRow(t, err, errcode.OperationNotPermitted, "Mode changes are not allowed")
	_, err = r.Register(t.Context(), ":.c:", request(`"int"`), registry.RegisterOptions{})
	wantRow(t, err, errcode.InvalidSubject, "")
	register(t, r, "lenient", record("R", `a:int="x"`))
	_, err = r.Register(t.Context(), "reserved", api.RegisterRequest{
		Schema: ptr(record("R", "a:int")), Metadata: &api.Metadata{Properties: map[string]string{"confluent:reserved": "a"}},
	}, registry.RegisterOptions{})
	wantRow(t, err, errcode.Incompatible, "conflicts with the reserved field a.")
}

func TestContextParameters(t *testing.T) {
	for param, want := range map[string]string{
		"c": ".c", ".c": ".c", ":.c:": ".c", ":.c": ".c", ".": ".", ":.:": ".", ".a.b": ".a.b",
	} {
		if got, err := registry.ParseContextParam(param); err != nil || got != want {
			t.Errorf("%q is %q, %v, want %q", param, got, err, want)
		}
	}
	for _, param := range []string{"a:b", ":.a:b", ":a", ":.a:b:"} {
		_, err := registry.ParseContextParam(param)
		wantRow(t, err, errcode.BadRequest, "cannot contain a colon")
	}
	for _, c := range [][3]string{
		{".c", "s", ":.c:s"}, {".c", ":.d:s", ":.d:s"}, {".", "s", "s"}, {".c", "", ":.c:"}, {".c", ":*:", ":*:"}, {".c", ":x", ":.c::x"},
	} {
		if got := registry.QualifySubject(c[0], c[1]); got != c[2] {
			t.Errorf("%q in %q is %q, want %q", c[1], c[0], got, c[2])
		}
	}
}

func TestObserversSeeWhatHappens(t *testing.T) {
	var created, known, checks, incompatible atomic.Int64
	r := open(t, registry.Options{Observer: registry.Observer{
		Registered: func(c bool) {
			if c {
				created.Add(1)
			} else {
				known.Add(1)
			}
		},
		Checked: func(level string, ok bool, _ time.Duration) {
			checks.Add(1)
			if !ok && level == "BACKWARD" {
				incompatible.Add(1)
			}
		},
	}})
	register(t, r, "s", `"int"`)
	register(t, r, "s", `"int"`)
	register(t, r, "s", `"long"`)
	if _, err := r.Register(t.Context(), "s", request(`"string"`), registry.RegisterOptions{}); !errors.Is(err, errcode.Incompatible) {
		t.Errorf("%v", err)
	}
	if created.Load() != 2 || known.Load() != 1 || checks.Load() != 2 || incompatible.Load() != 1 {
		t.Errorf("created %d, known %d, checks %d, incompatible %d", created.Load(), known.Load(), checks.Load(), incompatible.Load())
	}
}

func TestCancelledRequests(t *testing.T) {
	r := open(t, registry.Options{})
	register(t, r, "s", `"int"`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, do := range map[string]func() error{
		"subjects": func() error { _, err := r.Subjects(ctx, registry.SubjectsQuery{}); return err },
		"versions": func() error { _, err := r.Versions(ctx, "s", registry.VersionsQuery{}); return err },
		"version":  func() error { _, err := r.Version(ctx, "s", "1", registry.VersionQuery{}); return err },
		"id":       func() error { _, err := r.SchemaByID(ctx, 1, registry.ByIDQuery{}); return err },
		"schemas":  func() error { _, err := r.Schemas(ctx, registry.SchemasQuery{}); return err },
		"lookup":   func() error { _, err := r.Lookup(ctx, "s", request(`"int"`), registry.LookupOptions{}); return err },
		"by id":    func() error { _, err := r.ByID(ctx, ".", 1); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
