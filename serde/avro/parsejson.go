package avro

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"milena/serde/schema"
)

// Bounds of one JSON text. Depth and number length are the reference's own.
const (
	jsonDepthMax   = 1000    // nested arrays and objects
	jsonNumberMax  = 1000    // bytes of one number
	jsonValuesMax  = 1 << 19 // values in one text, about 80 bytes of memory each
	jsonMembersMap = 16      // object members from which duplicates are found by map
)

// jsonReader reads one JSON value strictly, but for comments before and inside
// it, and keeps the order of keys. A repeated key has its last value at its
// first place.
type jsonReader struct {
	text   string
	pos    int
	depth  int
	values int
	err    *schema.ParseError // the first one; from then on nothing is left to read
}

// readJSON reads text as one value with nothing but white space after it.
func readJSON(text string) (Value, *schema.ParseError) {
	r := &jsonReader{text: text}
	if strings.TrimLeft(text, " \t\r\n") == "" {
		return Value{}, errorAt(text, 0, "Empty schema")
	}
	if !utf8.ValidString(text) {
		return Value{}, errorAt(text, 0, "Invalid UTF-8")
	}
	r.space()
	v := r.value()
	if r.err != nil {
		return Value{}, r.err
	}
	if rest := strings.TrimLeft(text[r.pos:], " \t\r\n"); rest != "" {
		return Value{}, errorAt(text, len(text)-len(rest), "dangling content after end of schema: "+clip(rest))
	}
	return v, nil
}

// errorAt makes a ParseError for a byte offset in text.
func errorAt(text string, off int, msg string) *schema.ParseError {
	if off > len(text) {
		off = len(text)
	}
	before := text[:off]
	return &schema.ParseError{
		Line:    strings.Count(before, "\n") + 1,
		Column:  off - strings.LastIndexByte(before, '\n'),
		Message: msg,
	}
}

// clip bounds what an error message quotes from the text.
func clip(s string) string {
	const most = 2048
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// fail keeps the first error and leaves nothing to read, so that every loop of
// the reader ends.
func (r *jsonReader) fail(off int, format string, args ...any) {
	if r.err == nil {
		r.err = errorAt(r.text, off, fmt.Sprintf(format, args...))
	}
	r.pos = len(r.text)
}

// unexpected fails with the character at the current place.
func (r *jsonReader) unexpected(want string) {
	if r.pos >= len(r.text) {
		r.fail(r.pos, "Unexpected end-of-input: expected %s", want)
		return
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.pos:])
	r.fail(r.pos, "Unexpected character ('%c' (code %d)): expected %s", c, c, want)
}

// space skips white space and comments.
func (r *jsonReader) space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\r', '\n':
			r.pos++
		case '/':
			r.comment()
		default:
			return
		}
	}
}

func (r *jsonReader) comment() {
	rest := r.text[r.pos:]
	switch {
	case strings.HasPrefix(rest, "//"):
		end := strings.IndexAny(rest, "\r\n")
		if end < 0 {
			end = len(rest)
		}
		r.pos += end
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			r.fail(r.pos, "Unexpected end-of-input in a comment")
			return
		}
		r.pos += end + 4
	default:
		r.unexpected("a value or a comment")
	}
}

// value reads the value that starts at the current place.
func (r *jsonReader) value() Value {
	if r.values++; r.values > jsonValuesMax {
		r.fail(r.pos, "Schema has more than %d JSON values", jsonValuesMax)
	}
	if r.pos >= len(r.text) {
		r.unexpected("a value")
		return Value{}
	}
	off := r.pos
	switch c := r.text[off]; {
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '"':
		return Value{kind: valueString, off: off, text: r.string()}
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$':
		return r.word()
	default:
		r.unexpected("a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false')")
		return Value{}
	}
}

func (r *jsonReader) word() Value {
	off := r.pos
	for r.pos < len(r.text) && wordByte(r.text[r.pos]) {
		r.pos++
	}
	v := Value{off: off}
	switch w := r.text[off:r.pos]; w {
	case "null":
		v.kind = valueNull
	case "true":
		v.kind = valueTrue
	case "false":
		v.kind = valueFalse
	default:
		r.fail(off, "Unrecognized token '%s': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')", clip(w))
	}
	return v
}

// wordByte takes letters beyond ASCII along, so that nullé is one bad word.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func (r *jsonReader) enter() {
	if r.depth++; r.depth > jsonDepthMax {
		r.fail(r.pos, "Document nesting depth (%d) exceeds the maximum allowed (%d)", r.depth, jsonDepthMax)
		return
	}
	r.pos++
	r.space()
}

// next handles what stands between two members: it reports whether another one
// follows.
func (r *jsonReader) next(end byte) bool {
	r.space()
	if r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ',':
			r.pos++
			r.space()
			return true
		case end:
			return false
		case ']', '}':
			r.fail(r.pos, "Unexpected close marker '%c': expected '%c'", r.text[r.pos], end)
			return false
		}
	}
	r.unexpected(fmt.Sprintf("comma or '%c'", end))
	return false
}

func (r *jsonReader) leave() {
	r.depth--
	if r.err == nil {
		r.pos++
	}
}

func (r *jsonReader) array() Value {
	v := Value{kind: valueArray, off: r.pos}
	r.enter()
	if r.peek() != ']' {
		for more := true; more; more = r.next(']') {
			v.elems = append(v.elems, r.value())
		}
	}
	r.leave()
	return v
}

