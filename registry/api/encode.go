package api

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Marshal returns v as the registry writes JSON: nothing escaped for HTML,
// characters outside the basic plane as pairs of \u escapes, every other
// character above ASCII as it is.
func Marshal(v any) ([]byte, error) {
	if b, err := appendKnown(v); b != nil || err != nil {
		return b, err
	}
	return marshal(v)
}

// reescape turns the escapes that Go's encoder chooses into the reference's.
func reescape(b []byte) []byte {
	if !needsReescape(b) {
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/8)
	for i := 0; i < len(b); {
		switch {
		case b[i] == '\\':
			// An escape never splits: the encoder writes valid JSON.
			n := 2
			if b[i+1] == 'u' {
				n = 6
			}
			switch esc := b[i : i+n]; string(esc) {
			case `\u2028`:
				out = append(out, "\u2028"...)
			case `\u2029`:
				out = append(out, "\u2029"...)
			default:
				out = append(out, esc...)
			}
			i += n
		case b[i] < 0xF0:
			out = append(out, b[i])
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04X\u%04X`, hi, lo)
			i += n
		}
	}
	return out
}

func needsReescape(b []byte) bool {
	for _, c := range b {
		if c >= 0xF0 {
			return true
		}
	}
	return bytes.Contains(b, []byte(`\u202`))
}
