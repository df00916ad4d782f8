package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"milena/registry"
	"milena/registry/errcode"
)

// request is what a handler sees of an HTTP request.
type request struct {
	context string // that /contexts/{context} names, as ".ctx"; "" without
	echo    echo.Context
	query   query
	body    []byte
}

// param returns a segment of the path, unescaped.
func (r *request) param(name string) (string, error) {
	escaped := r.echo.Param(name)
	if !strings.Contains(escaped, "%") {
		return escaped, nil
	}
	s, err := url.PathUnescape(escaped)
	if err != nil {
		return "", errcode.BadRequest.Text("Bad Request").Because(err)
	}
	return s, nil
}

// subject returns the subject of the path, as seen from the context. Routes
// without one mean the context itself.
func (r *request) subject() (string, error) {
	s, err := r.param("subject")
	return r.qualify(s), err
}

// qualify returns a subject or prefix as seen from the context.
func (r *request) qualify(subject string) string {
	if r.context == "" {
		return subject
	}
	return registry.QualifySubject(r.context, subject)
}

// id returns the id in the path. What is no number of 32 bits is an unknown
// path to the reference.
func (r *request) id() (int, error) {
	s, err := r.param("id")
	if err != nil {
		return 0, err
	}
	return integer(s)
}

func integer(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, errcode.NotFound.New()
	}
	return int(n), nil
}

// query holds the query parameters that a route lists.
type query struct {
	names, values []string
}

// parseQuery reads the parameters with the given names; others don't count.
func parseQuery(raw string, names []string) (query, error) {
	var q query
	if raw == "" || len(names) == 0 {
		return q, nil
	}
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err := unescapeQuery(name)
		if err != nil {
			return q, err
		}
		if !slices.Contains(names, name) {
			continue
		}
		if value, err = unescapeQuery(value); err != nil {
			return q, err
		}
		q.names, q.values = append(q.names, name), append(q.values, value)
	}
	return q, nil
}

func unescapeQuery(s string) (string, error) {
	if !strings.ContainsAny(s, "%+") {
		return s, nil
	}
	u, err := url.QueryUnescape(s)
	if err != nil {
		return "", errcode.BadRequest.Text("Bad Request").Because(err)
	}
	return u, nil
}

// clientVersion is the header by which Confluent's clients name themselves.
const clientVersion = "Confluent-Client-Version"

// preferLinked turns format=serialized into the complete form for clients that
// name themselves: theirs build descriptors of the answer, and several fail on
// what the reference leaves out. Everybody else gets the reference's bytes.
func (q query) preferLinked(h http.Header) {
	if h.Get(clientVersion) == "" {
		return
	}
	for i := range q.names {
		if q.names[i] == "format" && strings.EqualFold(q.values[i], "serialized") {
			q.values[i] = registry.FormatLinked
		}
	}
}

// text returns a parameter's first value, or "".
func (q query) text(name string) string {
	s, _ := q.given(name)
	return s
}

// given returns a parameter's first value and whether there is one.
func (q query) given(name string) (string, bool) {
	if i := slices.Index(q.names, name); i >= 0 {
		return q.values[i], true
	}
	return "", false
}

// flag reports whether a parameter is "true" in any case; everything else is
// false.
func (q query) flag(name string) bool { return strings.EqualFold(q.text(name), "true") }

// all returns all values of a parameter.
func (q query) all(name string) []string {
	var values []string
	for i, n := range q.names {
		if n == name {
			values = append(values, q.values[i])
		}
	}
	return values
}

// list returns all values of a parameter whose values may also be joined with
// commas, as Java's client does for some routes.
func (q query) list(name string) []string {
	var values []string
	for _, joined := range q.all(name) {
		for value := range strings.SplitSeq(joined, ",") {
			if value != "" {
				values = append(values, value)
			}
		}
	}
	return values
}

// page returns offset and limit.
func (q query) page() (registry.Page, error) {
	var p registry.Page
	for _, f := range []struct {
		name  string
		field *int
	}{{"offset", &p.Offset}, {"limit", &p.Limit}} {
		s := q.text(f.name)
		if s == "" {
			continue
		}
		n, err := integer(s)
		if err != nil {
			return p, err
		}
		*f.field = n
	}
	return p, nil
}
