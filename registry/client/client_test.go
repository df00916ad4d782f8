package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/client"
	"milena/registry/errcode"
	"milena/registry/rest"
	"milena/registry/store/memory"
	"milena/serde/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// remote is a registry and its server, with what may go wrong in between. mu
// guards paths.
type remote struct {
	registry *registry.Registry
	url      string
	fail     atomic.Pointer[http.HandlerFunc] // answers instead, if set

	mu    sync.Mutex
	paths []string
}

func (r *remote) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	paths := r.paths
	r.paths = nil
	return paths
}

func (r *remote) failWith(h http.HandlerFunc) { r.fail.Store(&h) }

func startRemote(t *testing.T) *remote {
	t.Helper()
	log := memory.New()
	t.Cleanup(func() { _ = log.Close() })
	domain, err := registry.Open(t.Context(), registry.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = domain.Close() })
	server, err := rest.New(domain, rest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &remote{registry: domain}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.paths = append(r.paths, req.URL.RequestURI())
		r.mu.Unlock()
		if h := r.fail.Load(); h != nil {
			(*h)(w, req)
			return
		}
		server.Handler().ServeHTTP(w, req)
	}))
	t.Cleanup(web.Close)
	r.url = web.URL
	return r
}

func newClient(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	if o.RetryDelay == 0 {
		o.RetryDelay = time.Millisecond
	}
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (r *remote) register(t *testing.T, subject, text string, refs ...api.Reference) int32 {
	t.Helper()
	answer, err := r.registry.Register(t.Context(), subject, api.RegisterRequest{Schema: &text, References: refs}, registry.RegisterOptions{})
	if err != nil {
		t.Fatalf("register %s: %v", subject, err)
	}
	return int32(answer.ID)
}

// TestSameAsInProcess: over HTTP a schema is what it is in process, content key
// included, by id and by GUID, with references direct, shared, nested, in other
// contexts and soft deleted.
func TestSameAsInProcess(t *testing.T) {
	r := startRemote(t)
	r.register(t, "base", `{"type":"record","name":"Base","fields":[{"name":"x","type":"int"}]}`)
	r.register(t, "a/b c", `{"type":"record","name":"Left","fields":[{"name":"b","type":"Base"}]}`, api.Reference{Name: "Base", Subject: "base", Version: 1})
	r.register(t, ":.o:right", `{"type":"record","name":"Right","fields":[{"name":"b","type":"Base"}]}`, api.Reference{Name: "Base", Subject: ":.:base", Version: 1})
	ids := map[string][]int32{".": {
		r.register(t, "plain", `"int"`),
		r.register(t, "both", `{"type":"record","name":"Both","fields":[{"name":"l","type":"Left"},{"name":"r","type":"Right"}]}`,
			api.Reference{Name: "Left", Subject: "a/b c", Version: 1}, api.Reference{Name: "Right", Subject: ":.o:right", Version: 1}),
	}}
	r.register(t, ":.c:base", `{"type":"record","name":"Base","fields":[{"name":"other","type":"int"}]}`)
	ids[".c"] = []int32{
		r.register(t, ":.c:top", `{"type":"record","name":"Top","fields":[{"name":"b","type":"Base"}]}`, api.Reference{Name: "Base", Subject: "base", Version: 1}),
	}
	if _, err := r.registry.DeleteSubject(t.Context(), "both", false); err != nil {
		t.Fatal(err)
	}
	if _, err := r.registry.DeleteSubject(t.Context(), "a/b c", false); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, client.Options{URL: r.url})
	for in, list := range ids {
		for _, id := range list {
			want, err := r.registry.ByID(t.Context(), in, id)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.ByID(t.Context(), in, id)
			if err != nil || got.Key() != want.Key() {
				t.Errorf("%s %d: %+v, %v; want %+v", in, id, got, err, want)
			}
			subject := ""
			if in != "." {
				subject = ":" + in + ":"
			}
			found, err := r.registry.SchemaByID(t.Context(), int(id), registry.ByIDQuery{Subject: subject})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.ByGUID(t.Context(), found.GUID); err != nil || got.Key() != want.Key() {
				t.Errorf("%s: %+v, %v; want %+v", found.GUID, got, err, want)
			}
		}
	}
	if got, err := c.ByID(t.Context(), "", ids["."][0]); err != nil || got.Text != `"int"` || got.Type != schema.Avro {
		t.Errorf("context \"\": %+v, %v", got, err)
	}
}

