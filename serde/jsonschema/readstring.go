package jsonschema

import (
	"strings"
	"unicode/utf8"
)

// string reads a quoted string. Without escapes it is a piece of the text.
func (r *reader) string() string {
	start := r.pos
	r.pos++
	for i := r.pos; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			s := r.text[r.pos:i]
			r.pos = i + 1
			return s
		case c == '\\':
			return r.escaped(start, i)
		case c < ' ':
			r.fail(i, "control character %d in a string", c)
			return ""
		}
	}
	r.fail(start, "the text ends in a string")
	return ""
}

// escaped reads the rest of a string from its first backslash at i.
func (r *reader) escaped(start, i int) string {
	out := append(make([]byte, 0, i-start+32), r.text[start+1:i]...)
	for i < len(r.text) {
		c := r.text[i]
		switch {
		case c == '"':
			r.pos = i + 1
			return string(out)
		case c < ' ':
			r.fail(i, "control character %d in a string", c)
			return ""
		case c != '\\':
			out = append(out, c)
			i++
			continue
		case i+1 >= len(r.text):
			i++
			continue
		}
		i += 2
		e := r.text[i-1]
		if j := strings.IndexByte(`"\/bfnrt`, e); j >= 0 {
			out = append(out, "\"\\/\b\f\n\r\t"[j])
			continue
		}
		if e != 'u' {
			r.fail(i-1, "unknown escape \\%c", e)
			return ""
		}
		var char rune
		if char, i = r.unicode(i); r.err != nil {
			return ""
		}
		out = utf8.AppendRune(out, char)
	}
	r.fail(start, "the text ends in a string")
	return ""
}

// unicode reads the digits of an escape at i, and the second half of a
// surrogate pair. A lone surrogate is no character; Java writes it as '?' when
// it encodes a text, and so do we.
func (r *reader) unicode(i int) (rune, int) {
	c := r.hex4(i)
	i += 4
	if c < 0xD800 || c > 0xDFFF {
		return c, i
	}
	if c < 0xDC00 && r.err == nil && strings.HasPrefix(r.text[i:], `\u`) {
		if d := r.hex4(i + 2); d >= 0xDC00 && d <= 0xDFFF {
			return (c-0xD800)<<10 + (d - 0xDC00) + 0x10000, i + 6
		}
	}
	return '?', i
}

func (r *reader) hex4(i int) rune {
	if i+4 > len(r.text) {
		r.fail(i, "the text ends in an escape")
		return 0
	}
	n := rune(0)
	for _, c := range []byte(r.text[i : i+4]) {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 || c < '0' {
			r.fail(i, "an escape \\u lacks its four hexadecimal digits")
			return 0
		}
		n = n<<4 | rune(d)
	}
	return n
}
