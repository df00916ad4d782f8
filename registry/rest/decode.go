package rest

import (
	"errors"
	"io"

	"milena/registry/errcode"
)

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
	release = func() { s.bodyBytes.Add(-reserved) }
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
		return release, nil
	}
	release()
	var known *errcode.Error
	if !errors.As(err, &known) {
		err = errcode.BadRequest.Text("Request body could not be read").Because(err)
	}
	return nil, err
}
