package protobuf

import (
	"fmt"
	"strconv"
	"strings"

	"milena/serde/schema"
)

// lexer reads a text by characters and words, as the reference does: there are
// no tokens, and what a word means depends on where it stands. Its first error
// stays; after it every method returns at once.
type lexer struct {
	src string
	pos int
	err *schema.ParseError
	// Of the place that was asked for last, so that places cost one pass.
	placePos, placeLine, placeStart int
}

// place returns line and column of a byte offset.
func (l *lexer) place(off int) Pos {
	if off < l.placePos || l.placeLine == 0 {
		l.placePos, l.placeLine, l.placeStart = 0, 1, 0
	}
	for i := l.placePos; i < off && i < len(l.src); i++ {
		if l.src[i] == '\n' {
			l.placeLine++
			l.placeStart = i + 1
		}
	}
	l.placePos = off
	return Pos{Line: l.placeLine, Column: off - l.placeStart + 1}
}

// syntaxPrefix starts every message about a text that can't be parsed; clients
// match on it.
const syntaxPrefix = "Could not parse Protobuf - "

func (l *lexer) failAt(off int, format string, args ...any) {
	if l.err != nil {
		return
	}
	p := l.place(off)
	l.err = &schema.ParseError{
		Line: p.Line, Column: p.Column,
		Message: fmt.Sprintf("%sSyntax error in :%d:%d: %s", syntaxPrefix, p.Line, p.Column, fmt.Sprintf(format, args...)),
	}
}

func (l *lexer) fail(format string, args ...any) { l.failAt(l.pos, format, args...) }

// skip moves past white space and comments.
func (l *lexer) skip() {
	for l.err == nil && l.pos < len(l.src) {
		switch l.src[l.pos] {
		case ' ', '\t', '\r', '\n':
			l.pos++
		case '/':
			l.comment()
		default:
			return
		}
	}
}

// comment moves past one comment. One that ends the text right after its
// slashes, or after one space behind them, is an error in the reference.
func (l *lexer) comment() {
	rest := l.src[l.pos:]
	switch {
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			l.pos = len(l.src)
			l.fail("unterminated comment")
			return
		}
		l.pos += n + 4
	case rest == "//", rest == "// ":
		l.pos = len(l.src)
		l.fail("unexpected end of file in a comment")
	case strings.HasPrefix(rest, "//"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest) - 1
		}
		l.pos += n + 1
	default:
		l.pos++
		l.fail("unexpected '/'")
	}
}

// done reports whether nothing but white space and comments is left, or the
// text is wrong.
func (l *lexer) done() bool {
	l.skip()
	return l.err != nil || l.pos >= len(l.src)
}

// peek returns the next character that counts, or 0 at the end, which is an
// error.
func (l *lexer) peek() byte {
	l.skip()
	if l.err != nil {
		return 0
	}
	if l.pos >= len(l.src) {
		l.fail("unexpected end of file")
		return 0
	}
	return l.src[l.pos]
}

// take moves past c if it comes next and reports whether it did.
func (l *lexer) take(c byte) bool {
	if l.peek() != c || l.err != nil {
		return false
	}
	l.pos++
	return true
}

// read returns the next character that counts and moves past it.
func (l *lexer) read() byte {
	c := l.peek()
	if l.err == nil {
		l.pos++
	}
	return c
}

// require moves past c, or fails.
func (l *lexer) require(c byte) {
	if got := l.read(); l.err == nil && got != c {
		l.fail("expected '%c' but was '%s'", c, l.charBefore())
	}
}