// peek returns the current byte, or 0 at the end.
func (r *jsonReader) peek() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

func (r *jsonReader) object() Value {
	v := Value{kind: valueObject, off: r.pos}
	r.enter()
	if r.peek() == '}' {
		r.leave()
		return v
	}
	var index map[string]int
	for more := true; more; more = r.next('}') {
		if r.peek() != '"' {
			r.unexpected("double-quote to start field name")
			return v
		}
		key := r.string()
		r.space()
		if r.peek() != ':' {
			r.unexpected("a colon to separate field name and value")
			return v
		}
		r.pos++
		r.space()
		at := -1
		if index != nil {
			if i, ok := index[key]; ok {
				at = i
			}
		} else {
			for i, k := range v.keys {
				if k == key {
					at = i
					break
				}
			}
		}
		member := r.value()
		if at >= 0 {
			v.elems[at] = member
			continue
		}
		v.keys, v.elems = append(v.keys, key), append(v.elems, member)
		if index != nil {
			index[key] = len(v.keys) - 1
		} else if len(v.keys) == jsonMembersMap {
			index = make(map[string]int, 2*jsonMembersMap)
			for i, k := range v.keys {
				index[k] = i
			}
		}
	}
	r.leave()
	return v
}

// number reads a JSON number; leading zeros, plus signs and bare points are
// refused.
func (r *jsonReader) number() Value {
	off := r.pos
	if r.peek() == '-' {
		r.pos++
	}
	first := r.pos
	r.digits("a digit after the minus sign")
	if r.err != nil {
		return Value{}
	}
	if r.text[first] == '0' && r.pos-first > 1 {
		r.fail(off, "Invalid numeric value: Leading zeroes not allowed")
	}
	double := false
	if r.peek() == '.' {
		double = true
		r.pos++
		r.digits("a digit after the decimal point")
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		double = true
		r.pos++
		if c = r.peek(); c == '+' || c == '-' {
			r.pos++
		}
		r.digits("a digit in the exponent")
	}
	if r.err != nil {
		return Value{}
	}
	lit := r.text[off:r.pos]
	if len(lit) > jsonNumberMax {
		r.fail(off, "Number value length (%d) exceeds the maximum allowed (%d)", len(lit), jsonNumberMax)
	}
	// A number must end where a value may end.
	if c := r.peek(); wordByte(c) || c == '.' || c == '+' || c == '-' {
		r.unexpected("space separating root-level values, or comma")
	}
	if !double {
		if lit == "-0" {
			lit = "0"
		}
		return Value{kind: valueInteger, off: off, text: lit}
	}
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil && !math.IsInf(f, 0) {
		r.fail(off, "Invalid numeric value: %s", lit)
	}
	return Value{kind: valueDouble, off: off, num: f}
}

func (r *jsonReader) digits(want string) {
	start := r.pos
	for r.pos < len(r.text) && r.text[r.pos] >= '0' && r.text[r.pos] <= '9' {
		r.pos++
	}
	if r.pos == start {
		r.unexpected(want)
	}
}

// string reads a quoted string. Without escapes it is a piece of the text.
func (r *jsonReader) string() string {
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
			r.fail(i, "Illegal unquoted character ((CTRL-CHAR, code %d)): has to be escaped using backslash to be included in string value", c)
			return ""
		}
	}
	r.fail(start, "Unexpected end-of-input in a string")
	return ""
}

// escaped reads the rest of a string from its first backslash at i.
func (r *jsonReader) escaped(start, i int) string {
	out := append(make([]byte, 0, i-start+32), r.text[start+1:i]...)
	for i < len(r.text) {
		c := r.text[i]
		switch {
		case c == '"':
			r.pos = i + 1
			return string(out)
		case c < ' ':
			r.fail(i, "Illegal unquoted character ((CTRL-CHAR, code %d)): has to be escaped using backslash to be included in string value", c)
			return ""
		case c != '\\':
			out = append(out, c)
			i++
			continue
		}
		if i+1 >= len(r.text) {
			break
		}
		i += 2
		switch e := r.text[i-1]; e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			var c rune
			if c, i = r.unicode(i); r.err != nil {
				return ""
			}
			out = utf8.AppendRune(out, c)
		default:
			r.fail(i-1, "Unrecognized character escape '%c' (code %d)", e, e)
			return ""
		}
	}
	r.fail(start, "Unexpected end-of-input in a string")
	return ""
}

// unicode reads the digits of an escape at i, and the second half of a
// surrogate pair. A lone surrogate is no character; Java writes it as '?' when
// it encodes a text, and so do we.
func (r *jsonReader) unicode(i int) (rune, int) {
	c := r.hex4(i)
	i += 4
	if c < 0xD800 || c > 0xDFFF {
		return c, i
	}
	if c < 0xDC00 && strings.HasPrefix(r.text[i:], `\u`) {
		if d := r.hex4(i + 2); d >= 0xDC00 && d <= 0xDFFF {
			return (c-0xD800)<<10 + (d - 0xDC00) + 0x10000, i + 6
		}
	}
	return '?', i
}

func (r *jsonReader) hex4(i int) rune {
	if i+4 > len(r.text) {
		r.fail(i, "Unexpected end-of-input in character escape sequence")
		return 0
	}
	n := rune(0)
	for _, c := range []byte(r.text[i : i+4]) {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			n = n<<4 | rune(c-'A'+10)
		default:
			r.fail(i, "Unexpected character in character escape sequence: expected a hex-digit")
			return 0
		}
	}
	return n
}
