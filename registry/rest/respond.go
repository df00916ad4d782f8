package rest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"milena/registry/api"
	"milena/registry/errcode"
)

// answer is what a handler answers with when all went well.
type answer struct {
	status int
	body   []byte
	pieces iter.Seq[[]byte] // the body of a long list, in place of body
}

// value answers with v as JSON.
func value(v any, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	body, err := api.Marshal(v)
	return answer{status: http.StatusOK, body: body}, err
}

// encoded answers with JSON that is encoded already.
func encoded(body []byte, err error) (answer, error) {
	return answer{status: http.StatusOK, body: body}, err
}

// list answers with a list, which is never null.
func list[T any](v []T, err error) (answer, error) {
	if v == nil {
		v = []T{}
	}
	return value(v, err)
}

// plain answers with the text itself.
func plain(text string, err error) (answer, error) {
	return answer{status: http.StatusOK, body: []byte(text)}, err
}

// nothing answers without a body.
func nothing(err error) (answer, error) {
	return answer{status: http.StatusNoContent}, err
}

// gzipBytesMin is the size from which an answer is compressed on request;
// below, it costs more than it saves.
const gzipBytesMin = 1 << 10

// respond writes an answer.
func (s *Server) respond(c echo.Context, contentType string, a answer) error {
	if a.pieces != nil {
		return s.respondPieces(c, contentType, a.pieces)
	}
	h := c.Response().Header()
	h["Vary"] = s.headers.vary
	if a.status == http.StatusNoContent {
		c.Response().WriteHeader(a.status)
		return nil
	}
	h["Content-Type"] = s.headers.contentType(contentType)
	if len(a.body) >= gzipBytesMin && takesGzip(c.Request().Header["Accept-Encoding"]) {
		h["Content-Encoding"] = []string{"gzip"}
		a.body = s.zip(a.body)
	}
	s.write(c, a)
	return nil
}

// lengthBytesMin is the size from which net/http has to be told the length of
// an answer; below, it counts for itself, at no cost.
const lengthBytesMin = 2 << 10

// headers are values of headers that most answers have, made once: net/http
// does not change them.
type headers struct{ vary, v1 []string }

func newHeaders() headers { return headers{[]string{"Accept-Encoding"}, []string{typeV1}} }

func (h *headers) contentType(t string) []string {
	if t == typeV1 {
		return h.v1
	}
	return []string{t}
}

// write sends an answer whose other headers are set. That the client is gone
// is nobody's error.
func (s *Server) write(c echo.Context, a answer) {
	if len(a.body) >= lengthBytesMin || len(a.body) == 0 || c.Request().Method == http.MethodHead {
		c.Response().Header()["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	}
	c.Response().WriteHeader(a.status)
	if c.Request().Method != http.MethodHead {
		_, _ = c.Response().Write(a.body)
	}
}

func (s *Server) zip(body []byte) []byte {
	var out bytes.Buffer
	w, ok := s.zippers.Get().(*gzip.Writer)
	if ok {
		w.Reset(&out)
	} else {
		w, _ = gzip.NewWriterLevel(&out, gzip.BestSpeed) // fails for unknown levels only
	}
	// A bytes.Buffer takes everything.
	_, _ = w.Write(body)
	_ = w.Close()
	s.zippers.Put(w)
	return out.Bytes()
}

// takesGzip reports whether Accept-Encoding names gzip, and not with quality 0.
func takesGzip(headers []string) bool {
	for _, header := range headers {
		for entry := range strings.SplitSeq(header, ",") {
			coding, _, quality := parseEntry(strings.TrimSpace(entry))
			if (coding == "gzip" || coding == "x-gzip") && quality > 0 {
				return true
			}
		}
	}
	return false
}

// retryAfterSeconds is what overloaded answers ask clients to wait.
const retryAfterSeconds = "1"

// fail writes an error and returns its code. It is the one place that logs
// errors of the server.
func (s *Server) fail(c echo.Context, err error) int {
	if errors.Is(err, errPath) || errors.Is(err, errTarget) {
		return s.refuse(c, err)
	}
	e, bare := s.routingError(c, err)
	if e == nil {
		e = errcode.Of(err)
		bare = errors.Is(e, errcode.NotAcceptable) || errors.Is(e, errcode.MethodNotAllowed)
	}
	if e.Row.Status >= http.StatusInternalServerError && e.Cause != nil {
		s.opt.Logger.Error("request failed", "method", c.Request().Method, "pattern", s.label(c, err),
			"request_id", c.Response().Header().Get("X-Request-Id"), "err", e)
	}
	if c.Response().Committed {
		return e.Row.Code
	}
	body, err := api.Marshal(api.ErrorMessage{ErrorCode: e.Row.Code, Message: e.Message})
	if err != nil { // two plain fields always can be written
		body = fmt.Appendf(nil, `{"error_code":%d,"message":"Internal Server Error"}`, e.Row.Code)
	}
	h := c.Response().Header()
	if e.Row.Status == http.StatusServiceUnavailable || e.Row.Status == http.StatusTooManyRequests {
		h.Set("Retry-After", retryAfterSeconds)
	}
	h["Content-Type"] = nil
	if !bare {
		contentType, ok := negotiate(c.Request().Header["Accept"])
		if !ok {
			contentType = typeV1
		}
		h["Content-Type"] = []string{contentType}
		h["Vary"] = []string{"Accept-Encoding"}
	}
	s.write(c, answer{status: e.Row.Status, body: body})
	return e.Row.Code
}

// routingError returns the error that echo's errors stand for; its answer has
// no content type. It returns nil for errors that are not echo's.
func (s *Server) routingError(c echo.Context, err error) (*errcode.Error, bool) {
	var routing *echo.HTTPError
	if !errors.As(err, &routing) {
		return nil, false
	}
	if routing.Code != http.StatusMethodNotAllowed {
		return errcode.NotFound.New(), true
	}
	c.Response().Header().Set("Allow", strings.Join(s.allow[s.label(c, err)], ","))
	return errcode.MethodNotAllowed.New(), true
}

// refuse answers what the reference's HTTP layer refuses, in its way, and
// returns the status.
func (s *Server) refuse(c echo.Context, err error) int {
	h := c.Response().Header()
	h["Connection"] = []string{"close"}
	if errors.Is(err, errTarget) {
		h["Content-Type"] = []string{"text/html;charset=iso-8859-1"}
		s.write(c, answer{status: http.StatusRequestURITooLong, body: []byte("<h1>URI Too Long</h1>")})
		return http.StatusRequestURITooLong
	}
	h["Content-Type"] = nil
	s.write(c, answer{status: http.StatusBadRequest})
	return http.StatusBadRequest
}
