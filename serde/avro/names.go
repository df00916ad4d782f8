package avro

import (
	"strings"
	"unicode"
)

// nameBytesMax bounds a full name. The reference has no bound, but a name
// counts once for every type that inherits its namespace.
const nameBytesMax = 16 << 10

// namesBytesMax bounds all full names of one schema with its references
// together, each counted where it is defined or used: programs and normalized
// texts write them out, while a text need not.
const namesBytesMax = 64 << 20

// splitName splits a name at its last dot. A name that starts with its only
// dot keeps it: such a reference never resolves, while a definition drops the
// dot (see parser.typeName).
func splitName(s string) Name {
	if i := strings.LastIndexByte(s, '.'); i > 0 {
		return Name{Namespace: s[:i], Simple: s[i+1:]}
	}
	return Name{Simple: s}
}

// primitiveKind returns the kind of a primitive type's name.
func primitiveKind(name string) (Kind, bool) {
	for k := KindNull; k <= KindString; k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return 0, false
}

// nameProblem says what keeps s from being a name to the parser, or nothing.
func (p *parser) nameProblem(s string) string {
	if p.anyName && s != "" {
		return ""
	}
	return nameProblem(s, p.lenient)
}

// nameProblem says what keeps s from being a name, or nothing. Strict names
// are those of the specification, ASCII letters, digits and underscores; the
// lenient ones of look-ups may use letters and digits of any script.
func nameProblem(s string, lenient bool) string {
	if s == "" {
		return "Empty name"
	}
	for i, c := range s {
		ok := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9'
		if !ok && lenient && c >= 0x80 {
			ok = unicode.IsLetter(c) || i > 0 && unicode.IsDigit(c)
		}
		if !ok && i == 0 {
			return "Illegal initial character: " + clip(s)
		}
		if !ok {
			return "Illegal character in: " + clip(s)
		}
	}
	return ""
}

// namespaceProblem says which part of a namespace is no name, or nothing.
func namespaceProblem(ns string) string {
	for part := range strings.SplitSeq(ns, ".") {
		if p := nameProblem(part, false); p != "" {
			return `Namespace part "` + clip(part) + `" is invalid: ` + p
		}
	}
	return ""
}

// bytes returns the length of the full name.
func (n Name) bytes() int { return len(n.Namespace) + 1 + len(n.Simple) }

// relative returns the name as it is written inside a type of namespace ns:
// short if it has that namespace or none. A short name that would be read as a
// type of the language is written in full.
func (n Name) relative(ns string) string {
	if n.Namespace == ns && ns != "" && reservedTypeName(n.Simple) {
		return n.Full()
	}
	if n.Namespace == ns {
		return n.Simple
	}
	return n.Full()
}

func reservedTypeName(s string) bool {
	for _, k := range kindNames {
		if k == s && s != "" {
			return true
		}
	}
	return false
}
