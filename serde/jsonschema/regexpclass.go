package jsonschema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class reads a character class behind its '['.
func (p *regexpParser) class(level int) {
	if level > regexpDepthMax {
		p.fail("%w", errTooDeep)
		return
	}
	if p.peek() == '^' {
		p.pos++
	}
	for empty := true; p.err == nil; {
		switch p.peek() {
		case 0:
			if p.end() {
				p.fail("unclosed character class")
				return
			}
			p.next()
		case '[':
			p.pos++
			p.class(level + 1)
		case ']':
			if !empty {
				p.pos++
				return
			}
			p.span()
		case '&':
			if strings.HasPrefix(p.text[p.pos:], "&&") {
				p.pos += 2
				if !p.intersection(level, empty) {
					return
				}
				break
			}
			p.span()
		default:
			p.span()
		}
		empty = false
	}
}

// intersection reads the operand behind && and reports whether the class goes
// on.
func (p *regexpParser) intersection(level int, empty bool) bool {
	right := false
	for p.err == nil && !p.end() {
		switch c := p.peek(); {
		case c == '[':
			p.pos++
			p.class(level + 1)
		case c == ']' || c == '&':
			if !right && empty {
				p.fail("bad class syntax")
				return false
			}
			return true
		default:
			p.span()
		}
		right = true
	}
	return true
}

// span reads a character, a predefined class or a range.
func (p *regexpParser) span() {
	from := p.classChar()
	if from < 0 || p.err != nil || p.peek() != '-' {
		return
	}
	next := byte(0)
	if p.pos+1 < len(p.text) {
		next = p.text[p.pos+1]
	}
	if next == '[' || next == ']' || next == 0 {
		return // the minus sign stands for itself
	}
	p.pos++
	if to := p.classChar(); to < from {
		p.fail("illegal character range")
	}
}

// classChar reads one character of a class; -1 is a predefined class.
func (p *regexpParser) classChar() rune {
	if p.peek() != '\\' {
		if p.end() {
			p.fail("unclosed character class")
			return -1
		}
		return p.next()
	}
	p.pos++
	return p.escape(true)
}

// escape reads what stands behind a backslash and returns the character that it
// means, or -1 if it is no single one.
func (p *regexpParser) escape(inClass bool) rune {
	if p.end() {
		p.fail("unexpected end behind a backslash")
		return -1
	}
	c := p.next()
	switch {
	case c >= utf8.RuneSelf || !letter(byte(c)) && (c < '0' || c > '9'):
		return c
	case strings.ContainsRune("dDhHsSvVwW", c):
		return -1
	case strings.ContainsRune("AbBGRXzZ", c) && !inClass:
		if c == 'R' || c == 'X' {
			p.unbounded = p.unbounded || c == 'X'
		}
		if c == 'b' {
			p.accept("{g}")
		}
		return -1
	case c == 'p' || c == 'P':
		p.property()
		return -1
	case c >= '1' && c <= '9' && !inClass:
		p.unbounded = true
		return -1
	case c == 'k' && !inClass:
		p.unbounded = true
		if !p.accept("<") {
			p.fail(`\k is not followed by '<'`)
			return -1
		}
		if name := p.groupName(); p.err == nil && !p.groups[name] {
			p.fail("there is no group <%s>", clip(name))
		}
		return -1
	}
	return p.charEscape(c)
}

// charEscape reads the escapes of single characters.
func (p *regexpParser) charEscape(c rune) rune {
	switch c {
	case 'a':
		return '\a'
	case 'e':
		return 0x1B
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case '0':
		return p.octal()
	case 'x':
		if p.accept("{") {
			return p.hexBraces()
		}
		return p.hex(2)
	case 'u':
		return p.hex(4)
	case 'c':
		if p.end() {
			p.fail("illegal control escape")
			return -1
		}
		return p.next() ^ 64
	case 'N':
		name, rest, ok := strings.Cut(p.text[p.pos:], "}")
		if !ok || len(name) < 2 || name[0] != '{' {
			p.fail("illegal character name")
			return -1
		}
		p.pos = len(p.text) - len(rest)
		return unicode.MaxRune
	}
	p.fail("illegal escape \\%c", c)
	return -1
}

func (p *regexpParser) octal() rune {
	n, digits := rune(0), 0
	for digits < 3 && !p.end() && p.text[p.pos] >= '0' && p.text[p.pos] <= '7' && (digits < 2 || n <= 037) {
		n = n<<3 | rune(p.text[p.pos]-'0')
		p.pos++
		digits++
	}
	if digits == 0 {
		p.fail("illegal octal escape")
	}
	return n
}

