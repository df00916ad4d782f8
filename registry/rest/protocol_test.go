package rest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/store"
	"milena/registry/store/memory"
)

func TestHeaders(t *testing.T) {
	h := openServer(t, registry.Options{}, Options{}).Handler()
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		contentType              string // "-" means none
		wantBody                 string
	}{
		{"default", "GET", "/subjects", "", nil, 200, typeV1, "[]"},
		{"error with type", "GET", "/subjects/none/versions", "", []string{"Accept: application/json"}, 404, typeJSON,
			`{"error_code":40401,"message":"Subject 'none' not found."}`},
		{"parameter", "GET", "/subjects", "", []string{"Accept: application/json;charset=utf-8"}, 200, typeJSON + ";charset=utf-8", "[]"},
		{"unacceptable", "GET", "/schemas/types", "", []string{"Accept: text/html"}, 406, "-",
			`{"error_code":406,"message":"HTTP 406 Not Acceptable"}`},
		{"unknown path", "GET", "/nothing", "", nil, 404, "-", `{"error_code":404,"message":"HTTP 404 Not Found"}`},
		{"unknown path, unacceptable", "GET", "/nothing", "", []string{"Accept: text/html"}, 404, "-",
			`{"error_code":404,"message":"HTTP 404 Not Found"}`},
		{"wrong method", "PUT", "/subjects", "{}", nil, 405, "-", `{"error_code":405,"message":"HTTP 405 Method Not Allowed"}`},
		{"odd id", "GET", "/schemas/ids/abc", "", nil, 404, typeV1, `{"error_code":404,"message":"HTTP 404 Not Found"}`},
		{"form", "POST", "/subjects/s/versions", "a=b", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, typeV1,
			`{"error_code":415,"message":"HTTP 415 Unsupported Media Type"}`},
		{"no type", "POST", "/subjects/s/versions", "{}", []string{"Content-Type: json"}, 400, typeV1,
			`{"error_code":400,"message":"Bad Request"}`},
		{"octets", "POST", "/subjects/s/versions", `{"schema":"\"int\""}`, []string{"Content-Type: application/octet-stream"}, 200, typeV1, "int"},
		{"type on GET", "GET", "/subjects/s/versions", "", []string{"Content-Type: text/plain"}, 200, typeV1, "[1]"},
		{"raw text", "GET", "/subjects/s/versions/1/schema", "", []string{"Accept: application/json"}, 200, typeJSON, `"int"`},
		{"raw text, unacceptable", "GET", "/subjects/s/versions/1/schema", "", []string{"Accept: text/plain"}, 406, "-", ""},
		{"gzip body", "POST", "/subjects/z/versions", zipped(t, `{"schema":"\"int\""}`), []string{"Content-Encoding: gzip"}, 400, typeV1, "Malformed JSON"},
		{"no content", "DELETE", "/contexts/none", "", nil, 204, "-", ""},
		{"root as POST with any type", "POST", "/", "x", []string{"Content-Type: text/plain"}, 200, typeV1, "{}"},
	} {
		w := do(t, h, c.method, c.path, c.body, c.header...)
		got := w.Header().Get("Content-Type")
		if len(w.Header()["Content-Type"]) == 0 {
			got = "-"
		}
		if w.Code != c.status || got != c.contentType || !strings.Contains(w.Body.String(), c.wantBody) {
			t.Errorf("%s: %d %q %s", c.name, w.Code, got, w.Body)
		}
		if w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", c.name)
		}
	}
}

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRequestID(t *testing.T) {
	h := openServer(t, registry.Options{}, Options{}).Handler()
	if got := do(t, h, "GET", "/", "", "X-Request-ID: abc-1").Header().Get("X-Request-Id"); got != "abc-1" {
		t.Errorf("own id: %q", got)
	}
	random := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	for _, header := range []string{"X: y", "X-Request-ID: " + strings.Repeat("a", requestIDBytesMax+1), "X-Request-ID: \xff"} {
		if got := do(t, h, "GET", "/", "", header).Header().Get("X-Request-Id"); !random.MatchString(got) {
			t.Errorf("%.20q: %q", header, got)
		}
	}
}

