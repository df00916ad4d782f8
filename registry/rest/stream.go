package rest

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"milena/registry/errcode"
)

// typeLines is the type of bodies that are JSON Lines.
const typeLines = "application/x-ndjson"

// serveStream returns what echo calls for a route whose bodies may be of any
// length. Its answers are JSON Lines whatever the client accepts, and its
// requests may be sent with any type, so that curl --data-binary works. There
// is no time for the whole request; what must go on is each piece of it
// (streamReader, streamWriter).
func (s *Server) serveStream(row *route) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := &request{echo: c}
		if err := r.prepare(row, false); err != nil {
			return err
		}
		a, err := row.handle(s, c.Request().Context(), r)
		switch {
		case c.Response().Committed && err != nil:
			// Too late for an answer. The client must not take what it has for
			// whole, so the connection is cut, as net/http means it.
			s.opt.Logger.Info("answer was cut off", "pattern", row.pattern, "err", err)
			panic(http.ErrAbortHandler)
		case c.Response().Committed:
			return nil
		case err != nil:
			return translate(err, row)
		default:
			return s.respond(c, typeLines, a)
		}
	}
}

// moving pushes the deadlines of a connection away as long as something moves.
type moving struct {
	control *http.ResponseController
	timeout time.Duration
	next    time.Time // when deadlines are pushed again
}

// again gives a connection another timeout to read and write. Connections
// without deadlines, as in tests, have none to push.
func (m *moving) again() {
	now := time.Now()
	if now.Before(m.next) {
		return
	}
	m.next = now.Add(m.timeout / 8)
	_ = m.control.SetReadDeadline(now.Add(m.timeout))
	_ = m.control.SetWriteDeadline(now.Add(m.timeout))
}

func (s *Server) moving(c echo.Context) *moving {
	return &moving{control: http.NewResponseController(c.Response()), timeout: s.opt.Limits.RequestTimeout}
}

// streamReader reads a request's body.
type streamReader struct {
	*moving
	body io.Reader
}

func (r *streamReader) Read(p []byte) (int, error) {
	r.again()
	return r.body.Read(p)
}

// streamWriter writes the body of an answer, compressed if the client takes
// that.
type streamWriter struct {
	*moving
	ctx context.Context
	to  io.Writer
}

func (w *streamWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	w.again()
	return w.to.Write(p)
}

// streamBufferBytes is how much of an answer is written at a time.
const streamBufferBytes = 64 << 10

// writeStream answers with what write writes.
func (s *Server) writeStream(ctx context.Context, c echo.Context, write func(io.Writer) error) error {
	h := c.Response().Header()
	h["Content-Type"], h["Vary"] = []string{typeLines}, []string{"Accept-Encoding"}
	zipped := takesGzip(c.Request().Header["Accept-Encoding"])
	if zipped {
		h["Content-Encoding"] = []string{"gzip"}
	}
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	out := &streamWriter{s.moving(c), ctx, c.Response()}
	if !zipped {
		return write(out)
	}
	z, _ := gzip.NewWriterLevel(out, gzip.BestSpeed) // fails for unknown levels only
	if err := write(z); err != nil {
		return err // without gzip's end, so that nobody takes it for whole
	}
	return z.Close()
}

// oneImport lets one import at a time run.
func (s *Server) oneImport() (release func(), err error) {
	if !s.importing.CompareAndSwap(false, true) {
		return nil, errcode.TooManyRequests.New()
	}
	return func() { s.importing.Store(false) }, nil
}
