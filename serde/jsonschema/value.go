package jsonschema

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Value is a JSON value of a schema text. Keys keep the order of the text and
// numbers their digits. It is immutable.
type Value struct {
	kind  valueKind
	off   int      // byte offset in its text, for error positions
	text  string   // string, or the canonical form of a number
	keys  []string // object
	elems []Value  // array, or values of an object beside keys
}

type valueKind uint8

const (
	valueNull valueKind = iota
	valueFalse
	valueTrue
	valueInteger // written without point and exponent
	valueDecimal // any other number
	valueString
	valueArray
	valueObject
)

// JSON returns the value as compact JSON in the form of the canonical text.
func (v *Value) JSON() string { return string(v.append(nil)) }

// SortedJSON is JSON with the keys of all objects sorted: two values are Equal
// if it is the same.
func (v *Value) SortedJSON() string {
	sorted := v.sorted()
	return sorted.JSON()
}

// Offset returns where the value starts in its text, in bytes.
func (v *Value) Offset() int { return v.off }

// IsNull reports whether the value is null.
func (v *Value) IsNull() bool { return v.kind == valueNull }

// IsContainer reports whether the value is an array or an object.
func (v *Value) IsContainer() bool { return v.kind == valueArray || v.kind == valueObject }

// Equal compares two values: objects without regard to the order of keys,
// numbers as they are written, so that 1 and 1.0 differ.
func (v *Value) Equal(w *Value) bool {
	if v.kind != w.kind || v.text != w.text || len(v.elems) != len(w.elems) {
		return false
	}
	if v.kind == valueObject {
		a, b := sortedIndex(v.keys), sortedIndex(w.keys)
		for i := range a {
			if v.keys[a[i]] != w.keys[b[i]] || !v.elems[a[i]].Equal(&w.elems[b[i]]) {
				return false
			}
		}
		return true
	}
	for i := range v.elems {
		if !v.elems[i].Equal(&w.elems[i]) {
			return false
		}
	}
	return true
}

// get returns the member of an object, or nil. Callers that ask for many keys
// of one object bound how often.
func (v *Value) get(key string) *Value {
	for i, k := range v.keys {
		if k == key {
			return &v.elems[i]
		}
	}
	return nil
}

// str returns the member's text if it is a string.
func (v *Value) str(key string) (string, bool) {
	if m := v.get(key); m != nil && m.kind == valueString {
		return m.text, true
	}
	return "", false
}

func (v *Value) isNumber() bool { return v.kind == valueInteger || v.kind == valueDecimal }

func (v *Value) isBool() bool { return v.kind == valueTrue || v.kind == valueFalse }

// isSchema reports whether the value may stand for a schema.
func (v *Value) isSchema() bool { return v.kind == valueObject || v.isBool() }

// word is the kind as the reference's messages spell it.
func (v *Value) word() string {
	switch v.kind {
	case valueNull:
		return "NULL"
	case valueFalse, valueTrue:
		return "BOOLEAN"
	case valueInteger, valueDecimal:
		return "NUMBER"
	case valueString:
		return "STRING"
	case valueArray:
		return "ARRAY"
	default:
		return "OBJECT"
	}
}

// append writes v as compact JSON.
func (v *Value) append(dst []byte) []byte {
	switch v.kind {
	case valueNull:
		return append(dst, "null"...)
	case valueFalse:
		return append(dst, "false"...)
	case valueTrue:
		return append(dst, "true"...)
	case valueInteger, valueDecimal:
		return append(dst, v.text...)
	case valueString:
		return appendString(dst, v.text)
	case valueArray:
		dst = append(dst, '[')
		for i := range v.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.elems[i].append(dst)
		}
		return append(dst, ']')
	default:
		dst = append(dst, '{')
		for i := range v.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, v.keys[i]), ':')
			dst = v.elems[i].append(dst)
		}
		return append(dst, '}')
	}
}

// sorted returns v with the keys of every object in UTF-16 order. Arrays keep
// their order.
func (v *Value) sorted() Value {
	out := *v
	if len(v.elems) == 0 {
		return out
	}
	out.elems = make([]Value, len(v.elems))
	if v.kind == valueArray {
		for i := range v.elems {
			out.elems[i] = v.elems[i].sorted()
		}
		return out
	}
	out.keys = make([]string, len(v.keys))
	for i, j := range sortedIndex(v.keys) {
		out.keys[i], out.elems[i] = v.keys[j], v.elems[j].sorted()
	}
	return out
}

// sortedIndex returns the positions of keys in the order in which Java sorts
// strings.
func sortedIndex(keys []string) []int {
	idx := make([]int, len(keys))
	for i := range idx {
		idx[i] = i
	}
	slices.SortFunc(idx, func(a, b int) int { return compareUTF16(keys[a], keys[b]) })
	return idx
}

// compareUTF16 orders strings by UTF-16 code units, as Java does. It differs
// from byte order only where one string has a character beyond the BMP (a
// surrogate, D800–DFFF) and the other one at U+E000–U+FFFF.
func compareUTF16(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	a, b = a[n:], b[n:]
	if a == "" || b == "" {
		return len(a) - len(b)
	}
	ra, _ := utf8.DecodeRuneInString(a)
	rb, _ := utf8.DecodeRuneInString(b)
	if (ra > 0xFFFF) != (rb > 0xFFFF) {
		if ra > 0xFFFF {
			ra = 0xD800
		} else {
			rb = 0xD800
		}
	}
	return int(ra - rb)
}

const upperHex = "0123456789ABCDEF"

// appendString writes s quoted: the short escapes, \u00XX with upper case
// digits for other control characters, everything else raw.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if j := strings.IndexByte("\"\\\b\f\n\r\t", c); j >= 0 {
			dst = append(dst, '\\', "\"\\bfnrt"[j])
			continue
		}
		dst = append(dst, '\\', 'u', '0', '0', upperHex[c>>4], upperHex[c&15])
	}
	return append(append(dst, s[from:]...), '"')
}
