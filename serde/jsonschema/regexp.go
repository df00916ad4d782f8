package jsonschema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// regexpDepthMax bounds groups inside groups and classes inside classes. Java
// runs out of stack at some such depth.
const regexpDepthMax = 500

// checkRegexp reports why a text does not compile as a regular expression of
// java.util.regex, or nil. It builds nothing: a pattern is only accepted or
// refused. The grammar is that of Java 17's Pattern without flags.
func checkRegexp(pattern string) error {
	p := &regexpParser{text: pattern, groups: map[string]bool{}}
	p.unquote()
	p.alternatives()
	if p.err == nil && !p.end() {
		p.fail("unmatched closing ')'")
	}
	return p.err
}

type regexpParser struct {
	text    string
	pos     int
	depth   int
	literal []bool // bytes that \Q…\E made literal; nil if there are none
	spaced  bool   // the flag x: white space and comments are skipped
	groups  map[string]bool
	// unbounded says that what was read since it was last cleared has no
	// longest match, which a look-behind needs.
	unbounded bool
	err       error
}

func (p *regexpParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.pos = len(p.text)
}

var errTooDeep = errors.New("groups nest too deep")

// unquote takes \Q…\E apart before anything else is read, as Java does.
func (p *regexpParser) unquote() {
	if !strings.Contains(p.text, `\Q`) {
		return
	}
	var out []byte
	for i := 0; i < len(p.text); {
		rest := p.text[i:]
		switch {
		case strings.HasPrefix(rest, `\Q`):
			quoted, _, _ := strings.Cut(rest[2:], `\E`)
			p.literal = append(p.literal, slices.Repeat([]bool{true}, len(quoted))...)
			out = append(out, quoted...)
			i += 2 + len(quoted)
			if strings.HasPrefix(p.text[i:], `\E`) {
				i += 2
			}
		case rest[0] == '\\' && len(rest) > 1:
			out = append(out, rest[:2]...)
			p.literal = append(p.literal, false, false)
			i += 2
		default:
			out = append(out, rest[0])
			p.literal = append(p.literal, false)
			i++
		}
	}
	p.text = string(out)
}

func (p *regexpParser) end() bool { return p.pos >= len(p.text) }

// peek returns the current byte, 0 at the end and 'q' for a quoted one: a
// letter that means itself wherever it stands.
func (p *regexpParser) peek() byte {
	if p.spaced {
		p.skip()
	}
	if p.end() {
		return 0
	}
	if p.literal != nil && p.literal[p.pos] {
		return 'q'
	}
	return p.text[p.pos]
}

// skip passes white space and comments.
func (p *regexpParser) skip() {
	for !p.end() {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\v', '\f', '\r':
			p.pos++
		case '#':
			end := strings.IndexAny(p.text[p.pos:], "\n\r")
			if end < 0 {
				p.pos = len(p.text)
				return
			}
			p.pos += end
		default:
			return
		}
	}
}

// next passes one character.
func (p *regexpParser) next() rune {
	c, n := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += n
	return c
}

// accept passes a text if it stands here.
func (p *regexpParser) accept(s string) bool {
	if p.peek() != s[0] || !strings.HasPrefix(p.text[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *regexpParser) alternatives() {
	if p.depth++; p.depth > regexpDepthMax {
		p.fail("%w", errTooDeep)
	}
	defer func() { p.depth-- }()
	p.sequence()
	for p.accept("|") {
		p.sequence()
	}
}

func (p *regexpParser) sequence() {
	for p.err == nil {
		switch c := p.peek(); c {
		case 0:
			if p.end() {
				return
			}
			p.next()
		case '|', ')':
			return
		case '*', '+', '?':
			p.fail("dangling meta character '%c'", c)
			return
		case '(':
			if !p.group() {
				continue // flags only: nothing to repeat
			}
		case '[':
			p.pos++
			p.class(0)
		case '\\':
			p.pos++
			p.escape(false)
		case '{':
			// A repetition of nothing.
		default:
			p.next()
		}
		p.repetition()
	}
}

// repetition reads what may follow an atom.
func (p *regexpParser) repetition() {
	switch p.peek() {
	case '?':
		p.pos++
	case '*', '+':
		p.unbounded = true
		p.pos++
	case '{':
		p.counted()
	default:
		return
	}
	if c := p.peek(); c == '?' || c == '+' {
		p.pos++
	}
}

func (p *regexpParser) counted() {
	p.pos++
	least, ok := p.count()
	if !ok {
		p.fail("illegal repetition")
		return
	}
	if p.accept(",") {
		if p.peek() == '}' {
			p.unbounded = true
		} else if most, ok := p.count(); !ok || most < least {
			p.fail("illegal repetition range")
			return
		}
	}
	if !p.accept("}") {
		p.fail("unclosed counted closure")
	}
}

// count reads digits as a number of 31 bits.
func (p *regexpParser) count() (int64, bool) {
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	n, err := strconv.ParseInt(p.text[start:p.pos], 10, 32)
	return n, err == nil
}

// group reads a group and reports whether it is one that can be repeated: a
// change of flags is not.
func (p *regexpParser) group() bool {
	p.pos++
	spaced := p.spaced
	defer func() { p.spaced = spaced }()
	if !p.accept("?") {
		p.body()
		return true
	}
	switch {
	case p.accept(":"), p.accept("="), p.accept("!"), p.accept(">"):
		p.body()
	case p.accept("<="), p.accept("<!"):
		outer := p.unbounded
		p.unbounded = false
		p.body()
		if p.unbounded {
			p.fail("a look-behind has no longest match")
		}
		p.unbounded = outer
	case p.accept("<"):
		name := p.groupName()
		if p.groups[name] {
			p.fail("the group <%s> is already defined", clip(name))
		}
		p.groups[name] = true
		p.body()
	default:
		p.flags()
		if p.accept(")") {
			spaced = p.spaced // they hold for the rest of the group around
			return false
		}
		if !p.accept(":") {
			p.fail("unknown group or flag")
			return true
		}
		p.body()
	}
	return true
}

func (p *regexpParser) body() {
	p.alternatives()
	if !p.accept(")") {
		p.fail("unclosed group")
	}
}

// groupName reads a name and the '>' behind it.
func (p *regexpParser) groupName() string {
	start := p.pos
	for !p.end() && (letter(p.text[p.pos]) || p.pos > start && p.text[p.pos] >= '0' && p.text[p.pos] <= '9') {
		p.pos++
	}
	name := p.text[start:p.pos]
	if name == "" || !p.accept(">") {
		p.fail("bad name of a group")
	}
	return name
}

func (p *regexpParser) flags() {
	on := true
	for !p.end() {
		switch c := p.text[p.pos]; c {
		case 'i', 'm', 's', 'd', 'u', 'c', 'U':
		case 'x':
			p.spaced = on
		case '-':
			if !on {
				p.fail("unknown group or flag")
				return
			}
			on = false
		default:
			return
		}
		p.pos++
	}
}
