package rest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"milena/registry/errcode"
)

// Access is what a caller must be allowed to do to use a route.
type Access string

// The levels of access, each including those before it.
const (
	Public Access = "public" // anyone: health and metadata
	Read   Access = "read"
	Write  Access = "write" // schemas and their config
	Admin  Access = "admin" // modes and contexts
)

type flags uint8

const (
	scoped  flags = 1 << iota // also below /contexts/{context}
	writes                    // changes something, so may fail in the store
	streams                   // reads and writes bodies of any length piece by piece; see serveStream
)

// handler answers one request. Errors carry an *errcode.Error, anything else
// is an internal one.
type handler func(*Server, context.Context, *request) (answer, error)

// route is one row of the table.
type route struct {
	method       string
	pattern      string // {name} is one segment of the path
	handle       handler
	access       Access
	bodyName     string // what a missing body is called in the reference's message; "" if none is read
	bodyBytesMax int    // 0 means Limits.BodyBytesMax
	query        []string
	codes        []*errcode.Row // that the registry answers; see common for the rest
	flags        flags
}

// contextPrefix is what every scoped route also exists below.
const contextPrefix = "/contexts/{context}"

// patterns returns where the route is found.
func (r *route) patterns() []string {
	if r.flags&scoped == 0 {
		return []string{r.pattern}
	}
	return []string{r.pattern, contextPrefix + r.pattern}
}

// common returns the rows that the server itself may answer on a route.
func (r *route) common() []*errcode.Row {
	rows := []*errcode.Row{
		errcode.BadRequest, errcode.NotFound, errcode.MethodNotAllowed, errcode.Internal, errcode.Unavailable,
	}
	if r.flags&streams == 0 {
		rows = append(rows, errcode.NotAcceptable)
	}
	if r.bodyName != "" {
		rows = append(rows, errcode.BodyTooLarge, errcode.UnsupportedMediaType, errcode.Unprocessable, errcode.OperationTimedOut)
	}
	if r.flags&writes != 0 {
		rows = append(rows, errcode.StoreFailed, errcode.OperationTimedOut, errcode.TooManyRequests)
	}
	return rows
}

// Route describes one row of the table.
type Route struct {
	Method   string
	Pattern  string // {name} is one segment of the path
	Scoped   bool   // also below /contexts/{context}
	Access   Access
	HasBody  bool
	Streams  bool     // bodies are JSON Lines of any length
	Query    []string // names of the query parameters that count
	Codes    []int    // error codes that it may answer, ascending
	IsChange bool     // changes something
}

// Routes describes all routes, for documentation and metrics.
func Routes() []Route {
	var out []Route
	for _, r := range table() {
		d := Route{
			Method: r.method, Pattern: r.pattern, Scoped: r.flags&scoped != 0, Access: r.access,
			HasBody: r.bodyName != "" || r.flags&streams != 0 && r.method != http.MethodGet, Streams: r.flags&streams != 0, Query: slices.Clone(r.query), IsChange: r.flags&writes != 0,
		}
		for _, row := range append(r.common(), r.codes...) {
			d.Codes = append(d.Codes, row.Code)
		}
		slices.Sort(d.Codes)
		d.Codes = slices.Compact(d.Codes)
		out = append(out, d)
	}
	return out
}

// echoPath writes a pattern as echo wants it, which takes a bare colon for the
// start of a value.
func echoPath(pattern string) string {
	return strings.NewReplacer("{", ":", "}", "", ":", `\:`).Replace(pattern)
}

// allowed returns the methods of each pattern, in the order in which Allow
// lists them.
func allowed(rows []route) map[string][]string {
	methods := map[string][]string{}
	for i := range rows {
		for _, p := range rows[i].patterns() {
			methods[p] = append(methods[p], rows[i].method)
		}
	}
	for p, m := range methods {
		if slices.Contains(m, http.MethodGet) {
			m = slices.Insert(m, 0, http.MethodHead)
		}
		methods[p] = append(m, http.MethodOptions)
	}
	return methods
}
