package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"milena/registry/api"
	"milena/registry/client"
	"milena/registry/errcode"
	"milena/serde/schema"
)

// TestRepetition: reads and repeatable changes are tried again after every
// passing failure, others only when nothing was done.
func TestRepetition(t *testing.T) {
	read := func(c *client.Client) error { _, err := c.Types(t.Context()); return err }
	register := func(c *client.Client) error {
		_, err := c.Register(t.Context(), "s", api.RegisterRequest{Schema: ptr("x")}, client.RegisterOptions{})
		return err
	}
	remove := func(c *client.Client) error { _, err := c.DeleteVersion(t.Context(), "s", "1", false); return err }
	for _, c := range []struct {
		name     string
		do       func(*client.Client) error
		status   int // 0: the connection breaks
		attempts int
	}{
		{"read", read, 408, 3}, {"read", read, 429, 3}, {"read", read, 500, 3}, {"read", read, 502, 3}, {"read", read, 503, 3},
		{"read", read, 504, 3}, {"read", read, 0, 3}, {"read", read, 501, 1}, {"read", read, 409, 1}, {"read", read, 201, 1},
		{"register", register, 500, 3}, {"register", register, 0, 3}, {"register", register, 409, 1},
		{"delete", remove, 500, 1}, {"delete", remove, 504, 1}, {"delete", remove, 0, 1}, {"delete", remove, 429, 3}, {"delete", remove, 503, 3},
	} {
		var asked int
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.status == 0 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(c.status)
		}))
		cl := newClient(t, client.Options{
			URL: web.URL, Observer: client.Observer{Asked: func(int, time.Duration) { asked++ }},
			// A broken connection that was idle is tried again below us.
			Transport: &http.Transport{DisableKeepAlives: true},
		})
		err := c.do(cl)
		web.Close()
		if asked != c.attempts || err == nil {
			t.Errorf("%s %d: %d attempts, %v; want %d", c.name, c.status, asked, err, c.attempts)
		}
		var answered *errcode.Error
		if errors.As(err, &answered) != (c.status != 0) || c.status != 0 && answered.Row.Status != c.status {
			t.Errorf("%s %d: %v", c.name, c.status, err)
		}
		if passing := c.status != 501 && c.status != 409 && c.status != 201; errors.Is(err, schema.ErrUnavailable) != passing {
			t.Errorf("%s %d: %v", c.name, c.status, err)
		}
		// Nobody listens: nothing was done.
		asked = 0
		if err := c.do(cl); !errors.Is(err, schema.ErrUnavailable) || asked != 3 {
			t.Errorf("%s, nobody there: %d attempts, %v", c.name, asked, err)
		}
	}
}

// TestRetryAfter: the next attempt is not before the time that an answer names,
// which is cut to two seconds.
func TestRetryAfter(t *testing.T) {
	for header, least := range map[string]time.Duration{"1": time.Second, "86400": 2 * time.Second, "": 0, "soon": 0, "-5": 0} {
		t.Run("after "+header, func(t *testing.T) {
			t.Parallel()
			var last atomic.Int64
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if last.Swap(time.Now().UnixNano()) != 0 {
					_, _ = w.Write([]byte(`[]`))
					return
				}
				if header != "" {
					w.Header().Set("Retry-After", header)
				}
				w.WriteHeader(429)
			}))
			defer web.Close()
			c := newClient(t, client.Options{URL: web.URL})
			start := time.Now()
			if _, err := c.Types(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took < least || took > least+time.Second {
				t.Errorf("took %v, want %v", took, least)
			}
		})
	}
}

// TestCredentials: who asks, per URL and for all.
func TestCredentials(t *testing.T) {
	var header http.Header
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		header = req.Header
		_, _ = w.Write([]byte(`[]`))
	}))
	defer web.Close()
	address := strings.TrimPrefix(web.URL, "http://")
	token := func(text string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return text, err }
	}
	for _, c := range []struct {
		name string
		o    client.Options
		want string
	}{
		{"none", client.Options{URL: web.URL}, ""},
		{"option", client.Options{URL: web.URL, User: "u", Password: "p"}, "Basic dTpw"},
		{"URL wins", client.Options{URL: "http://u:p@" + address, User: "other"}, "Basic dTpw"},
		{"token", client.Options{URL: web.URL, Token: token("abc", nil)}, "Bearer abc"},
	} {
		c.o.Header = http.Header{"target-sr-cluster": {"lsrc-1"}}
		if _, err := newClient(t, c.o).Types(t.Context()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := header.Get("Authorization"); got != c.want || header.Get("Target-Sr-Cluster") != "lsrc-1" {
			t.Errorf("%s: %q", c.name, header)
		}
	}
	lost := errors.New("no token today")
	if _, err := newClient(t, client.Options{URL: web.URL, Token: token("", lost)}).Types(t.Context()); !errors.Is(err, lost) || !errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("no token: %v", err)
	}
	if _, err := client.New(client.Options{URL: "http://u:p@h", Token: token("x", nil)}); err == nil || !strings.Contains(err.Error(), "both") {
		t.Errorf("both: %v", err)
	}
}

