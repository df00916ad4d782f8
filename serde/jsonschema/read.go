package jsonschema

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"milena/serde/schema"
)

// Bounds of one JSON text. Depth and number length are the reference's own.
const (
	jsonDepthMax   = 1000    // nested arrays and objects
	jsonNumberMax  = 1000    // bytes of one number
	jsonValuesMax  = 1 << 19 // values in one text, about 100 bytes of memory each
	jsonMembersMap = 16      // object members from which duplicates are found by map
)

// Texts that the reference's refusals start with. It tells no more; what
// follows is ours.
const (
	notJSON   = "Invalid JSON schema"
	notSchema = "Invalid JSON"
)

// reader reads one JSON value strictly and keeps the order of keys. A repeated
// key has its last value at its first place. NaN and the infinities are taken
// as the strings that they are printed as.
type reader struct {
	text   string
	pos    int
	depth  int
	values int
	err    *schema.ParseError // the first one; from then on nothing is left to read
}

// readJSON reads the first JSON value of text. What follows it is ignored
// unless it sticks to a bare word.
func readJSON(text string) (*Value, *schema.ParseError) {
	r := &reader{text: text}
	if !utf8.ValidString(text) {
		return nil, errorAt(text, 0, notJSON+": the text is not valid UTF-8")
	}
	r.space()
	v := r.value()
	if r.err != nil {
		return nil, r.err
	}
	return &v, nil
}

// errorAt makes a ParseError for a byte offset in text.
func errorAt(text string, off int, msg string) *schema.ParseError {
	off = min(off, len(text))
	before := text[:off]
	return &schema.ParseError{
		Line:    strings.Count(before, "\n") + 1,
		Column:  off - strings.LastIndexByte(before, '\n'),
		Message: msg,
	}
}

// clip bounds what an error message quotes from the text.
func clip(s string) string {
	const most = 200
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
func (r *reader) fail(off int, format string, args ...any) {
	if r.err == nil {
		r.err = errorAt(r.text, off, notJSON+": "+fmt.Sprintf(format, args...))
	}
	r.pos = len(r.text)
}

// unexpected fails with the character at the current place.
func (r *reader) unexpected(want string) {
	if r.pos >= len(r.text) {
		r.fail(r.pos, "the text ends where %s is expected", want)
		return
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.pos:])
	r.fail(r.pos, "%q stands where %s is expected", c, want)
}

func (r *reader) space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\r', '\n':
			r.pos++
		default:
			return
		}
	}
}

// peek returns the current byte, or 0 at the end.
func (r *reader) peek() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

// value reads the value that starts at the current place.
func (r *reader) value() Value {
	if r.values++; r.values > jsonValuesMax {
		r.fail(r.pos, "the text has more than %d values", jsonValuesMax)
	}
	off := r.pos
	switch c := r.peek(); {
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '"':
		return Value{kind: valueString, off: off, text: r.string()}
	case c == '-' && strings.HasPrefix(r.text[off+1:], "I"), letter(c):
		return r.word()
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	default:
		r.unexpected("a value")
		return Value{}
	}
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// wordByte takes letters beyond ASCII along, so that nullé is one bad word.
func wordByte(c byte) bool {
	return letter(c) || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func (r *reader) word() Value {
	off := r.pos
	r.pos++
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
	case "NaN", "Infinity", "-Infinity":
		v.kind, v.text = valueString, w
	case "-INF":
		v.kind, v.text = valueString, "-Infinity"
	default:
		r.fail(off, "unknown word %s", clip(w))
	}
	return v
}

func (r *reader) enter() {
	if r.depth++; r.depth > jsonDepthMax {
		r.fail(r.pos, "values nest deeper than %d levels", jsonDepthMax)
		return
	}
	r.pos++
	r.space()
}

// next handles what stands between two members: it reports whether another one
// follows.
func (r *reader) next(end byte) bool {
	r.space()
	switch r.peek() {
	case ',':
		r.pos++
		r.space()
		return true
	case end:
		return false
	}
	r.unexpected(fmt.Sprintf("a comma or '%c'", end))
	return false
}

func (r *reader) leave() {
	r.depth--
	if r.err == nil {
		r.pos++
	}
}

func (r *reader) array() Value {
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

func (r *reader) object() Value {
	v := Value{kind: valueObject, off: r.pos}
	r.enter()
	if r.peek() == '}' {
		r.leave()
		return v
	}
	var index map[string]int // once there are many members
	for more := true; more; more = r.next('}') {
		if r.peek() != '"' {
			r.unexpected("a key in double quotes")
			return v
		}
		key := r.string()
		r.space()
		if r.peek() != ':' {
			r.unexpected("a colon")
			return v
		}
		r.pos++
		r.space()
		at := find(v.keys, index, key)
		member := r.value()
		if at >= 0 {
			v.elems[at] = member
			continue
		}
		v.keys, v.elems = append(v.keys, key), append(v.elems, member)
		switch {
		case index != nil:
			index[key] = len(v.keys) - 1
		case len(v.keys) == jsonMembersMap:
			index = indexOf(v.keys)
		}
	}
	r.leave()
	return v
}

func indexOf(keys []string) map[string]int {
	index := make(map[string]int, 2*len(keys))
	for i, k := range keys {
		index[k] = i
	}
	return index
}

// find returns the position of a key, or -1. The index is used if there is one.
func find(keys []string, index map[string]int, key string) int {
	if index != nil {
		if i, ok := index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range keys {
		if k == key {
			return i
		}
	}
	return -1
}

// number reads a JSON number; leading zeros, plus signs and bare points are
// refused.
func (r *reader) number() Value {
	off := r.pos
	if r.peek() == '-' {
		r.pos++
	}
	first := r.pos
	r.digits()
	if r.err == nil && r.text[first] == '0' && r.pos-first > 1 {
		r.fail(off, "a number has leading zeros")
	}
	kind := valueInteger
	if r.peek() == '.' {
		kind = valueDecimal
		r.pos++
		r.digits()
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		kind = valueDecimal
		r.pos++
		if c = r.peek(); c == '+' || c == '-' {
			r.pos++
		}
		r.digits()
	}
	if r.err != nil {
		return Value{}
	}
	lit := r.text[off:r.pos]
	if len(lit) > jsonNumberMax {
		r.fail(off, "a number is longer than %d characters", jsonNumberMax)
		return Value{}
	}
	if c := r.peek(); wordByte(c) || c == '.' || c == '+' || c == '-' {
		r.unexpected("the end of a number")
		return Value{}
	}
	if kind == valueInteger {
		if lit == "-0" {
			lit = "0"
		}
		return Value{kind: kind, off: off, text: lit}
	}
	text, ok := canonicalNumber(lit)
	if !ok {
		r.fail(off, "the exponent of a number is out of range")
	}
	return Value{kind: kind, off: off, text: text}
}

func (r *reader) digits() {
	start := r.pos
	for r.pos < len(r.text) && r.text[r.pos] >= '0' && r.text[r.pos] <= '9' {
		r.pos++
	}
	if r.pos == start {
		r.unexpected("a digit")
	}
}
