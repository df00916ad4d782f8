package avro

import (
	"math"
	"strconv"
	"strings"

	"milena/serde/schema"
)

// defaultStepsMax bounds the values compared with types while the defaults of
// one schema are checked; unions of records can make that exponential.
const defaultStepsMax = 5_000_000

// fieldDefault reads and checks the default of f, whose name and type are set.
func (p *parser) fieldDefault(v *Value, f *Field) (*Value, *schema.ParseError) {
	d := v.get("default")
	if d == nil {
		return nil, nil
	}
	// A float or double may have its default in a string.
	if d.kind == valueString && (f.Type.Kind == KindFloat || f.Type.Kind == KindDouble) {
		n, ok := parseJavaDouble(d.text)
		if !ok {
			return nil, p.errorf(d, "For input string: %q", clip(d.text))
		}
		d = &Value{kind: valueDouble, off: d.off, num: n}
	}
	if p.lenient {
		return d, nil
	}
	f.Default = d
	p.defaults = append(p.defaults, fieldDefault{*f, d.off})
	return d, p.checkDefault(f, d.off)
}

// checkDefault reports a default that no value of the field's type has.
func (p *parser) checkDefault(f *Field, off int) *schema.ParseError {
	if p.fits(f.Default, f.Type) {
		return nil
	}
	if p.steps <= 0 {
		return errorAt(p.src, off, "Defaults take too many steps to check")
	}
	return errorAt(p.src, off, "Invalid default for field "+clip(f.Name)+": "+clip(f.Default.JSON())+" not a "+clip(typeText(f.Type)))
}

// fits reports whether v can be a default of type t: a union takes what any
// branch takes, and symbols of enums and sizes of fixed are not looked at.
func (p *parser) fits(v *Value, t *Type) bool {
	if p.steps--; p.steps <= 0 {
		return false
	}
	switch t.Kind {
	case 0: // not defined yet: as a record without fields; checked again later
		return v.kind == valueObject
	case KindNull:
		return v.kind == valueNull
	case KindBoolean:
		return v.kind == valueTrue || v.kind == valueFalse
	case KindInt:
		_, ok := v.int32()
		return ok
	case KindLong:
		_, ok := v.int64()
		return ok
	case KindFloat, KindDouble:
		return v.isNumber()
	case KindString, KindBytes, KindFixed, KindEnum:
		return v.kind == valueString
	case KindArray, KindMap:
		if v.kind != valueArray && t.Kind == KindArray || v.kind != valueObject && t.Kind == KindMap {
			return false
		}
		for i := range v.elems {
			if !p.fits(&v.elems[i], t.Items) {
				return false
			}
		}
		return true
	case KindUnion:
		for _, b := range t.Branches {
			if p.fits(v, b) {
				return true
			}
		}
		return false
	default:
		return p.fitsRecord(v, t)
	}
}

// fitsRecord wants a value for each field without a default. A field's own
// default was checked where it stands.
func (p *parser) fitsRecord(v *Value, t *Type) bool {
	if v.kind != valueObject {
		return false
	}
	var index map[string]int
	if len(v.keys) > jsonMembersMap {
		p.steps -= len(v.keys)
		index = make(map[string]int, len(v.keys))
		for i, k := range v.keys {
			index[k] = i
		}
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		var m *Value
		if index == nil {
			m = v.get(f.Name)
		} else if at, ok := index[f.Name]; ok {
			m = &v.elems[at]
		}
		if m == nil {
			p.steps--
			if f.Default == nil {
				return false
			}
			continue
		}
		if !p.fits(m, f.Type) {
			return false
		}
	}
	return true
}

// parseJavaDouble reads a number as Java's Double.parseDouble does: white
// space around it, NaN and Infinity, a final d or f, hexadecimal with a binary
// exponent. Out of range is infinite or zero.
func parseJavaDouble(s string) (float64, bool) {
	s = strings.TrimFunc(s, func(c rune) bool { return c <= ' ' })
	unsigned := strings.TrimLeft(s, "+-")
	if len(s)-len(unsigned) > 1 {
		return 0, false
	}
	switch unsigned {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		if s[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	case "":
		return 0, false
	}
	hex := len(unsigned) > 1 && (unsigned[1] == 'x' || unsigned[1] == 'X')
	if last := s[len(s)-1] | 0x20; last == 'd' || last == 'f' && (!hex || strings.ContainsAny(s, "pP")) {
		s = s[:len(s)-1]
	}
	// What Go would read and Java not: inf, nan, underscores.
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9', c == '.', c == '+', c == '-', c == 'e', c == 'E':
		case hex && (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == 'x' || c == 'X' || c == 'p' || c == 'P'):
		default:
			return 0, false
		}
	}
	if hex && !strings.ContainsAny(s, "pP") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || math.IsInf(f, 0)
}
