package jsonschema

import (
	"strings"
	"unicode/utf8"
)

// uri is a reference by RFC 3986, taken apart. Parts that are absent differ
// from empty ones.
type uri struct {
	scheme    string // "" if relative
	authority *string
	path      string // all of it, if the URI is opaque
	query     *string
	fragment  *string
}

// parseURI takes s apart. It reports false for what Java's URI refuses: spaces
// and other characters that no URI has, bad escapes, a colon without a scheme.
func parseURI(s string) (uri, bool) {
	var u uri
	rest, fragment, ok := strings.Cut(s, "#")
	if ok {
		if !legal(fragment, "[]") {
			return u, false
		}
		u.fragment = &fragment
	}
	if i := strings.IndexAny(rest, ":/?"); i >= 0 && rest[i] == ':' {
		if !isScheme(rest[:i]) || i+1 == len(rest) {
			return u, false
		}
		u.scheme, rest = strings.ToLower(rest[:i]), rest[i+1:]
		if rest[0] != '/' { // opaque: one string
			u.path = rest
			return u, legal(rest, "[]")
		}
	}
	if hierarchy, query, ok := strings.Cut(rest, "?"); ok {
		if !legal(query, "[]") {
			return u, false
		}
		u.query, rest = &query, hierarchy
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexByte(after, '/')
		if end < 0 {
			end = len(after)
		}
		authority := after[:end]
		if authority == "" && end == len(after) || !legal(authority, "[]") || strings.Count(authority, "[") != strings.Count(authority, "]") {
			return u, false
		}
		u.authority, rest = &authority, after[end:]
	}
	u.path = rest
	return u, legal(rest, "")
}

func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !letter(c) && (i == 0 || !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// legal reports whether s has only characters that a URI may have; those in
// also are allowed too. Characters beyond ASCII are, controls and spaces are
// not.
func legal(s, also string) bool {
	for i, c := range s {
		switch {
		case c < utf8.RuneSelf && letter(byte(c)): // what most are
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
		case c <= ' ' || c >= 0x7F && c <= 0xA0 || c == 0x2028 || c == 0x2029:
			return false
		case strings.ContainsRune("\"<>\\^`{|}#[]", c):
			if !strings.ContainsRune(also, c) {
				return false
			}
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (u uri) isOpaque() bool {
	return u.scheme != "" && u.authority == nil && !strings.HasPrefix(u.path, "/")
}

// String puts the parts together.
func (u uri) String() string {
	var b strings.Builder
	if u.scheme != "" {
		b.WriteString(u.scheme + ":")
	}
	if u.authority != nil {
		b.WriteString("//" + *u.authority)
	}
	b.WriteString(u.path)
	if u.query != nil {
		b.WriteString("?" + *u.query)
	}
	if u.fragment != nil {
		b.WriteString("#" + *u.fragment)
	}
	return b.String()
}

// resolve returns ref as seen from base. Without a base it is what ref says.
func resolve(base, ref string) string {
	b, ok := parseURI(base)
	r, valid := parseURI(ref)
	if base == "" || !ok || !valid || r.scheme != "" {
		return ref
	}
	out := b
	out.fragment = r.fragment
	switch {
	case r.authority == nil && r.path == "" && r.query == nil:
		return out.String()
	case b.isOpaque():
		return ref
	case r.authority != nil:
		out.authority, out.path, out.query = r.authority, r.path, r.query
		return out.String()
	case r.path == "":
		out.query = r.query
		return out.String()
	case strings.HasPrefix(r.path, "/"):
		out.path = removeDots(r.path)
	default:
		out.path = removeDots(b.path[:strings.LastIndexByte(b.path, '/')+1] + r.path)
		if b.authority != nil && !strings.HasPrefix(out.path, "/") {
			out.path = "/" + out.path
		}
	}
	out.query = r.query
	return out.String()
}

// removeDots takes the steps "." and ".." out of a path.
func removeDots(path string) string {
	if !strings.Contains(path, ".") {
		return path
	}
	var out []string
	steps := strings.Split(path, "/")
	for i, step := range steps {
		last := i == len(steps)-1
		switch {
		case step == ".":
		case step == ".." && len(out) > 0 && out[len(out)-1] != "" && out[len(out)-1] != "..":
			out = out[:len(out)-1]
		default:
			out = append(out, step)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return strings.Join(out, "/")
}

// cutFragment splits a reference at its fragment.
func cutFragment(ref string) (address, fragment string) {
	address, fragment, _ = strings.Cut(ref, "#")
	return address, fragment
}

// unescape decodes the %XX of a text that parseURI took.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			out = append(out, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