func (p *regexpParser) hex(digits int) rune {
	n := rune(0)
	for range digits {
		if p.end() || !isHex(p.text[p.pos]) {
			p.fail("illegal hexadecimal escape")
			return -1
		}
		n = n<<4 | rune(unhex(p.text[p.pos]))
		p.pos++
	}
	return n
}

func (p *regexpParser) hexBraces() rune {
	n := rune(0)
	start := p.pos
	for !p.end() && isHex(p.text[p.pos]) && n <= unicode.MaxRune {
		n = n<<4 | rune(unhex(p.text[p.pos]))
		p.pos++
	}
	if p.pos == start || n > unicode.MaxRune || !p.accept("}") {
		p.fail("illegal hexadecimal escape")
	}
	return n
}

// property reads the name of a property behind \p or \P.
func (p *regexpParser) property() {
	if p.end() {
		p.fail("unexpected end behind a property escape")
		return
	}
	if !p.accept("{") {
		if name := string(p.next()); !isCategory(name) {
			p.fail("unknown character property %q", name)
		}
		return
	}
	name, rest, ok := strings.Cut(p.text[p.pos:], "}")
	if !ok || name == "" {
		p.fail("unclosed character family")
		return
	}
	p.pos = len(p.text) - len(rest)
	if !isProperty(name) {
		p.fail("unknown character property %q", clip(name))
	}
}

// words has the names in a list, to look them up.
func words(list, name string) bool {
	return name != "" && !strings.ContainsAny(name, " |") && strings.Contains("|"+list+"|", "|"+name+"|")
}

const (
	javaCategories = "Cn|Lu|Ll|Lt|Lm|Lo|Mn|Me|Mc|Nd|Nl|No|Zs|Zl|Zp|Cc|Cf|Co|Cs|Pd|Ps|Pe|Pc|Po|Sm|Sc|Sk|So|Pi|Pf|L|M|N|Z|C|P|S|LC|LD|L1|all"
	javaPOSIX      = "ASCII|Alnum|Alpha|Blank|Cntrl|Digit|Graph|Lower|Print|Punct|Space|Upper|XDigit"
	javaMethods    = "javaLowerCase|javaUpperCase|javaAlphabetic|javaIdeographic|javaTitleCase|javaDigit|javaDefined|javaLetter|" +
		"javaLetterOrDigit|javaJavaIdentifierStart|javaJavaIdentifierPart|javaUnicodeIdentifierStart|javaUnicodeIdentifierPart|" +
		"javaIdentifierIgnorable|javaSpaceChar|javaWhitespace|javaISOControl|javaMirrored"
	javaBinary = "ALPHABETIC|LETTER|IDEOGRAPHIC|LOWERCASE|UPPERCASE|TITLECASE|WHITE_SPACE|CONTROL|PUNCTUATION|HEX_DIGIT|ASSIGNED|" +
		"NONCHARACTER_CODE_POINT|DIGIT|ALNUM|BLANK|GRAPH|PRINT|WORD|JOIN_CONTROL|" +
		"WHITESPACE|HEXDIGIT|NONCHARACTERCODEPOINT|JOINCONTROL"
)

func isCategory(name string) bool { return words(javaCategories, name) }

// isProperty reports whether Java knows a property by name. Names of blocks are
// only looked at for their form.
func isProperty(name string) bool {
	if key, value, ok := strings.Cut(name, "="); ok {
		switch strings.ToLower(key) {
		case "sc", "script":
			return isScript(value)
		case "blk", "block":
			return isBlock(value)
		case "gc", "general_category":
			return isCategory(value) || words(javaPOSIX, value)
		}
		return false
	}
	if block, ok := strings.CutPrefix(name, "In"); ok {
		return isBlock(block)
	}
	if rest, ok := strings.CutPrefix(name, "Is"); ok {
		return words(javaBinary, strings.ToUpper(rest)) || isCategory(rest) || words(javaPOSIX, rest) || isScript(rest)
	}
	return isCategory(name) || words(javaPOSIX, name) || words(javaMethods, name)
}

// isScript reports whether a script has the name, in any case.
func isScript(name string) bool {
	for known := range unicode.Scripts {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return words("COMMON|INHERITED|UNKNOWN|LATN|GREK|CYRL|HANI|HIRA|KANA|HANG|ARAB|HEBR|THAI|DEVA|ARMN|GEOR|ZYYY|ZINH|ZZZZ", strings.ToUpper(name))
}

func isBlock(name string) bool {
	for i := range len(name) {
		if c := name[i]; !letter(c) && c != ' ' && c != '_' && c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
