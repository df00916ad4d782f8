package client

import (
	"net/url"
	"strconv"
	"strings"
)

// escape writes a value as one segment of a path.
func escape(segment string) string { return url.PathEscape(segment) }

// path joins segments, which are escaped, to a path of the Client's context.
func (c *Client) path(segments ...string) string {
	var b strings.Builder
	b.WriteString(c.prefix)
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(escape(s))
	}
	return b.String()
}

// params are query parameters; those that say nothing are left out.
type params url.Values

func (p params) text(name, value string) params {
	if value != "" {
		url.Values(p).Set(name, value)
	}
	return p
}

func (p params) list(name string, values []string) params {
	for _, v := range values {
		url.Values(p).Add(name, v)
	}
	return p
}

func (p params) flag(name string, value bool) params {
	if value {
		url.Values(p).Set(name, "true")
	}
	return p
}

func (p params) page(page Page) params {
	if page.Offset > 0 {
		url.Values(p).Set("offset", strconv.Itoa(page.Offset))
	}
	if page.Limit > 0 {
		url.Values(p).Set("limit", strconv.Itoa(page.Limit))
	}
	return p
}

// on appends the parameters to a path.
func (p params) on(path string) string {
	if len(p) == 0 {
		return path
	}
	return path + "?" + url.Values(p).Encode()
}