// charBefore returns the whole character whose first byte was read last.
func (l *lexer) charBefore() string {
	for _, r := range l.src[l.pos-1:] {
		return string(r)
	}
	return ""
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// word returns the next word.
func (l *lexer) word() string {
	l.skip()
	if l.err != nil {
		return ""
	}
	start := l.pos
	for l.pos < len(l.src) && isWordByte(l.src[l.pos]) {
		l.pos++
	}
	if start == l.pos {
		l.fail("expected a word")
	}
	return l.src[start:l.pos]
}

// memberName returns a word that doesn't start with a digit.
func (l *lexer) memberName() string {
	before := l.pos
	l.skip()
	if l.err == nil && l.pos < len(l.src) && l.src[l.pos] >= '0' && l.src[l.pos] <= '9' {
		l.failAt(before, "field and constant names cannot start with a digit")
		return ""
	}
	return l.name()
}

// name returns a word that may stand in parentheses or brackets.
func (l *lexer) name() string {
	switch l.peek() {
	case '(':
		return l.wrapped(')')
	case '[':
		return l.wrapped(']')
	}
	return l.word()
}

func (l *lexer) wrapped(end byte) string {
	l.pos++
	s := l.word()
	if !l.take(end) && l.err == nil {
		l.fail("expected '%c'", end)
	}
	return s
}

// integer returns the next word as a number of 32 bits: decimal, whatever zeros
// lead, or hexadecimal after 0x.
func (l *lexer) integer() int32 {
	w := l.word()
	if l.err != nil {
		return 0
	}
	n, ok := parseInt32(w)
	if !ok {
		l.fail("expected an integer but was %s", clip(w))
	}
	return n
}

func parseInt32(w string) (int32, bool) {
	base := 10
	if strings.HasPrefix(w, "0x") || strings.HasPrefix(w, "0X") {
		w, base = w[2:], 16
	}
	if strings.ContainsAny(w, "_.") {
		return 0, false
	}
	n, err := strconv.ParseInt(w, base, 32)
	return int32(n), err == nil
}

// text returns a quoted string or a bare word.
func (l *lexer) text() string {
	if c := l.peek(); c == '"' || c == '\'' {
		return l.quoted()
	}
	return l.word()
}

// quoted returns a quoted string joined with those that follow it.
func (l *lexer) quoted() string {
	var b strings.Builder
	for {
		quote := l.read()
		if l.err != nil {
			return ""
		}
		if quote != '"' && quote != '\'' {
			l.fail("expected quoted string")
			return ""
		}
		if !l.quotedPart(&b, quote) {
			return ""
		}
		if c := l.peek(); c != '"' && c != '\'' {
			return b.String()
		}
	}
}

func (l *lexer) quotedPart(b *strings.Builder, quote byte) bool {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		l.pos++
		switch c {
		case quote:
			return true
		case '\\':
			if l.pos >= len(l.src) {
				l.fail("unexpected end of file")
				return false
			}
			if !l.escape(b) {
				return false
			}
		default:
			b.WriteByte(c)
		}
	}
	l.fail("unterminated string")
	return false
}

// escape reads what follows a backslash. Numbers mean the character of that
// code, not a byte; what has no meaning stands for itself.
func (l *lexer) escape(b *strings.Builder) bool {
	c := l.src[l.pos]
	l.pos++
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v"[i])
		return true
	}
	switch {
	case c == 'x' || c == 'X':
		n, digits := l.digits(16, 2)
		if digits == 0 {
			l.fail("expected a digit after \\x or \\X")
			return false
		}
		b.WriteRune(n)
	case c >= '0' && c <= '7':
		l.pos--
		n, _ := l.digits(8, 3)
		b.WriteRune(n)
	default:
		b.WriteByte(c)
	}
	return true
}

func (l *lexer) digits(base, max int) (value rune, n int) {
	for n < max && l.pos < len(l.src) {
		d, err := strconv.ParseUint(l.src[l.pos:l.pos+1], base, 8)
		if err != nil {
			break
		}
		value = value*rune(base) + rune(d)
		l.pos++
		n++
	}
	return value, n
}

// clip shortens what a peer wrote for a message.
func clip(s string) string {
	const max = 200
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "") + "..."
}
