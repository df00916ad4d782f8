package registry_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store"
	"milena/registry/store/memory"
	"milena/registry/store/sqlite"
	"milena/registry/transfer"
)

// step draws one request and makes it. Answers are compared as text.
func step(t *rapid.T, r *registry.Registry, op string, draw *draws) string {
	ctx := t.Context()
	subject := draw.subject
	var v any
	var err error
	switch op {
	case "register":
		v, err = tryRegister(t, r, subject, draw.request(), registry.RegisterOptions{Normalize: draw.flag, Force: draw.number == 0})
	case "lookup":
		v, err = r.Lookup(ctx, subject, draw.request(), registry.LookupOptions{Deleted: draw.flag})
	case "check":
		v, err = r.Compatibility(ctx, subject, "latest", draw.request(), registry.CompatibilityQuery{Verbose: draw.flag})
	case "delete version":
		v, err = r.DeleteVersion(ctx, subject, draw.version, draw.flag)
	case "delete subject":
		v, err = r.DeleteSubject(ctx, subject, draw.flag)
	case "set config":
		v, err = r.SetConfig(ctx, draw.scope, draw.config)
	case "delete config":
		v, err = r.DeleteConfig(ctx, draw.scope)
	case "set mode":
		v, err = r.SetMode(ctx, draw.scope, api.ModeRequest{Mode: api.Given(draw.mode)}, draw.flag)
	case "delete mode":
		v, err = r.DeleteMode(ctx, draw.scope, draw.flag)
	case "delete context":
		err = r.DeleteContext(ctx, ".c")
	case "create association":
		v, err = r.CreateAssociations(ctx, draw.associations(), draw.number == 0)
	case "upsert association":
		v, err = r.UpsertAssociations(ctx, draw.associations(), false)
	case "delete association":
		err = r.DeleteAssociations(ctx, draw.resource, registry.AssociationsDeletion{Cascade: draw.flag})
	case "create kek":
		v, err = r.CreateKek(ctx, api.KekRequest{Name: draw.resource, KmsType: "t", KmsKeyID: "i"}, false)
	case "delete kek":
		err = r.DeleteKek(ctx, draw.resource, draw.flag)
	case "create dek":
		v, err = r.CreateDek(ctx, draw.resource, subject, api.DekRequest{EncryptedKeyMaterial: "AAEC", Version: &draw.number}, draw.flag)
	case "delete dek":
		err = r.DeleteDek(ctx, registry.DekQuery{Kek: draw.resource, Subject: subject}, draw.flag)
	}
	if err != nil {
		if errors.Is(err, errcode.Internal) {
			t.Fatalf("%s: %v", op, errcode.Of(err).Cause)
		}
		return err.Error()
	}
	b, err := api.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tryRegister wants a dry run to say what the registration then does.
func tryRegister(t *rapid.T, r *registry.Registry, subject string, req api.RegisterRequest, o registry.RegisterOptions) (api.RegisterResponse, error) {
	dry, dryErr := r.DryRun(t.Context(), subject, req, o)
	answer, err := r.Register(t.Context(), subject, req, o)
	switch {
	case errors.Is(err, errcode.Incompatible):
		if dryErr != nil || dry.IsCompatible || !strings.Contains(err.Error(), strings.Join(dry.Messages, ", ")) {
			t.Fatalf("dry run: %+v, %v; then %v", dry, dryErr, err)
		}
	case err != nil:
		if dryErr == nil || dryErr.Error() != err.Error() {
			t.Fatalf("dry run: %+v, %v; then %v", dry, dryErr, err)
		}
	case dryErr != nil || !dry.IsCompatible || !reflect.DeepEqual(dry.RegisterResponse, answer):
		t.Fatalf("dry run: %+v, %v; then %+v", dry, dryErr, answer)
	}
	return answer, err
}

type draws struct {
	subject, scope, version, text, mode string
	reference, resource                 string
	id                                  *int
	metadata                            *api.Metadata
	config                              api.ConfigRequest
	flag                                bool
	number                              int
}

func (d *draws) request() api.RegisterRequest {
	req := api.RegisterRequest{Schema: &d.text, ID: d.id, Metadata: d.metadata}
	if d.reference != "" {
		req.References = []api.Reference{{Name: "E", Subject: d.reference, Version: d.number - 1}}
	}
	return req
}

// associations ties the resource to the subject, or to one of its own.
func (d *draws) associations() api.AssociationRequest {
	c := api.AssociationChange{Subject: &d.subject}
	switch d.number {
	case 1:
		c = api.AssociationChange{Lifecycle: ptr("STRONG")}
	case 2:
		req := d.request()
		c = api.AssociationChange{Schema: &req}
	case 3:
		c.Lifecycle = ptr("WEAK")
	}
	if d.flag {
		c.AssociationType = ptr("key")
	}
	return api.AssociationRequest{
		ResourceName: d.resource, ResourceNamespace: "c", ResourceID: d.resource, Associations: []api.AssociationChange{c},
	}
}

func draw(t *rapid.T) (string, *draws) {
	subjects := []string{"a", "b", ":.c:a", ":.c:b", ":.d:", "al", ":.c:r-value"}
	scopes := append([]string{"", ":.c:", ":.__GLOBAL:"}, subjects...)
	texts := []string{
		`"int"`, `"long"`, `"string"`, record("R", "a:int"), record("R", "a:int", "b:int=0"), record("R", "b:int=0"),
		record("E", "x:int"), `{"type":"record","name":"S","fields":[{"name":"e","type":"E"}]}`,
		`{"type":"record","name":"P","fields":[],"y":1,"x":2}`, `{"type":"record","name":"P","fields":[],"x":2,"y":1}`, "nope", "",
	}
	op := rapid.SampledFrom([]string{
		"register", "register", "register", "register", "register", "lookup", "check", "delete version", "delete version",
		"delete subject", "delete subject", "set config", "delete config", "set mode", "delete mode", "delete context",
		"create association", "upsert association", "delete association", "create kek", "delete kek", "create dek", "delete dek",
	}).Draw(t, "op")
	d := &draws{
		subject:  rapid.SampledFrom(subjects).Draw(t, "subject"),
		scope:    rapid.SampledFrom(scopes).Draw(t, "scope"),
		resource: rapid.SampledFrom([]string{"r", "s"}).Draw(t, "resource"),
		version:  rapid.SampledFrom([]string{"1", "2", "3", "latest"}).Draw(t, "version"),
		text:     rapid.SampledFrom(texts).Draw(t, "text"),
		mode:     rapid.SampledFrom([]string{"READWRITE", "READWRITE", "READONLY", "IMPORT"}).Draw(t, "mode"),
		flag:     rapid.Bool().Draw(t, "flag"),
		number:   rapid.IntRange(0, 4).Draw(t, "number"),
	}
	switch rapid.IntRange(0, 5).Draw(t, "extra") {
	case 0:
		d.id = ptr(rapid.IntRange(0, 6).Draw(t, "id"))
	case 1:
		d.reference = rapid.SampledFrom(subjects).Draw(t, "reference")
	case 2:
		d.metadata = &api.Metadata{Properties: map[string]string{"k": fmt.Sprint(d.number)}}
	}
	switch d.number {
	case 0:
		d.config.Compatibility = api.Given("NONE")
	case 1:
		d.config.Normalize = api.Given(d.flag)
	case 2:
		d.config.DefaultMetadata = api.Given(api.Metadata{Properties: map[string]string{"d": "1"}})
	case 3:
		d.config.Alias = api.Given(d.subject)
	default:
		d.config.Compatibility = api.Null[string]()
	}
	return op, d
}

// TestRandomHistories makes random histories. At the end a replay must give the
// live state; every fifth history is also made on SQLite, where every answer
// must be the same.
func TestRandomHistories(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		logs := []store.Log{memory.New()}
		if n++; n%5 == 0 {
			file, err := sqlite.Open(rt.Context(), filepath.Join(dir, fmt.Sprint(n, ".db")))
			if err != nil {
				rt.Fatal(err)
			}
			logs = append(logs, file)
		}
		history(t, rt, logs)
	})
}

