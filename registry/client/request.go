package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/schema"
)

// retryDelayMax is the longest wait between two attempts.
const retryDelayMax = 2 * time.Second

// read asks for path and reads the answer into v.
func (c *Client) read(ctx context.Context, path string, v any) error {
	body, err := c.get(ctx, path, max(c.opt.AttemptsMax, len(c.bases)))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: answer can't be read: %w", schema.ErrUnavailable, err)
	}
	return nil
}

// get asks for path until there is an answer that counts, beginning with the
// URL that answered last. Errors wrap schema.ErrUnknown or schema.ErrUnavailable,
// the latter also when ctx ended.
func (c *Client) get(ctx context.Context, path string, attempts int) ([]byte, error) {
	first := int(c.current.Load())
	var last error
	for i := range attempts {
		if i > 0 {
			if c.opt.Observer.Retried != nil {
				c.opt.Observer.Retried()
			}
			// Another URL is worth trying at once.
			if i >= len(c.bases) {
				c.wait(ctx, i-len(c.bases))
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", schema.ErrUnavailable, errors.Join(err, last))
		}
		index := (first + i) % len(c.bases)
		body, err := c.once(ctx, &c.bases[index], path)
		if err == nil || !retriable(err) {
			c.current.Store(int64(index))
		}
		switch {
		case err == nil:
			return body, nil
		case unknown(err):
			return nil, fmt.Errorf("%w: %w", schema.ErrUnknown, err)
		case !retriable(err):
			return nil, fmt.Errorf("%w: %w", schema.ErrUnavailable, err)
		}
		last = err
	}
	return nil, fmt.Errorf("%w: %w", schema.ErrUnavailable, last)
}

// wait waits before attempt n+1 on the same URL, at most until ctx ends.
func (c *Client) wait(ctx context.Context, n int) {
	delay := min(c.opt.RetryDelay<<min(n, 16), retryDelayMax)
	timer := time.NewTimer(rand.N(delay) + 1)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// retriable reports whether an attempt may succeed when repeated: there was no
// answer, or one of those that all clients of this API try again.
func retriable(err error) bool {
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

// once sends one request. An answer other than a success is an *errcode.Error.
func (c *Client) once(ctx context.Context, b *base, path string) (body []byte, err error) {
	start, status := c.opt.Clock(), 0
	defer func() {
		if c.opt.Observer.Asked != nil {
			c.opt.Observer.Asked(status, c.opt.Clock().Sub(start))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, c.opt.AttemptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+path, nil)
	if err != nil {
		return nil, fmt.Errorf("ask registry: %w", err)
	}
	req.Header.Set("Accept", "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json")
	req.Header.Set("Confluent-Accept-Unknown-Properties", "true")
	if b.withUser {
		req.SetBasicAuth(b.user, b.password)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask registry: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing of a body that was read can be lost
	status = resp.StatusCode
	body, err = io.ReadAll(io.LimitReader(resp.Body, int64(c.opt.AnswerBytesMax)+1))
	if err != nil {
		return nil, fmt.Errorf("ask registry: %w", err)
	}
	if len(body) > c.opt.AnswerBytesMax {
		return nil, errcode.UnparsableAnswer.Text(fmt.Sprintf("answer is longer than %d bytes", c.opt.AnswerBytesMax))
	}
	if status == http.StatusOK {
		return body, nil
	}
	return nil, answerError(status, body)
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
