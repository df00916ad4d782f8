package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"milena/registry/api"
	"milena/registry/errcode"
)

const (
	// answerBytesMax bounds one answer of a remote registry.
	answerBytesMax = 64 << 20
	// attemptsMax is how often a request is sent that may succeed when
	// repeated.
	attemptsMax = 4
	// retryDelay comes before the second attempt, and doubles.
	retryDelay = 200 * time.Millisecond
)

// fetcher reads JSON answers of one registry. It is safe for concurrent use.
type fetcher struct {
	base           string // without credentials and trailing slash
	user, password string
	withUser       bool
	timeout        time.Duration // of one attempt
	http           *http.Client
}

// newFetcher reads a URL. Errors never show a password.
func newFetcher(text string, transport http.RoundTripper, timeout time.Duration) (*fetcher, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		var parsing *url.Error
		if errors.As(err, &parsing) {
			err = parsing.Err // the error itself would repeat the URL
		}
		return nil, fmt.Errorf("registry URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("registry URL %s: want http://HOST:PORT or https://HOST:PORT", u.Redacted())
	}
	f := &fetcher{withUser: u.User != nil, timeout: timeout, http: &http.Client{Transport: transport}}
	if u.User != nil {
		f.user = u.User.Username()
		f.password, _ = u.User.Password()
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	f.base = strings.TrimRight(u.String(), "/")
	return f, nil
}

// get reads the answer to a request for a path into v; ok is false if there is
// no such thing, or no such route.
func (f *fetcher) get(ctx context.Context, path string, v any) (ok bool, err error) {
	for attempt := 0; ; attempt++ {
		err := f.once(ctx, path, v)
		var answered *errcode.Error
		switch {
		case err == nil:
			return true, nil
		case errors.As(err, &answered) && (answered.Row.Status == http.StatusNotFound || answered.Row.Status == http.StatusMethodNotAllowed):
			return false, nil
		case attempt+1 == attemptsMax || !retriable(err) || ctx.Err() != nil:
			return false, fmt.Errorf("read %s: %w", path, err)
		}
		t := time.NewTimer(rand.N(retryDelay<<attempt) + 1)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

// errAnswer says that an answer is none of this API's.
var errAnswer = errors.New("not an answer of a schema registry")

// retriable reports whether an attempt may succeed when repeated.
func retriable(err error) bool {
	if errors.Is(err, errAnswer) {
		return false
	}
	var answered *errcode.Error
	if !errors.As(err, &answered) {
		return true
	}
	switch answered.Row.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// once sends one request. An answer other than a success is an *errcode.Error;
// its text, which may be anything, is kept only if it is this API's.
func (f *fetcher) once(ctx context.Context, path string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.base+path, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	req.Header.Set("Accept", "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json")
	req.Header.Set("Confluent-Accept-Unknown-Properties", "true")
	if f.withUser {
		req.SetBasicAuth(f.user, f.password)
	}
	resp, err := f.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // nothing of a body that was read can be lost
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerBytesMax+1))
	if err != nil {
		return err
	}
	if len(body) > answerBytesMax {
		return fmt.Errorf("%w: it is longer than %d bytes", errAnswer, answerBytesMax)
	}
	if resp.StatusCode != http.StatusOK {
		var m api.ErrorMessage
		if json.Unmarshal(body, &m) != nil || m.ErrorCode == 0 {
			m = api.ErrorMessage{Message: fmt.Sprintf("registry answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))}
		}
		return errcode.Parse(resp.StatusCode, m.ErrorCode, m.Message)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	return nil
}