// TestTLS: the server's certificate is checked, and the client shows its own.
func TestTLS(t *testing.T) {
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = fmt.Fprintf(w, `["%d"]`, len(req.TLS.PeerCertificates))
	}))
	web.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // a refused handshake is part of the test
	web.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	web.StartTLS()
	defer web.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(web.Certificate())
	config := &tls.Config{RootCAs: trusted, Certificates: web.TLS.Certificates}
	got, err := newClient(t, client.Options{URL: web.URL, TLS: config}).Types(t.Context())
	if err != nil || fmt.Sprint(got) != "[1]" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := newClient(t, client.Options{URL: web.URL, AttemptsMax: 1}).Types(t.Context()); !errors.Is(err, schema.ErrUnavailable) {
		t.Errorf("unknown authority: %v", err)
	}
}

// TestHealth tells which URL answers.
func TestHealth(t *testing.T) {
	r := startRemote(t)
	dead := "http://" + closedPort(t)
	c := newClient(t, client.Options{URL: "http://u:secret@" + strings.TrimPrefix(dead, "http://") + "," + r.url, AttemptsMax: 1})
	if h := c.Health(); !h.Healthy || len(h.URLs) != 2 || !h.URLs[0].LastSuccess.IsZero() {
		t.Errorf("nothing asked: %+v", h)
	}
	if _, err := c.Types(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := c.Health()
	if !h.Healthy || h.URLs[0].URL != dead || h.URLs[0].Err == nil || h.URLs[0].Failures != 1 || h.URLs[0].Current ||
		h.URLs[1].Err != nil || h.URLs[1].LastSuccess.IsZero() || !h.URLs[1].Current {
		t.Errorf("one dead: %+v", h)
	}
	r.failWith(answers(503, ""))
	for range 2 {
		if _, err := c.Types(t.Context()); !errors.Is(err, schema.ErrUnavailable) {
			t.Error(err)
		}
	}
	if h := c.Health(); h.Healthy || h.URLs[1].Failures != 2 || h.URLs[0].Failures != 3 {
		t.Errorf("all dead: %+v", h)
	}
	r.fail.Store(nil)
	if _, err := c.Version(t.Context(), "none", client.Latest, client.VersionQuery{}); !errors.Is(err, errcode.SubjectNotFound) {
		t.Error(err)
	}
	if h := c.Health(); !h.Healthy || h.URLs[1].Failures != 0 {
		t.Errorf("a refusal is an answer: %+v", h)
	}
}

// TestResolve reads references of a schema that is at hand.
func TestResolve(t *testing.T) {
	r := startRemote(t)
	r.register(t, ":.c:base", `{"type":"record","name":"Base","fields":[]}`)
	c := newClient(t, client.Options{URL: r.url})
	refs := []api.Reference{{Name: "Base", Subject: "base", Version: 1}}
	for name, ask := range map[string]func() (schema.Resolved, error){
		"by subject": func() (schema.Resolved, error) { return c.Resolve(t.Context(), ":.c:s", "AVRO", `"Base"`, refs) },
		"by context": func() (schema.Resolved, error) { return c.InContext("c").Resolve(t.Context(), "s", "", `"Base"`, refs) },
	} {
		got, err := ask()
		if err != nil || got.Type != schema.Avro || len(got.Dependencies) != 1 || got.Dependencies[0].Name != "Base" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	refs[0].Version = 2
	if _, err := c.Resolve(t.Context(), "s", "AVRO", `"Base"`, refs); !errors.Is(err, schema.ErrUnknown) || !errors.Is(err, errcode.SubjectNotFound) {
		t.Errorf("no such version: %v", err)
	}
}
