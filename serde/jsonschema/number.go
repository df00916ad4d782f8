package jsonschema

import (
	"math"
	"strconv"
	"strings"
)

// canonicalNumber returns a JSON number, which has a point or an exponent, as
// an exact decimal in the form that Java's BigDecimal prints: trailing zeros
// stay, zero has no sign. With scale = digits after the point - exponent, it is
// plain if scale >= 0 and the value's own exponent is at least -6, else one
// digit stands before the point and the exponent has a sign. It reports false
// if the scale does not fit 32 bits.
func canonicalNumber(lit string) (string, bool) {
	mantissa, exponent := lit, 0
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		n, err := strconv.Atoi(strings.TrimPrefix(lit[i+1:], "+"))
		if err != nil || n > math.MaxInt32 || n < -math.MaxInt32 {
			return "", false
		}
		mantissa, exponent = lit[:i], n
	}
	sign := ""
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		sign, mantissa = "-", rest
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		sign, digits = "", "0"
	}
	scale := len(fraction) - exponent
	if scale > math.MaxInt32 || scale < math.MinInt32 {
		return "", false
	}
	adjusted := len(digits) - 1 - scale
	switch {
	case scale == 0:
		return sign + digits, true
	case scale > 0 && adjusted >= -6:
		if missing := scale + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		point := len(digits) - scale
		return sign + digits[:point] + "." + digits[point:], true
	}
	out := sign + digits[:1]
	if len(digits) > 1 {
		out += "." + digits[1:]
	}
	if adjusted == 0 {
		return out, true
	}
	if adjusted > 0 {
		return out + "E+" + strconv.Itoa(adjusted), true
	}
	return out + "E" + strconv.Itoa(adjusted), true
}

// float returns the number as the double that comparisons use; beyond its range
// it is infinite.
func (v *Value) float() float64 {
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// int32 returns an integer literal that fits 32 bits.
func (v *Value) int32() (int32, bool) {
	if v.kind != valueInteger {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 32)
	return int32(n), err == nil
}