// TestUnknown: only the registry's own word counts, and it is asked every time.
func TestUnknown(t *testing.T) {
	r := startRemote(t)
	c := newClient(t, client.Options{URL: r.url})
	r.register(t, ":.c:s", `"int"`)
	for name, ask := range map[string]func() error{
		"id":      func() error { _, err := c.ByID(t.Context(), ".", 1); return err },
		"no id":   func() error { _, err := c.ByID(t.Context(), ".", -1); return err },
		"context": func() error { _, err := c.ByID(t.Context(), ".none", 1); return err },
		"guid":    func() error { _, err := c.ByGUID(t.Context(), "00000000-0000-0000-0000-000000000000"); return err },
		"no guid": func() error { _, err := c.ByGUID(t.Context(), "a/b?c"); return err },
	} {
		for range 2 {
			r.asked()
			err := ask()
			if !errors.Is(err, schema.ErrUnknown) || errors.Is(err, schema.ErrUnavailable) || !errors.Is(err, errcode.SchemaNotFound) {
				t.Errorf("%s: %v", name, err)
			}
			if n := len(r.asked()); n != 1 {
				t.Errorf("%s: %d requests", name, n)
			}
		}
	}
	id := r.register(t, "s", `"long"`)
	if got, err := c.ByID(t.Context(), ".", id); err != nil || got.Text != `"long"` {
		t.Errorf("registered since: %+v, %v", got, err)
	}
}

// answers returns a handler with one fixed answer.
func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// TestUnavailable: everything but a schema and the registry's word that there
// is none.
func TestUnavailable(t *testing.T) {
	for _, c := range []struct {
		name     string
		status   int
		body     string
		attempts int
		text     string
	}{
		{"wrong path", 404, "<html>not here</html>", 1, "registry answered 404 Not Found"},
		{"no such route", 404, `{"error_code":404,"message":"HTTP 404 Not Found"}`, 1, "HTTP 404 Not Found"},
		{"credentials", 401, `{"error_code":401,"message":"Unauthorized"}`, 1, "Unauthorized"},
		{"forbidden", 403, "", 1, "registry answered 403"},
		{"code that is new", 422, `{"error_code":42299,"message":"odd"}`, 1, "odd"},
		{"internal", 500, `{"error_code":500,"message":"Internal Server Error"}`, 3, "Internal Server Error"},
		{"store", 500, `{"error_code":50001,"message":"store"}`, 3, "store"},
		{"gateway", 502, "<html>", 3, "502"},
		{"overload", 503, "", 3, "503"},
		{"slow down", 429, "", 3, "429"},
		{"no JSON", 200, "<html>", 1, "can't be read"},
		{"no schema", 200, `{"id":1}`, 1, "without a schema"},
		{"null", 200, `null`, 1, "without a schema"},
		{"wrong type", 200, `{"schema":{"type":"int"}}`, 1, "can't be read"},
		{"too long", 200, `{"schema":"` + strings.Repeat("x", 2000) + `"}`, 1, "longer than 1000 bytes"},
		{"created", 201, `{"schema":"\"int\""}`, 1, "201"},
	} {
		r := startRemote(t)
		r.failWith(answers(c.status, c.body))
		var asked, retried int
		cl := newClient(t, client.Options{URL: r.url, AnswerBytesMax: 1000, Observer: client.Observer{
			Asked: func(status int, _ time.Duration) {
				if asked++; status != c.status {
					t.Errorf("%s: observed %d", c.name, status)
				}
			},
			Retried: func() { retried++ },
		}})
		_, err := cl.ByID(t.Context(), ".", 1)
		if !errors.Is(err, schema.ErrUnavailable) || errors.Is(err, schema.ErrUnknown) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		if asked != c.attempts || retried != c.attempts-1 {
			t.Errorf("%s: %d attempts, %d retries; want %d", c.name, asked, retried, c.attempts)
		}
	}
}

