package rest

import (
	"bufio"
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"milena/registry"
	"milena/registry/kms"
	"milena/registry/store/memory"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/*.txt")

// seen collects what a server answered, by row of the table. mu guards the maps.
type seen struct {
	mu    sync.Mutex
	happy map[string]bool
	codes map[string]map[int]bool
}

func newSeen() *seen { return &seen{happy: map[string]bool{}, codes: map[string]map[int]bool{}} }

// observer returns an observer that fails the test when a route answers with a
// code that its row does not list.
func (s *seen) observer(t *testing.T) Observer {
	listed := map[string][]int{}
	for _, r := range Routes() {
		listed[r.Method+" "+r.Pattern] = r.Codes
	}
	return Observer{Answered: func(method, pattern string, status, code int, _ time.Duration) {
		if method == http.MethodHead {
			method = http.MethodGet
		}
		key := method + " " + strings.TrimPrefix(pattern, contextPrefix)
		if pattern == contextPrefix {
			key = method + " " + pattern
		}
		codes, ok := listed[key]
		if !ok {
			return // no row: 404, 405, OPTIONS
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if code == 0 {
			s.happy[key] = true
			return
		}
		if !slices.Contains(codes, code) {
			t.Errorf("%s answered %d, which its row does not list", key, code)
		}
		if s.codes[key] == nil {
			s.codes[key] = map[int]bool{}
		}
		s.codes[key][code] = true
	}}
}

// openServer returns a server over an empty registry in memory, whose clock
// stands still.
func openServer(t *testing.T, ro registry.Options, so Options) *Server {
	t.Helper()
	if ro.Log == nil {
		log := memory.New()
		t.Cleanup(func() { _ = log.Close() })
		ro.Log = log
	}
	ro.Now = func() time.Time { return time.UnixMilli(1_700_000_000_000) }
	var guids atomic.Int64
	ro.NewGUID = func() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", guids.Add(1)) }
	r, err := registry.Open(t.Context(), ro)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	s, err := New(r, so)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exchange is one entry of a transcript.
type exchange struct {
	comments     []string
	method, path string
	body         string
	want         string
}

// transcript is a file of exchanges: "METHOD path" and lines of the body, "---",
// then status and body of the answer. Entries are apart by an empty line; lines
// with a "#" before an entry are comments, "#! name" among the first ones sets
// an option of the registry.
type transcript struct {
	options   registry.Options
	exchanges []exchange

	noRemoteImport bool // the server's option
}

func readTranscript(t *testing.T, file string) transcript {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out transcript
	out.options.KMS = kms.Services{kms.Local{}, deniedKMS{}}
	var x exchange
	answering := false
	end := func() {
		if x.method != "" || len(x.comments) > 0 {
			x.body, x.want = strings.TrimSuffix(x.body, "\n"), strings.TrimSuffix(x.want, "\n")
			out.exchanges = append(out.exchanges, x)
		}
		x, answering = exchange{}, false
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "":
			end()
		case x.method == "" && strings.HasPrefix(line, "#"):
			x.comments = append(x.comments, line)
			switch line {
			case "#! fixed-modes":
				out.options.FixedModes = true
			case "#! few-keys":
				out.options.Limits.KeysMax = 2
			case "#! no-remote-import":
				out.noRemoteImport = true
			case "#! small-schemas":
				out.options.Limits.SchemaBytesMax = 200
			}
		case x.method == "":
			x.method, x.path, _ = strings.Cut(line, " ")
		case !answering && line == "---":
			answering = true
		case answering:
			x.want += line + "\n"
		default:
			x.body += line + "\n"
		}
	}
	end()
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// deniedKMS is a key management service, "denied-kms", that opens nothing.
type deniedKMS struct{}

func (deniedKMS) Type() string { return "denied-kms" }

func (deniedKMS) Open(context.Context, string, map[string]string) (kms.Key, error) {
	return nil, kms.ErrDenied
}

// do sends a request as it would arrive from the network.
func do(t *testing.T, h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", method, path, len(body))
	for _, line := range header {
		text += line + "\r\n"
	}
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text + "\r\n" + body)))
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req.WithContext(context.WithoutCancel(t.Context())))
	return w
}

func show(w *httptest.ResponseRecorder) string {
	return strings.TrimSuffix(fmt.Sprintf("%d\n%s", w.Code, w.Body.String()), "\n")
}

func play(t *testing.T, script transcript, prefix string, so Options) []string {
	t.Helper()
	so.NoRemoteImport = script.noRemoteImport
	s := openServer(t, script.options, so)
	var got []string
	for _, x := range script.exchanges {
		if x.method == "" {
			got = append(got, "")
			continue
		}
		path := x.path
		if prefix != "" && !strings.HasPrefix(path, contextPrefix[:10]) && !strings.HasPrefix(path, "/milena/") && path != "/" {
			path = prefix + path
		}
		got = append(got, show(do(t, s.Handler(), x.method, path, bodyOf(t, x.body))))
	}
	return got
}

// bodyOf returns the body that a transcript means: behind "base64:" are bytes.
func bodyOf(t *testing.T, text string) string {
	t.Helper()
	encoded, ok := strings.CutPrefix(text, "base64:")
	if !ok {
		return text
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func transcripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	return files
}

// TestTranscripts plays every transcript, and wants each row of the table to
// have a success and each of its codes among them.
func TestTranscripts(t *testing.T) {
	all := newSeen()
	for _, file := range transcripts(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			script := readTranscript(t, file)
			got := play(t, script, "", Options{Observer: all.observer(t), Logger: slog.New(slog.DiscardHandler), Version: "8.5.0", Commit: "abc"})
			if *update {
				rewrite(t, file, script, got)
				return
			}
			for i, x := range script.exchanges {
				if got[i] != x.want {
					t.Errorf("%s %s\n%s\ngot  %s\nwant %s", x.method, x.path, x.body, got[i], x.want)
				}
			}
		})
	}
	// Too long for a transcript, and in a file of its own.
	do(t, openServer(t, registry.Options{}, Options{Observer: all.observer(t)}).Handler(), http.MethodGet, "/milena/v1/openapi.json", "")
	rows := table()
	for i := range rows {
		key := rows[i].method + " " + rows[i].pattern
		if !all.happy[key] {
			t.Errorf("no transcript shows a success of %s", key)
		}
		for _, row := range rows[i].codes {
			if !all.codes[key][row.Code] {
				t.Errorf("no transcript shows %d of %s", row.Code, key)
			}
		}
	}
}

// TestTranscriptsBelowDefaultContext: the default context by name is what it is
// without one, for all that stays within it.
func TestTranscriptsBelowDefaultContext(t *testing.T) {
	for _, file := range transcripts(t) {
		if strings.HasPrefix(filepath.Base(file), "contexts") {
			continue
		}
		for _, prefix := range []string{"/contexts/:.:", "/contexts/."} {
			script := readTranscript(t, file)
			got := play(t, script, prefix, Options{Version: "8.5.0", Commit: "abc"})
			for i, x := range script.exchanges {
				if got[i] != x.want {
					t.Errorf("%s: %s %s%s\ngot  %s\nwant %s", file, x.method, prefix, x.path, got[i], x.want)
				}
			}
		}
	}
}

func rewrite(t *testing.T, file string, script transcript, got []string) {
	t.Helper()
	var b strings.Builder
	for i, x := range script.exchanges {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, c := range x.comments {
			b.WriteString(c + "\n")
		}
		if x.method == "" {
			continue
		}
		fmt.Fprintf(&b, "%s %s\n", x.method, x.path)
		if x.body != "" {
			b.WriteString(x.body + "\n")
		}
		b.WriteString("---\n" + got[i] + "\n")
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRoutes wants a table without contradictions.
func TestRoutes(t *testing.T) {
	bySignature := map[string]bool{}
	rows := table()
	for i := range rows {
		r := &rows[i]
		key := r.method + " " + r.pattern
		if bySignature[key] {
			t.Errorf("%s is listed twice", key)
		}
		bySignature[key] = true
		if (r.method == http.MethodPut) != (r.bodyName != "") && r.method != http.MethodPost {
			t.Errorf("%s: bodies are for PUT and POST", key)
		}
		if r.handle == nil || r.access == "" {
			t.Errorf("%s lacks a handler or an access", key)
		}
		if r.flags&writes != 0 && r.access == Read {
			t.Errorf("%s changes something and needs more than reading", key)
		}
		if sorted := slices.Compact(slices.Sorted(slices.Values(r.query))); len(sorted) != len(r.query) {
			t.Errorf("%s lists a parameter twice", key)
		}
		common := map[int]bool{}
		for _, row := range r.common() {
			common[row.Code] = true
		}
		for _, row := range r.codes {
			if common[row.Code] {
				t.Errorf("%s lists %d, which every such route answers", key, row.Code)
			}
		}
	}
	described := Routes()
	if len(described) != len(rows) {
		t.Errorf("Routes describes %d of %d rows", len(described), len(rows))
	}
	for p, methods := range allowed(rows) {
		for _, m := range methods {
			if m != http.MethodHead && m != http.MethodOptions && !slices.ContainsFunc(rows, func(r route) bool {
				return r.method == m && slices.Contains(r.patterns(), p)
			}) {
				t.Errorf("Allow of %s names %s", p, m)
			}
		}
	}
}