func history(t *testing.T, rt *rapid.T, logs []store.Log) {
	now := newClock()
	var live []*registry.Registry
	for _, log := range logs {
		defer func() { _ = log.Close() }()
		r, err := registry.Open(rt.Context(), registry.Options{Log: log, Now: now, NewGUID: newGUIDs()})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		live = append(live, r)
	}
	for range rapid.IntRange(1, 60).Draw(rt, "steps") {
		op, d := draw(rt)
		first := step(rt, live[0], op, d)
		for _, r := range live[1:] {
			if other := step(rt, r, op, d); other != first {
				rt.Fatalf("%s %+v:\n%s\n%s", op, d, first, other)
			}
		}
	}
	want := dump(t, live[0])
	for i, log := range logs {
		if got := dump(t, live[i]); got != want {
			rt.Fatalf("the logs differ:\n%s\n%s", want, got)
		}
		replayed, err := registry.Open(rt.Context(), registry.Options{Log: log})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = replayed.Close() }()
		if got := dump(t, replayed); got != want {
			rt.Fatalf("a replay differs:\n%s\n%s", want, got)
		}
		invariants(rt, replayed)
	}
	moved(t, rt, live[0], want)
}

// moved wants that a registry which takes over what r exports answers as r does,
// and that taking it over again changes nothing.
func moved(t *testing.T, rt *rapid.T, r *registry.Registry, want string) {
	log := memory.New()
	defer func() { _ = log.Close() }()
	other, err := registry.Open(rt.Context(), registry.Options{Log: log})
	if err != nil {
		rt.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	stream := exported(t, r, registry.ExportQuery{})
	for again := range 2 {
		sum, err := other.Import(rt.Context(), transfer.ReadAny(strings.NewReader(stream)), registry.ImportOptions{})
		if err != nil || sum.Conflicts+sum.Refused != 0 || again == 1 && sum.Imported != 0 {
			rt.Fatalf("import: %+v, %v\n%s", sum, err, stream)
		}
	}
	if got := dump(t, other); got != want {
		rt.Fatalf("a copy differs:\n%s\n%s\n%s", want, got, stream)
	}
}

// newGUIDs returns a function that counts.
func newGUIDs() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	}
}

