package protobuf

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// numberBytesMax is up to which length numbers are reprinted; nothing useful is
// longer, and big arithmetic on hostile lengths is slow.
const numberBytesMax = 1000

// reprint returns a number as the reference normalizes it: read as the Java
// library it uses reads numbers (octal after a zero, suffixes of types, float if
// that prints like double, else double if exact, else decimal), printed with at
// most three decimals and no exponent. What it can't read stays.
func reprint(text string) string {
	if len(text) > numberBytesMax || text == "" {
		return text
	}
	if s, ok := reprintHex(text); ok {
		return s
	}
	if strings.ContainsAny(text, "xX#") {
		return text
	}
	body, suffix := text, byte(0)
	if c := text[len(text)-1]; (c < '0' || c > '9') && c != '.' {
		body, suffix = text[:len(text)-1], c
	}
	fraction := strings.ContainsAny(body, ".eE")
	switch suffix {
	case 'l', 'L':
		if fraction {
			return text
		}
		return orText(text, javaLong)(body)
	case 'f', 'F', 'd', 'D':
		return reprintFloat(text, body, suffix)
	case 0:
		if !fraction {
			return orText(text, javaInteger)(body)
		}
		return reprintFloat(text, body, 0)
	default:
		return text
	}
}

// orText makes text the answer where read has none.
func orText(text string, read func(string) (string, bool)) func(string) string {
	return func(s string) string {
		if out, ok := read(s); ok {
			return out
		}
		return text
	}
}

func reprintHex(text string) (string, bool) {
	rest, negative := strings.CutPrefix(text, "-")
	digits, ok := strings.CutPrefix(rest, "0x")
	if !ok {
		digits, ok = strings.CutPrefix(rest, "0X")
	}
	if !ok {
		return "", false
	}
	return printBig(digits, 16, negative)
}

func printBig(digits string, base int, negative bool) (string, bool) {
	if digits == "" || strings.ContainsAny(digits, "_+-") {
		return "", false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return "", false
	}
	if negative {
		n.Neg(n)
	}
	return n.String(), true
}

// javaLong reads an integer that had the suffix of a long.
func javaLong(s string) (string, bool) {
	if strings.Trim(strings.TrimPrefix(s, "-"), "0123456789") != "" {
		return "", false
	}
	return javaInteger(s)
}

// javaInteger reads an integer, as octal if it starts with a zero. A second sign
// takes the first back, as in Java.
func javaInteger(s string) (string, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	base := 10
	if len(digits) > 1 && digits[0] == '0' {
		digits, base = digits[1:], 8
	}
	digits, again := strings.CutPrefix(digits, "-")
	return printBig(digits, base, negative != again)
}

// reprintFloat prints a number with a point, an exponent or a suffix.
func reprintFloat(text, body string, suffix byte) string {
	if !isDecimal(body) {
		return text
	}
	wide, err := strconv.ParseFloat(body, 64)
	if err != nil && !math.IsInf(wide, 0) {
		return text
	}
	narrow64, _ := strconv.ParseFloat(body, 32) // infinite if out of range
	narrow := float32(narrow64)
	zero := isZero(body)
	fits := func(f float64) bool { return !math.IsInf(f, 0) && (f != 0 || zero) }
	switch {
	case (suffix == 'f' || suffix == 'F') && fits(narrow64):
		return printFloat(narrow64)
	case suffix != 0:
		if fits(wide) {
			return printFloat(wide)
		}
		return text
	case fits(narrow64) && shortest(float64(narrow), 32) == shortest(wide, 64):
		return printFloat(narrow64)
	case fits(wide) && sameDecimal(body, shortest(wide, 64)):
		return printFloat(wide)
	}
	if s, ok := printDecimal(body); ok {
		return s
	}
	return text
}

// isDecimal reports whether s is digits with at most one point and exponent.
func isDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	mantissa := s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exponent := strings.TrimPrefix(s[i+1:], "-")
		if exponent == "" || len(exponent) > 10 || strings.Trim(exponent, "0123456789") != "" {
			return false
		}
		mantissa = s[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return whole+fraction != "" && strings.Trim(whole+fraction, "0123456789") == ""
}

func isZero(s string) bool {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		s = s[:i]
	}
	return strings.Trim(s, "-0.") == ""
}

func shortest(f float64, bits int) string { return strconv.FormatFloat(f, 'e', -1, bits) }

// printFloat prints the shortest digits that mean f, with zeros behind them
// where the number is longer, rounded to three decimals by its exact value.
func printFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', 3, 64)
	if math.Abs(f) >= 1<<53 {
		s = strconv.FormatFloat(f, 'f', -1, 64)
	}
	return trimFraction(s)
}

func trimFraction(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(s, "0")
		s = strings.TrimSuffix(s, ".")
	}
	return s
}

// exponentMax bounds the size of numbers that are printed without exponent.
const exponentMax = 400

// decimal splits a number into its digits and the power of ten behind them.
func decimal(s string) (digits *big.Int, exponent int, ok bool) {
	mantissa := s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil || n > exponentMax || n < -exponentMax-numberBytesMax {
			return nil, 0, false
		}
		mantissa, exponent = s[:i], n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, ok = new(big.Int).SetString(whole+fraction, 10)
	return digits, exponent - len(fraction), ok
}

func sameDecimal(a, b string) bool {
	x, xe, ok := decimal(a)
	y, ye, ok2 := decimal(b)
	if !ok || !ok2 {
		return false
	}
	low := min(xe, ye)
	return scale(x, xe-low).Cmp(scale(y, ye-low)) == 0
}

func scale(n *big.Int, by int) *big.Int {
	return new(big.Int).Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(by)), nil))
}

// printDecimal prints a number exactly, rounded half to even at three decimals.
func printDecimal(s string) (string, bool) {
	n, exponent, ok := decimal(s)
	if !ok {
		return "", false
	}
	negative := strings.HasPrefix(s, "-")
	n.Abs(n)
	if exponent >= -3 {
		n = scale(n, exponent+3)
	} else {
		unit := scale(big.NewInt(1), -3-exponent)
		rest := new(big.Int)
		n.QuoRem(n, unit, rest)
		twice := rest.Lsh(rest, 1).Cmp(unit)
		if twice > 0 || twice == 0 && n.Bit(0) == 1 {
			n.Add(n, big.NewInt(1))
		}
	}
	digits := n.String()
	for len(digits) < 4 {
		digits = "0" + digits
	}
	out := trimFraction(digits[:len(digits)-3] + "." + digits[len(digits)-3:])
	if negative {
		out = "-" + out
	}
	return out, true
}