func TestRetrySucceeds(t *testing.T) {
	r := startRemote(t)
	id := r.register(t, "s", `"int"`)
	c := newClient(t, client.Options{URL: r.url})
	var calls atomic.Int32
	r.failWith(func(w http.ResponseWriter, req *http.Request) {
		if calls.Add(1) == 2 {
			r.fail.Store(nil)
		}
		panic(http.ErrAbortHandler) // the connection breaks
	})
	if got, err := c.ByID(t.Context(), ".", id); err != nil || got.Text != `"int"` {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(r.asked()); n < 3 {
		t.Errorf("%d requests", n)
	}
}

// closedPort returns an address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestSeveralURLs: the next one is asked when one fails, and then stays first.
func TestSeveralURLs(t *testing.T) {
	r := startRemote(t)
	id := r.register(t, "s", `"int"`)
	statuses := []int{}
	c := newClient(t, client.Options{
		URL: fmt.Sprintf("http://%s, http://%s/x/,%s/", closedPort(t), closedPort(t), r.url), AttemptsMax: 1,
		Observer: client.Observer{Asked: func(status int, _ time.Duration) { statuses = append(statuses, status) }},
	})
	for range 2 {
		if got, err := c.ByID(t.Context(), ".", id); err != nil || got.Text != `"int"` {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if !slices.Equal(statuses, []int{0, 0, 200, 200}) {
		t.Errorf("answers %v", statuses)
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v", err)
	}
	r.failWith(answers(503, ""))
	if err := c.Ready(t.Context()); !errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("not ready: %v", err)
	}
}

// TestPathAndCredentials: a path in the URL is kept, credentials are sent and
// never shown.
func TestPathAndCredentials(t *testing.T) {
	var seen []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		user, password, _ := req.BasicAuth()
		seen = append(seen, req.URL.RequestURI()+" "+user+" "+password)
		_, _ = w.Write([]byte(`{"schema":"\"int\""}`))
	}))
	defer web.Close()
	address := strings.TrimPrefix(web.URL, "http://")
	c := newClient(t, client.Options{URL: "http://me:s%3Acret@" + address + "/api/sr/"})
	if _, err := c.ByID(t.Context(), ".c", 7); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/api/sr/contexts/:.c:/schemas/ids/7 me s:cret"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	for _, bad := range []string{"", " , ", "localhost:8081", "ftp://h", "http://", "http://me:secret@/x", "http://me:secret@h:port", "http://h/%zz:secret"} {
		_, err := client.New(client.Options{URL: bad})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("URL %q: %v", bad, err)
		}
	}
	c = newClient(t, client.Options{URL: "http://me:secret@" + closedPort(t), AttemptsMax: 1})
	if _, err := c.ByID(t.Context(), ".", 1); !errors.Is(err, schema.ErrUnavailable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("no connection: %v", err)
	}
}

// TestReferenceCache: a shared reference is asked for once while it is fresh.
func TestReferenceCache(t *testing.T) {
	r := startRemote(t)
	r.register(t, "base", `{"type":"record","name":"Base","fields":[]}`)
	ref := api.Reference{Name: "Base", Subject: "base", Version: 1}
	one := r.register(t, "one", `{"type":"record","name":"One","fields":[{"name":"b","type":"Base"}]}`, ref)
	two := r.register(t, "two", `{"type":"record","name":"Two","fields":[{"name":"b","type":"Base"}]}`, ref)
	now := time.Unix(0, 0)
	c := newClient(t, client.Options{URL: r.url, Clock: func() time.Time { return now }, CacheTTL: time.Minute})
	count := func(id int32) int {
		r.asked()
		if _, err := c.ByID(t.Context(), ".", id); err != nil {
			t.Fatal(err)
		}
		return len(r.asked())
	}
	if n := count(one); n != 2 {
		t.Errorf("first: %d requests", n)
	}
	if n := count(two); n != 1 {
		t.Errorf("second: %d requests", n)
	}
	now = now.Add(time.Minute)
	if n := count(one); n != 2 {
		t.Errorf("after the time to live: %d requests", n)
	}
	small := newClient(t, client.Options{URL: r.url, CacheBytesMax: 10})
	for range 2 {
		r.asked()
		if _, err := small.ByID(t.Context(), ".", one); err != nil || len(r.asked()) != 2 {
			t.Errorf("a cache that is too small: %v", err)
		}
	}
}

// graph serves made-up schemas: every version refers to what refs says.
func graph(refs func(subject string) []api.Reference) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		subject, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/subjects/"), "/")
		body, err := api.Marshal(api.Schema{Schema: `"text of ` + subject + `"`, References: refs(subject)})
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(body)
	}
}