func TestOptionsAndHead(t *testing.T) {
	h := openServer(t, registry.Options{}, Options{}).Handler()
	for path, allow := range map[string]string{
		"/":                                   "HEAD,GET,POST,OPTIONS",
		"/subjects":                           "HEAD,GET,OPTIONS",
		"/subjects/s/":                        "POST,DELETE,OPTIONS",
		"/subjects/s/versions":                "HEAD,GET,POST,OPTIONS",
		"/contexts/.c":                        "DELETE,OPTIONS",
		"/contexts/.c/config":                 "HEAD,GET,PUT,DELETE,OPTIONS",
		"/contexts/.c/subjects/s%2Ft":         "POST,DELETE,OPTIONS",
		"/compatibility/subjects/s/versions/": "POST,OPTIONS",
	} {
		w := do(t, h, "OPTIONS", path, "", "Accept: text/html")
		if w.Code != 200 || w.Header().Get("Allow") != allow || w.Body.Len() != 0 || len(w.Header()["Content-Type"]) != 0 {
			t.Errorf("OPTIONS %s: %d %v %q", path, w.Code, w.Header(), w.Body)
		}
		w = do(t, h, "PATCH", path, "{}")
		if w.Code != 405 || w.Header().Get("Allow") != allow {
			t.Errorf("PATCH %s: %d %v", path, w.Code, w.Header())
		}
	}
	if w := do(t, h, "OPTIONS", "/nothing", ""); w.Code != 404 {
		t.Errorf("OPTIONS of an unknown path: %d", w.Code)
	}
	for _, path := range []string{"/subjects", "/subjects/none/versions", "/schemas/ids/99", "/nothing"} {
		get, head := do(t, h, "GET", path, ""), do(t, h, "HEAD", path, "")
		if head.Code != get.Code || head.Body.Len() != 0 || head.Header().Get("Content-Type") != get.Header().Get("Content-Type") ||
			head.Header().Get("Content-Length") != fmt.Sprint(get.Body.Len()) {
			t.Errorf("HEAD %s: %d %v %q", path, head.Code, head.Header(), head.Body)
		}
	}
}

func TestGzip(t *testing.T) {
	h := openServer(t, registry.Options{}, Options{}).Handler()
	long := fmt.Sprintf(`{"schema":"{\"type\":\"record\",\"name\":\"R\",\"doc\":\"%s\",\"fields\":[]}"}`, strings.Repeat("long ", 500))
	if w := do(t, h, "POST", "/subjects/s/versions", long); w.Code != 200 {
		t.Fatal(w.Body)
	}
	plain := do(t, h, "GET", "/schemas/ids/1", "")
	for range 2 { // the second with a used writer
		w := do(t, h, "GET", "/schemas/ids/1", "", "Accept-Encoding: gzip, deflate")
		if w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("Vary") != "Accept-Encoding" || w.Body.Len() >= plain.Body.Len() {
			t.Fatalf("%v, %d bytes", w.Header(), w.Body.Len())
		}
		r, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain.Body.Bytes()) {
			t.Fatalf("%s, %v", got, err)
		}
	}
	if w := do(t, h, "GET", "/subjects", "", "Accept-Encoding: gzip"); w.Header().Get("Content-Encoding") != "" || w.Body.String() != `["s"]` {
		t.Errorf("short answer: %v %q", w.Header(), w.Body)
	}
}

// failingLog is a log that can't be written or read once it is broken.
type failingLog struct {
	store.Log
	err error
}

func (l failingLog) Append(context.Context, int64, []store.Entry) (int64, error) { return 0, l.err }

