package avro

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Value is a JSON value of a schema text: a field default or an attribute. Keys
// keep the order of the text, integers their digits. It is immutable.
type Value struct {
	kind  valueKind
	off   int // byte offset in its text, for error positions
	num   float64
	text  string   // string, or digits of an integer
	keys  []string // object
	elems []Value  // array, or values of an object beside keys
}

type valueKind uint8

const (
	valueNull valueKind = iota
	valueFalse
	valueTrue
	valueInteger // written without point and exponent; text holds sign and digits
	valueDouble  // any other number
	valueString
	valueArray
	valueObject
)

// JSON returns the value as compact JSON in the form of the canonical text.
func (v *Value) JSON() string { return string(v.append(nil)) }

// get returns the member of an object, or nil. Schemas have few attributes, so
// a scan beats a map; callers ask for a bounded number of keys.
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

// int64 returns an integer that fits 64 bits.
func (v *Value) int64() (int64, bool) {
	if v.kind != valueInteger {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil
}

// int32 returns an integer that fits 32 bits.
func (v *Value) int32() (int32, bool) {
	n, ok := v.int64()
	return int32(n), ok && n >= math.MinInt32 && n <= math.MaxInt32
}

func (v *Value) isNumber() bool { return v.kind == valueInteger || v.kind == valueDouble }

// hasBigInteger reports whether v is or holds an integer beyond 64 bits.
func (v *Value) hasBigInteger() bool {
	if v.kind == valueInteger {
		_, ok := v.int64()
		return !ok
	}
	for i := range v.elems {
		if v.elems[i].hasBigInteger() {
			return true
		}
	}
	return false
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
	case valueInteger:
		return append(dst, v.text...)
	case valueDouble:
		return appendDouble(dst, v.num, 64)
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

// sorted returns v with the keys of every object in UTF-16 order.
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

// equal compares by meaning: objects without regard to the order of keys,
// numbers as they are written.
func (v *Value) equal(w *Value) bool {
	if v.kind != w.kind || len(v.elems) != len(w.elems) {
		return false
	}
	switch v.kind {
	case valueInteger, valueString:
		return v.text == w.text
	case valueDouble:
		return math.Float64bits(v.num) == math.Float64bits(w.num)
	case valueArray:
		for i := range v.elems {
			if !v.elems[i].equal(&w.elems[i]) {
				return false
			}
		}
	case valueObject:
		a, b := sortedIndex(v.keys), sortedIndex(w.keys)
		for i := range a {
			if v.keys[a[i]] != w.keys[b[i]] || !v.elems[a[i]].equal(&w.elems[b[i]]) {
				return false
			}
		}
	}
	return true
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
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			if (ra > 0xFFFF) != (rb > 0xFFFF) {
				if ra > 0xFFFF {
					ra = 0xD800
				} else {
					rb = 0xD800
				}
			}
			return int(ra - rb)
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

const upperHex = "0123456789ABCDEF"

// appendString writes s quoted: the short escapes, \u00XX with upper case
// digits for other control characters, everything else raw.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			dst = append(dst, c)
			continue
		}
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', upperHex[c>>4], upperHex[c&15])
		}
	}
	return append(dst, '"')
}

// appendDouble writes f as Java's Double.toString (bits 64) or Float.toString
// (bits 32) does: plain from 10^-3 up to 10^7, otherwise one digit before the
// point and E; always a point. JSON has no infinities and NaN, so they become
// strings.
func appendDouble(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	case f == 0 || math.Abs(f) >= 1e-3 && math.Abs(f) < 1e7:
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, bits)
		if slices.Contains(dst[start:], '.') {
			return dst
		}
		return append(dst, '.', '0')
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', -1, bits)
	at := slices.Index(e, 'e')
	if !slices.Contains(e[:at], '.') {
		// Java writes two digits at least, the nearest ones: 4.9E-324.
		two := strconv.AppendFloat(nil, f, 'e', 1, bits)
		if g, err := strconv.ParseFloat(string(two), bits); err == nil && g == f {
			e, at = two, slices.Index(two, 'e')
		}
	}
	dst = append(dst, e[:at]...)
	if !slices.Contains(e[:at], '.') {
		dst = append(dst, '.', '0')
	}
	dst = append(dst, 'E')
	exp := e[at+1:]
	if exp[0] == '-' {
		dst = append(dst, '-')
	}
	exp = exp[1:]
	for len(exp) > 1 && exp[0] == '0' {
		exp = exp[1:]
	}
	return append(dst, exp...)
}