// TestReferenceLimits: endless and huge graphs end with an error that is not
// "unknown".
func TestReferenceLimits(t *testing.T) {
	chain := func(subject string) []api.Reference {
		return []api.Reference{{Name: subject + "x", Subject: subject + "x", Version: 1}}
	}
	wide := func(subject string) []api.Reference {
		if strings.HasPrefix(subject, "w") {
			return nil
		}
		var refs []api.Reference
		for i := range 50 {
			refs = append(refs, api.Reference{Name: fmt.Sprint("w", i), Subject: fmt.Sprint("w", i), Version: 1})
		}
		return refs
	}
	for _, c := range []struct {
		name string
		refs func(string) []api.Reference
		o    client.Options
		want string
	}{
		{"deep", chain, client.Options{ReferenceDepthMax: 10}, "nested deeper than 10"},
		{"many", wide, client.Options{ReferencesMax: 49}, "more than 49 references"},
		{"big", wide, client.Options{ResolvedBytesMax: 100}, "more than 100 bytes"},
	} {
		r := startRemote(t)
		r.failWith(graph(c.refs))
		c.o.URL = r.url
		_, err := newClient(t, c.o).ByID(t.Context(), ".", 1)
		if !errors.Is(err, schema.ErrUnavailable) || errors.Is(err, schema.ErrUnknown) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	r := startRemote(t)
	r.failWith(graph(wide))
	if got, err := newClient(t, client.Options{URL: r.url, ReferencesMax: 50}).ByID(t.Context(), ".", 1); err != nil || len(got.Dependencies) != 50 {
		t.Errorf("at the limit: %d, %v", len(got.Dependencies), err)
	}
	// A cycle, which no registry stores, ends too.
	r.failWith(graph(func(string) []api.Reference { return []api.Reference{{Name: "a", Subject: "a", Version: 1}} }))
	if got, err := newClient(t, client.Options{URL: r.url}).ByID(t.Context(), ".", 1); err != nil || len(got.Dependencies) != 1 {
		t.Errorf("cycle: %+v, %v", got, err)
	}
}

func TestMissingReference(t *testing.T) {
	r := startRemote(t)
	r.failWith(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasPrefix(req.URL.Path, "/schemas/") {
			answers(200, `{"schema":"x","references":[{"name":"r","subject":"gone","version":3}]}`)(w, req)
			return
		}
		answers(404, `{"error_code":40401,"message":"Subject 'gone' not found."}`)(w, req)
	})
	_, err := newClient(t, client.Options{URL: r.url}).ByID(t.Context(), ".", 1)
	if !errors.Is(err, schema.ErrUnknown) || !errors.Is(err, errcode.SubjectNotFound) || !strings.Contains(err.Error(), `"r"`) {
		t.Errorf("%v", err)
	}
}

// TestContext: the caller's deadline ends attempts and waits.
func TestContext(t *testing.T) {
	r := startRemote(t)
	released := make(chan struct{})
	r.failWith(func(http.ResponseWriter, *http.Request) { <-released })
	defer close(released)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := newClient(t, client.Options{URL: r.url}).ByID(ctx, ".", 1)
	if !errors.Is(err, schema.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hanging server: %v", err)
	}
	c := newClient(t, client.Options{URL: r.url, AttemptTimeout: 5 * time.Millisecond, AttemptsMax: 2})
	if _, err := c.ByID(t.Context(), ".", 1); !errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("attempts that time out: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	c = newClient(t, client.Options{URL: "http://" + closedPort(t), RetryDelay: time.Hour})
	if _, err := c.ByID(ctx, ".", 1); !errors.Is(err, schema.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

// TestConcurrent: many callers share the question for a reference.
func TestConcurrent(t *testing.T) {
	r := startRemote(t)
	r.register(t, "base", `{"type":"record","name":"Base","fields":[]}`)
	id := r.register(t, "top", `{"type":"record","name":"Top","fields":[{"name":"b","type":"Base"}]}`, api.Reference{Name: "Base", Subject: "base", Version: 1})
	c := newClient(t, client.Options{URL: r.url})
	want, err := r.registry.ByID(t.Context(), ".", id)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if got, err := c.ByID(t.Context(), ".", id); err != nil || got.Key() != want.Key() {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	wg.Wait()
	references := 0
	for _, p := range r.asked() {
		if strings.HasPrefix(p, "/subjects/") {
			references++
		}
	}
	if references != 1 {
		t.Errorf("%d questions for one reference", references)
	}
}
