package rest

import (
	"errors"
	"io"

	"milena/registry/errcode"
)

// decodedValueBytes is about what one JSON value takes in memory, beside its text.
const decodedValueBytes = 64

// bodyValuesFree is how many values of a body count as part of its length.
const bodyValuesFree = 10_000

// countValues returns how many values a JSON body has beyond bodyValuesFree, by
// the characters outside strings that one stands behind.
func countValues(body []byte) int64 {
	if len(body) <= bodyValuesFree {
		return 0
	}
	n, quoted := -bodyValuesFree, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ',' || c == ':' || c == '{' || c == '['):
			n++
		}
	}
	return int64(max(n, 0))
}

// readBody reads the body of a request and returns what gives its bytes back to
// the bound on all bodies. Bodies of unknown length count as the longest that
// the route takes.
func (s *Server) readBody(r *request, row *route) (release func(), err error) {
	req := r.echo.Request()
	bytesMax := int64(s.opt.Limits.BodyBytesMax)
	if row.bodyBytesMax > 0 {
		bytesMax = min(bytesMax, int64(row.bodyBytesMax))
	}
	length := req.ContentLength
	if length > bytesMax {
		return nil, errcode.BodyTooLarge.New(length, bytesMax)
	}
	reserved := length
	if length < 0 {
		reserved = bytesMax
	}
	release = func() { s.bodyBytes.Add(-reserved) } // with what is reserved by then
	if s.bodyBytes.Add(reserved) > int64(s.opt.Limits.BodiesBytesMax) {
		release()
		return nil, errcode.Unavailable.New()
	}
	if length >= 0 {
		r.body = make([]byte, length)
		_, err = io.ReadFull(req.Body, r.body)
	} else {
		r.body, err = io.ReadAll(io.LimitReader(req.Body, bytesMax+1))
	}
	if err == nil && int64(len(r.body)) > bytesMax {
		err = errcode.BodyTooLarge.New(len(r.body), bytesMax)
	}
	if err == nil {
		// Decoded, a body of many small values takes fifty times its length.
		values := decodedValueBytes * countValues(r.body)
		if values > int64(s.opt.Limits.BodiesBytesMax) {
			err = errcode.BadRequest.Text("Request body has too many values")
		} else if reserved += values; s.bodyBytes.Add(values) > int64(s.opt.Limits.BodiesBytesMax) {
			err = errcode.Unavailable.New()
		}
	}
	if err == nil {
		return release, nil
	}
	release()
	var known *errcode.Error
	if !errors.As(err, &known) {
		err = errcode.BadRequest.Text("Request body could not be read").Because(err)
	}
	return nil, err
}
