package rest

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// targetBytesMax is the longest request target that is answered, as in the
// reference's HTTP layer.
const targetBytesMax = 8 << 10

// cleanPath returns an escaped path in the form in which it is routed: without
// path parameters (";x" at the end of a segment) and without one trailing
// slash. It reports false for what the reference's HTTP layer refuses: control
// characters, backslashes, "..", empty segments, and what is no UTF-8.
func cleanPath(escaped string) (string, bool) {
	rest, ok := strings.CutPrefix(escaped, "/")
	if !ok {
		return "", false
	}
	if rest == "" {
		return "/", true
	}
	rest = strings.TrimSuffix(rest, "/")
	var changed strings.Builder // only with a path parameter
	cut := strings.Contains(rest, ";")
	for segment := range strings.SplitSeq(rest, "/") {
		segment, _, _ = strings.Cut(segment, ";")
		if !goodSegment(segment) {
			return "", false
		}
		if cut {
			changed.WriteByte('/')
			changed.WriteString(segment)
		}
	}
	if cut {
		return changed.String(), true
	}
	return escaped[:1+len(rest)], true
}

func goodSegment(escaped string) bool {
	segment := escaped
	if strings.Contains(escaped, "%") {
		var err error
		if segment, err = url.PathUnescape(escaped); err != nil {
			return false
		}
	}
	if segment == "" || segment == ".." || !utf8.ValidString(segment) {
		// Java clients send names beyond ASCII as Latin-1; taking that for
		// another name would register under a subject nobody asked for.
		return false
	}
	for i := range len(segment) {
		if c := segment[i]; c < ' ' || c == 0x7F || c == '\\' {
			return false
		}
	}
	return true
}
