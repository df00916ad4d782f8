package rest

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
)

var (
	// errPath says that the path is one which the reference's HTTP layer
	// refuses.
	errPath = errors.New("path refused")
	// errTarget says that the request target is too long.
	errTarget = errors.New("request target too long")
)

// ServeHTTP serves every request, matched or not: it prepares the path, lets
// echo route, writes errors and tells the observer. It stands in front of echo,
// whose own middleware is put together anew for each request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	c := s.echo.AcquireContext()
	defer s.echo.ReleaseContext(c)
	c.Reset(r, w)
	w.Header()["X-Request-Id"] = []string{requestID(r)}
	err := s.guarded(c)
	code := 0
	if err != nil {
		code = s.fail(c, err)
	}
	if s.opt.Observer.Answered != nil {
		s.opt.Observer.Answered(methodLabel(r.Method), s.label(c, err), c.Response().Status, code, time.Since(start))
	}
}

// guarded routes and serves a request within the bound on requests at work, and
// turns a panic, which is a bug of ours, into an error.
func (s *Server) guarded(c echo.Context) (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	defer s.working.Add(-1)
	if s.working.Add(1) > int64(s.opt.Limits.RequestsMax) {
		return errcode.Unavailable.New()
	}
	u := c.Request().URL
	if len(c.Request().RequestURI) > targetBytesMax {
		return errTarget
	}
	path, ok := cleanPath(u.EscapedPath())
	if !ok {
		return errPath
	}
	// echo routes on RawPath where there is one, so path values always arrive
	// escaped; else "%2541" could not be told from "%41".
	u.RawPath = path
	s.echo.Router().Find(c.Request().Method, path, c)
	if strings.Count(c.Path(), "/") != strings.Count(path, "/") {
		// echo lets the last value of a pattern take the rest of the path.
		return echo.ErrNotFound
	}
	return c.Handler()(c)
}

// options answers OPTIONS on a known path.
func options(methods []string) echo.HandlerFunc {
	allow := strings.Join(methods, ",")
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Allow", allow)
		h["Content-Type"] = nil
		c.Response().WriteHeader(http.StatusOK)
		return nil
	}
}

// serve returns what echo calls for a route, in the order in which the
// reference refuses: type of the body, types accepted, context, parameters,
// body.
func (s *Server) serve(row *route, inContext bool) echo.HandlerFunc {
	if row.flags&streams != 0 {
		return s.serveStream(row)
	}
	return func(c echo.Context) error {
		req := c.Request()
		if row.bodyName != "" {
			switch checkContentType(req.Header.Get("Content-Type")) {
			case bodyUnsupported:
				return errcode.UnsupportedMediaType.New()
			case bodyMalformed:
				return errcode.BadRequest.Text("Bad Request")
			case bodyTaken:
			}
		}
		contentType, ok := negotiate(req.Header["Accept"])
		if !ok {
			return errcode.NotAcceptable.New()
		}
		r := &request{echo: c}
		if err := r.prepare(row, inContext); err != nil {
			return err
		}
		ctx := req.Context()
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.opt.Limits.WorkTimeout)
			defer cancel()
		}
		if row.bodyName != "" {
			release, err := s.readBody(r, row)
			if err != nil {
				return err
			}
			defer release()
		}
		a, err := row.handle(s, ctx, r)
		if err != nil {
			return translate(err, row)
		}
		return s.respond(c, contentType, a)
	}
}

// prepare reads context and query.
func (r *request) prepare(row *route, inContext bool) error {
	if inContext {
		name, err := r.param("context")
		if err != nil {
			return err
		}
		if r.context, err = registry.ParseContextParam(name); err != nil {
			return err
		}
	}
	var err error
	r.query, err = parseQuery(r.echo.Request().URL.RawQuery, row.query)
	r.query.preferLinked(r.echo.Request().Header)
	return err
}

// translate gives errors that are no errcode.Error yet their code.
func translate(err error, row *route) error {
	var decoding *api.DecodeError
	switch {
	case errors.Is(err, api.ErrNoBody):
		return errcode.Unprocessable.New(row.bodyName)
	case errors.As(err, &decoding):
		return errcode.BadRequest.Text(decoding.Message)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		var known *errcode.Error
		if !errors.As(err, &known) {
			return errcode.Unavailable.New().Because(err)
		}
	}
	return err
}

// requestIDBytesMax is the longest id of a request that is taken from a client.
const requestIDBytesMax = 128

// requestID returns the id of a request: the client's, or a random one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= requestIDBytesMax && isPrintable(id) {
		return id
	}
	var random [16]byte
	binary.NativeEndian.PutUint64(random[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(random[8:], rand.Uint64())
	var digits [36]byte
	hex.Encode(digits[4:], random[:])
	// 8-4-4-4-12, from the left, so that nothing is overwritten unread.
	at := 4
	for i := range digits {
		switch i {
		case 8, 13, 18, 23:
			digits[i] = '-'
		default:
			digits[i] = digits[at]
			at++
		}
	}
	return string(digits[:])
}

// label returns the pattern of a request for metrics.
func (s *Server) label(c echo.Context, err error) string {
	if pattern, ok := s.patterns[c.Path()]; ok && !errors.Is(err, echo.ErrNotFound) {
		return pattern
	}
	return "other"
}

func methodLabel(method string) string {
	known := [...]string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete,
		http.MethodHead, http.MethodOptions, http.MethodPatch,
	}
	if slices.Contains(known[:], method) {
		return method
	}
	return "OTHER"
}
