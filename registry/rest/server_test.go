package rest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"milena/registry"
	"milena/registry/store"
	"milena/registry/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

// listen serves s on a free port until the test ends.
func listen(t *testing.T, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return l.Addr().String()
}

// raw sends bytes and returns all that comes back until the server closes or
// is silent.
func raw(t *testing.T, address, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	// A server that closes with bytes unread resets the connection.
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("%.60q: %v", request, err)
	}
	return string(answer)
}

// TestRawRequests: what the HTTP layer refuses, over a connection.
func TestRawRequests(t *testing.T) {
	address := listen(t, openServer(t, registry.Options{}, Options{}))
	get := func(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n" }
	for _, c := range []struct {
		name, request, status string
		empty                 bool
	}{
		{"control character", get("/subjects/a%0Ab/versions"), "400", true},
		{"delete", get("/subjects/%7F"), "400", true},
		{"backslash", get("/subjects/%5C"), "400", true},
		{"dots", get("/subjects/%2E%2E/versions"), "400", true},
		{"empty segment", get("/subjects//versions"), "400", true},
		{"bad escape", get("/subjects/%zz"), "400", false},
		{"raw control character", get("/subjects/a\x01b"), "400", false},
		{"long target", get("/subjects/" + strings.Repeat("a", 9000)), "414", false},
		{"garbage", "\x00\x00\x00\x12\x00\x12\x00\x03 garbage\r\n\r\n", "400", false},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400", false},
		{"bad length", "POST /subjects/s HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", "400", false},
	} {
		answer := raw(t, address, c.request)
		head, body, _ := strings.Cut(answer, "\r\n\r\n")
		if !strings.Contains(strings.SplitN(head, "\r\n", 2)[0], " "+c.status+" ") || !strings.Contains(head, "Connection: close") {
			t.Errorf("%s: %.200q", c.name, answer)
		}
		if c.empty && (body != "" || strings.Contains(head, "Content-Type")) {
			t.Errorf("%s: %.200q", c.name, answer)
		}
	}
	huge := "GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 1<<20) + "\r\n\r\n"
	if answer := raw(t, address, huge); answer != "" && !strings.HasPrefix(answer, "HTTP/1.1 431 ") {
		t.Errorf("huge headers: %.200q", answer)
	}
	resp, err := http.Get("http://" + address + "/")
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("after all that: %v", err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

// TestSlowClients: a client that stops in the middle is let go of.
func TestSlowClients(t *testing.T) {
	address := listen(t, openServer(t, registry.Options{}, Options{Limits: Limits{
		HeaderTimeout: 50 * time.Millisecond, RequestTimeout: 50 * time.Millisecond, IdleTimeout: 50 * time.Millisecond,
	}}))
	for _, request := range []string{
		"GET /subjects HTTP/1.1\r\nHost:",
		"POST /subjects/s/versions HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{",
		"",
	} {
		start := time.Now()
		raw(t, address, request)
		if took := time.Since(start); took > 8*time.Second {
			t.Errorf("%.30q held its connection for %v", request, took)
		}
	}
}

func TestBodyLimits(t *testing.T) {
	s := openServer(t, registry.Options{}, Options{Limits: Limits{BodyBytesMax: 100, BodiesBytesMax: 150}})
	address := listen(t, s)
	schema := func(n int) string { return fmt.Sprintf(`{"schema":"%s"}`, strings.Repeat("x", n-13)) }
	post := func(body, framing string) string {
		return raw(t, address, "POST /subjects/s/versions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+framing+"\r\n\r\n"+body)
	}
	length := func(body string) string { return fmt.Sprintf("Content-Length: %d", len(body)) }
	chunked := func(body string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body) }
	if got := post(schema(100), length(schema(100))); !strings.Contains(got, "42201") {
		t.Errorf("at the limit: %s", got)
	}
	if got := post(schema(101), length(schema(101))); !strings.Contains(got, `{"error_code":413,"message":"Request body is too large: 101>100"}`) {
		t.Errorf("above the limit: %s", got)
	}
	if got := post(chunked(schema(100)), "Transfer-Encoding: chunked"); !strings.Contains(got, "42201") {
		t.Errorf("chunks at the limit: %s", got)
	}
	if got := post(chunked(schema(5000)), "Transfer-Encoding: chunked"); !strings.Contains(got, `"message":"Request body is too large: 101>100"`) {
		t.Errorf("chunks above the limit: %s", got)
	}
	// What is reserved is given back.
	if n := s.bodyBytes.Load(); n != 0 {
		t.Errorf("%d bytes are still reserved", n)
	}
	s.bodyBytes.Add(100)
	if got := post(schema(60), length(schema(60))); !strings.Contains(got, " 503 ") || !strings.Contains(got, "Retry-After: 1") {
		t.Errorf("too many bytes at work: %s", got)
	}
	s.bodyBytes.Add(-100)
}

// TestBodyValues: a body of many small values counts as the memory that it takes
// once it is decoded; what stands in a string does not.
func TestBodyValues(t *testing.T) {
	s := openServer(t, registry.Options{}, Options{Limits: Limits{BodiesBytesMax: 16 << 20}})
	post := func(body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/subjects/s/versions", strings.NewReader(body)))
		return w
	}
	values := `{"unknown":[` + strings.Repeat("[],", 500_000) + `1],"schema":"\"int\""}`
	if w := post(values); w.Code != 400 || !strings.Contains(w.Body.String(), "too many values") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := post(`{"unknown":"` + strings.Repeat(`[],\"`, 500_000) + `","schema":"\"int\""}`); w.Code != 200 {
		t.Errorf("in a string: %d %s", w.Code, w.Body)
	}
	few := `{"unknown":[` + strings.Repeat("[],", 50_000) + `1],"schema":"\"int\""}`
	if w := post(few); w.Code != 200 {
		t.Errorf("fewer: %d %s", w.Code, w.Body)
	}
	s.bodyBytes.Add(14 << 20)
	if w := post(few); w.Code != 503 {
		t.Errorf("with others at work: %d %s", w.Code, w.Body)
	}
	s.bodyBytes.Add(-14 << 20)
	if n := s.bodyBytes.Load(); n != 0 {
		t.Errorf("%d bytes are still reserved", n)
	}
}

// gatedLog lets appends wait.
type gatedLog struct {
	store.Log
	entered chan struct{}
	gate    chan struct{}
}

func (l *gatedLog) Append(ctx context.Context, expected int64, entries []store.Entry) (int64, error) {
	l.entered <- struct{}{}
	<-l.gate
	return l.Log.Append(ctx, expected, entries)
}

// TestOverloadAndShutdown: requests above the bound are refused at once, and a
// shutdown waits for those at work.
func TestOverloadAndShutdown(t *testing.T) {
	inner := memory.New()
	t.Cleanup(func() { _ = inner.Close() })
	log := &gatedLog{Log: inner, entered: make(chan struct{}, 1), gate: make(chan struct{})}
	s := openServer(t, registry.Options{Log: log}, Options{Limits: Limits{RequestsMax: 1}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	registered := make(chan string, 1)
	go func() {
		resp, err := client.Post("http://"+l.Addr().String()+"/subjects/s/versions", typeJSON, strings.NewReader(`{"schema":"\"int\""}`))
		if err != nil {
			registered <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		registered <- string(body)
	}()
	<-log.entered
	resp, err := client.Get("http://" + l.Addr().String() + "/subjects")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("overload: %d %v", resp.StatusCode, resp.Header)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	select {
	case err := <-stopped:
		t.Fatalf("shutdown did not wait: %v", err)
	default:
	}
	close(log.gate)
	if err := <-stopped; err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if got := <-registered; !strings.Contains(got, `"id":1`) {
		t.Errorf("the request at work: %s", got)
	}
}

// TestShutdownCutsOff: a shutdown that may wait no longer ends all the same.
func TestShutdownCutsOff(t *testing.T) {
	inner := memory.New()
	t.Cleanup(func() { _ = inner.Close() })
	log := &gatedLog{Log: inner, entered: make(chan struct{}, 1), gate: make(chan struct{})}
	s := openServer(t, registry.Options{Log: log}, Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	answered := make(chan error, 1)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	go func() {
		resp, err := client.Post("http://"+l.Addr().String()+"/subjects/s/versions", typeJSON, strings.NewReader(`{"schema":"\"int\""}`))
		if err == nil {
			_ = resp.Body.Close()
		}
		answered <- err
	}()
	<-log.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("shutdown: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if err := <-answered; err == nil {
		t.Error("the request at work was answered")
	}
	close(log.gate)
}

// TestHostileSchemas: depth and size are refused quickly, by name.
func TestHostileSchemas(t *testing.T) {
	h := openServer(t, registry.Options{}, Options{}).Handler()
	deep := strings.Repeat(`{"type":"array","items":`, 100_000) + `"int"` + strings.Repeat("}", 100_000)
	for name, body := range map[string]string{
		"100,000 arrays": quoteSchema(t, deep[:900_000]),
		"100,000 unions": quoteSchema(t, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)),
		"2.5 MB":         quoteSchema(t, deep),
		"wide enum":      quoteSchema(t, `{"type":"enum","name":"E","symbols":["a`+strings.Repeat(`","a`, 180_000)+`"]}`),
	} {
		for _, path := range []string{"/subjects/s/versions", "/subjects/s", "/compatibility/subjects/s/versions"} {
			start := time.Now()
			w := do(t, h, "POST", path, body)
			if took := time.Since(start); w.Code != 422 || took > 5*time.Second || w.Body.Len() > 4<<20 {
				t.Errorf("%s to %s: %d after %v, %d bytes: %.200s", name, path, w.Code, took, w.Body.Len(), w.Body)
			}
		}
	}
	nested := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	if w := do(t, h, "POST", "/subjects/s/versions", nested); w.Code != 400 {
		t.Errorf("nested body: %d %.200s", w.Code, w.Body)
	}
}

func quoteSchema(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(map[string]string{"schema": text})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestConcurrentRegistrations: one schema from many connections is one version.
func TestConcurrentRegistrations(t *testing.T) {
	address := listen(t, openServer(t, registry.Options{}, Options{}))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	answers := make(chan string, 64)
	for i := range 64 {
		wg.Go(func() {
			body := fmt.Sprintf(`{"schema":"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"f%d\",\"type\":\"int\",\"default\":0}]}"}`, i%4)
			resp, err := client.Post("http://"+address+"/subjects/s/versions", typeV1, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			text, err := bufio.NewReader(resp.Body).ReadString('}')
			if err != nil && err != io.EOF {
				t.Error(err)
			}
			answers <- text
		})
	}
	wg.Wait()
	close(answers)
	different := map[string]bool{}
	for a := range answers {
		different[a] = true
	}
	resp, err := client.Get("http://" + address + "/subjects/s/versions")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	list, _ := io.ReadAll(resp.Body)
	if len(different) != 4 || string(list) != "[1,2,3,4]" {
		t.Errorf("%d answers, versions %s", len(different), list)
	}
}