// invariants checks what no history may break: an id means one schema in its
// context, what is referred to is there, and a subject that belongs to a
// resource has no other association, is live and not referred to.
func invariants(t *rapid.T, r *registry.Registry) {
	all, err := r.Schemas(t.Context(), registry.SchemasQuery{Prefix: ":*:", Deleted: true})
	if err != nil {
		t.Fatal(err)
	}
	guids := map[string]string{}
	for _, s := range all {
		context := "."
		if s.Subject[0] == ':' {
			context = s.Subject[1:3]
		}
		key := fmt.Sprint(context, " ", s.ID)
		if guid, ok := guids[key]; ok && guid != s.GUID {
			t.Fatalf("id %s means %s and %s", key, guid, s.GUID)
		}
		guids[key] = s.GUID
		if _, err := r.ByGUID(t.Context(), s.GUID); err != nil {
			t.Fatalf("%s version %d: %v", s.Subject, s.Version, err)
		}
	}
	live := map[string]bool{}
	for _, s := range all {
		live[s.Subject] = live[s.Subject] || !*s.Deleted
	}
	ties, err := r.AssociationsByName(t.Context(), "-", "-", registry.AssociationsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	count, strong := map[string]int{}, map[string]bool{}
	for _, a := range ties {
		count[a.Subject]++
		strong[a.Subject] = strong[a.Subject] || a.Lifecycle == "STRONG"
		if !live[a.Subject] {
			t.Fatalf("%+v is without a live version", a)
		}
	}
	for subject := range strong {
		if strong[subject] && count[subject] > 1 {
			t.Fatalf("the strong association of %s is one of %d", subject, count[subject])
		}
	}
	for _, s := range all {
		for _, ref := range s.References {
			if to := qualify(s.Subject, ref.Subject); !*s.Deleted && strong[to] && to != s.Subject {
				t.Fatalf("%s refers to %s, which belongs to a resource", s.Subject, to)
			}
		}
	}
}

// qualify returns a subject of a reference as seen from outside.
func qualify(from, to string) string {
	if c := strings.SplitAfterN(from, ":", 3); len(c) == 3 && c[0] == ":" && !strings.HasPrefix(to, ":") {
		return c[0] + c[1] + to
	}
	return to
}
