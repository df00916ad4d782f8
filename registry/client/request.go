package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/schema"
)

// retryDelayMax is the longest wait between two attempts.
const retryDelayMax = 2 * time.Second

// request is one question, which may take several attempts.
type request struct {
	method   string
	path     string // below a base URL, escaped, with its query
	body     any    // to send as JSON, or nil
	once     bool   // a repetition after the work was done would be refused
	attempts int    // 0 means Options.AttemptsMax
	timeout  time.Duration

	encoded []byte
}

// fetch sends a request and reads the JSON of its answer into v, or nothing if
// v is nil.
func (c *Client) fetch(ctx context.Context, r *request, v any) error {
	body, err := c.send(ctx, r)
	if err != nil || v == nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: answer can't be read: %w", schema.ErrUnavailable, err)
	}
	return nil
}

// send sends a request until there is an answer that counts, beginning with
// the URL that answered last, and returns its body. Errors are as the package
// comment says.
func (c *Client) send(ctx context.Context, r *request) ([]byte, error) {
	if r.body != nil {
		encoded, err := api.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("ask registry: %w", err)
		}
		r.encoded = encoded
	}
	attempts := r.attempts
	if attempts == 0 {
		attempts = max(c.opt.AttemptsMax, len(c.bases))
	}
	first := int(c.current.Load())
	var last error
	var after time.Duration
	for i := range attempts {
		if i > 0 {
			c.retried.Add(1)
			if c.opt.Observer.Retried != nil {
				c.opt.Observer.Retried()
			}
			// Another URL is worth trying at once.
			if i >= len(c.bases) {
				c.wait(ctx, i-len(c.bases), after)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", schema.ErrUnavailable, errors.Join(err, last))
		}
		index := (first + i) % len(c.bases)
		var body []byte
		var err error
		body, after, err = c.once(ctx, index, r)
		if err == nil || !passes(err) {
			c.current.Store(int64(index))
		}
		if err == nil {
			return body, nil
		}
		if !passes(err) {
			if errors.Is(err, errcode.UnparsableAnswer) {
				err = fmt.Errorf("%w: %w", schema.ErrUnavailable, err)
			}
			return nil, err
		}
		last = err
		if r.once && !untouched(err) {
			break
		}
	}
	return nil, fmt.Errorf("%w: %w", schema.ErrUnavailable, last)
}

// wait waits before attempt n+1 on the same URL, at least for what the answer
// asked, at most until ctx ends.
func (c *Client) wait(ctx context.Context, n int, after time.Duration) {
	delay := min(c.opt.RetryDelay<<min(n, 16), retryDelayMax)
	timer := time.NewTimer(min(after, retryDelayMax) + rand.N(delay) + 1)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// passes reports whether an attempt may succeed when repeated: there was no
// answer, or one of those that all clients of this API try again.
func passes(err error) bool {
	var answered *errcode.Error
	if !errors.As(err, &answered) {
		return true
	}
	if errors.Is(err, errcode.UnparsableAnswer) {
		return false // made here, and the next answer would be as long
	}
	switch answered.Row.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// untouched reports whether a failed attempt surely changed nothing.
func untouched(err error) bool {
	var answered *errcode.Error
	if errors.As(err, &answered) {
		return answered.Row.Status == http.StatusTooManyRequests || answered.Row.Status == http.StatusServiceUnavailable
	}
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// once sends one request to one URL. An answer other than a success is an
// *errcode.Error; after is how long it asks to wait before the next attempt.
func (c *Client) once(ctx context.Context, index int, r *request) (body []byte, after time.Duration, err error) {
	start, status := c.opt.Clock(), 0
	defer func() {
		end := c.opt.Clock()
		c.observe(index, status, end, end.Sub(start), err)
	}()
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	req, err := c.newRequest(ctx, index, r.method, r.path, bytes.NewReader(r.encoded))
	if err != nil {
		return nil, 0, err
	}
	if r.encoded != nil {
		req.Header.Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("ask registry: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing of a body that was read can be lost
	status = resp.StatusCode
	body, err = io.ReadAll(io.LimitReader(resp.Body, int64(c.opt.AnswerBytesMax)+1))
	if err != nil {
		return nil, 0, fmt.Errorf("ask registry: %w", err)
	}
	if len(body) > c.opt.AnswerBytesMax {
		return nil, 0, errcode.UnparsableAnswer.Text(fmt.Sprintf("answer is longer than %d bytes", c.opt.AnswerBytesMax))
	}
	switch status {
	case http.StatusOK, http.StatusNoContent, http.StatusMultiStatus:
		return body, 0, nil
	}
	return nil, retryAfter(resp.Header), answerError(status, body)
}

// newRequest returns a request to one URL with the headers that all have.
func (c *Client) newRequest(ctx context.Context, index int, method, path string, body io.Reader) (*http.Request, error) {
	b := &c.bases[index]
	req, err := http.NewRequestWithContext(ctx, method, b.url+path, body)
	if err != nil {
		return nil, fmt.Errorf("ask registry: %w", err)
	}
	for name, values := range c.opt.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Accept", "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json")
	req.Header.Set("Confluent-Accept-Unknown-Properties", "true")
	if b.withUser {
		req.SetBasicAuth(b.user, b.password)
	}
	if c.opt.Token != nil {
		token, err := c.opt.Token(ctx)
		if err != nil {
			return nil, fmt.Errorf("get bearer token: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// retryAfter reads the header in seconds, the only form that registries use.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}

// answerError returns the error that an answer stands for. A body that is not
// the API's is not repeated: it may be anything.
func answerError(status int, body []byte) error {
	var m api.ErrorMessage
	if json.Unmarshal(body, &m) != nil || m.ErrorCode == 0 {
		m = api.ErrorMessage{Message: fmt.Sprintf("registry answered %d %s", status, http.StatusText(status))}
	}
	return errcode.Parse(status, m.ErrorCode, m.Message)
}

// JSON asks for a path below the base URL, escaped and with its query, that no
// method of the Client knows, and reads the answer into v. Errors are as the
// package comment says.
func (c *Client) JSON(ctx context.Context, path string, v any) error {
	return c.fetch(ctx, &request{method: http.MethodGet, path: path, timeout: c.opt.RequestTimeout}, v)
}
