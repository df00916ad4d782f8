package rest

import (
	"compress/gzip"
	"io"
	"iter"
	"net/http"

	"github.com/labstack/echo/v4"

	"milena/registry/api"
)

// pieceBytes is how much of a long list is encoded and sent at a time.
const pieceBytes = 32 << 10

// nameList encodes a list of names, in pieces that belong to the receiver until
// it asks for the next one.
func nameList(names iter.Seq[string]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		piece := append(make([]byte, 0, pieceBytes+1<<10), '[')
		comma := false
		for name := range names {
			if len(piece) >= pieceBytes {
				if !yield(piece) {
					return
				}
				piece = piece[:0]
			}
			if comma {
				piece = append(piece, ',')
			}
			piece, comma = api.AppendName(piece, name), true
		}
		yield(append(piece, ']'))
	}
}

// respondPieces sends a list while it is being encoded, so that the first of a
// million names is there as soon as that of ten. A list of one piece is an
// answer like any other.
func (s *Server) respondPieces(c echo.Context, contentType string, pieces iter.Seq[[]byte]) error {
	next, stop := iter.Pull(pieces)
	defer stop()
	first, _ := next()
	head := append(make([]byte, 0, len(first)), first...)
	piece, more := next()
	if !more {
		return s.respond(c, contentType, answer{status: http.StatusOK, body: head})
	}
	h := c.Response().Header()
	h["Vary"], h["Content-Type"] = s.headers.vary, s.headers.contentType(contentType)
	out, end := io.Writer(c.Response()), func() error { return nil }
	if takesGzip(c.Request().Header["Accept-Encoding"]) {
		h["Content-Encoding"] = []string{"gzip"}
		z, _ := gzip.NewWriterLevel(out, gzip.BestSpeed) // fails for unknown levels only
		out, end = z, z.Close
	}
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	moving := s.moving(c)
	_, err := out.Write(head)
	for ; more && err == nil; piece, more = next() {
		moving.again()
		_, err = out.Write(piece)
	}
	if err == nil {
		_ = end() // an error here or above means that the client is gone
	}
	return nil
}