// TestServerErrors: what goes wrong inside is logged once, with its cause, and
// the client reads none of it.
func TestServerErrors(t *testing.T) {
	cause := errors.New("disk on fire")
	var log bytes.Buffer
	memoryLog := memory.New()
	defer memoryLog.Close()
	all := newSeen()
	s := openServer(t, registry.Options{Log: failingLog{memoryLog, cause}},
		Options{Logger: slog.New(slog.NewJSONHandler(&log, nil)), Observer: all.observer(t)})
	w := do(t, s.Handler(), "POST", "/subjects/secret/versions", `{"schema":"\"int\""}`)
	if w.Code != 500 || w.Body.String() != `{"error_code":50001,"message":"Error while writing to the log"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("log %q: %v", log.String(), err)
	}
	if line["pattern"] != "/subjects/{subject}/versions" || line["request_id"] != w.Header().Get("X-Request-Id") ||
		!strings.Contains(log.String(), cause.Error()) || strings.Contains(log.String(), "secret") {
		t.Errorf("log %s", log.String())
	}
	for _, x := range [][3]string{
		{"PUT", "/config", `{"compatibility":"NONE"}`}, {"PUT", "/mode/s", `{"mode":"READONLY"}`},
	} {
		if w := do(t, s.Handler(), x[0], x[1], x[2]); w.Code != 500 || !strings.Contains(w.Body.String(), "50001") {
			t.Errorf("%v: %d %s", x, w.Code, w.Body)
		}
	}
}

// TestPanic: a bug in one handler is an internal error of one request.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	codes := map[string]int{}
	s := openServer(t, registry.Options{}, Options{
		Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		Observer: Observer{Answered: func(_, pattern string, status, code int, _ time.Duration) { codes[pattern] = status*1000 + code }},
	})
	s.registry = nil // the first thing that a handler touches
	w := do(t, s.Handler(), "GET", "/subjects", "")
	if w.Code != 500 || w.Body.String() != `{"error_code":500,"message":"Internal Server Error"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "panic") || codes["/subjects"] != 500_500 {
		t.Errorf("log %s, observed %v", log.String(), codes)
	}
	if s.working.Load() != 0 {
		t.Errorf("%d requests still count as at work", s.working.Load())
	}
}

// TestObserver wants labels that come from the table only.
func TestObserver(t *testing.T) {
	var got []string
	s := openServer(t, registry.Options{}, Options{Observer: Observer{Answered: func(method, pattern string, status, code int, _ time.Duration) {
		got = append(got, fmt.Sprint(method, " ", pattern, " ", status, " ", code))
	}}})
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/subjects/", "GET /subjects 200 0"},
		{"GET", "/contexts/.c/subjects", "GET /contexts/{context}/subjects 200 0"},
		{"GET", "/subjects/a%2Fb/versions/1", "GET /subjects/{subject}/versions/{version} 404 40401"},
		{"HEAD", "/schemas/types", "HEAD /schemas/types 200 0"},
		{"GET", "/random/path", "GET other 404 404"},
		{"GET", "/config/a/b", "GET other 404 404"},
		{"GET", "/subjects//", "GET other 400 400"},
		{"GET", "/schemas/ids/x", "GET /schemas/ids/{id} 404 404"},
		{"GET", "/" + strings.Repeat("a", targetBytesMax), "GET other 414 414"},
		{"PATCH", "/config", "PATCH /config 405 405"},
		{"BREW", "/config", "OTHER /config 405 405"},
		{"OPTIONS", "/config", "OPTIONS /config 200 0"},
	} {
		got = nil
		do(t, s.Handler(), c.method, c.path, "")
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s %.30s: %q, want %q", c.method, c.path, got, c.want)
		}
	}
}

// TestContextEnds: who has gone gets no answer that counts as our failure.
func TestContextEnds(t *testing.T) {
	s := openServer(t, registry.Options{}, Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/subjects", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := newRecorder()
	s.Handler().ServeHTTP(w, req.WithContext(ctx))
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestNewWithoutRegistry(t *testing.T) {
	if _, err := New(nil, Options{}); err == nil {
		t.Error("a server without a registry")
	}
}

// TestAnswersAreRead: what the server writes is what the client's types read.
func TestAnswersAreRead(t *testing.T) {
	h := openServer(t, registry.Options{}, Options{}).Handler()
	w := do(t, h, "POST", "/subjects/s/versions", `{"schema":"\"int\""}`)
	var registered api.RegisterResponse
	if err := json.Unmarshal(w.Body.Bytes(), &registered); err != nil || registered.ID != 1 || registered.Version != 1 {
		t.Errorf("%+v, %v", registered, err)
	}
	var text api.SchemaString
	w = do(t, h, "GET", "/schemas/ids/1", "")
	if err := json.Unmarshal(w.Body.Bytes(), &text); err != nil || text.Schema != `"int"` || text.Deleted == nil || *text.Deleted {
		t.Errorf("%+v, %v", text, err)
	}
}
