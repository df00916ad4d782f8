package state

import (
	"bytes"
	"cmp"
)

// text is a key in the order of UTF-16 code units, which is how the reference
// sorts names: characters outside the basic plane come before U+E000.
type text string

func (a text) compare(b text) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n && a[i:i+8] == b[i:i+8]; i += 8 { // names have long common beginnings
	}
	for ; i < n; i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// In UTF-8, a lead byte of 0xF0 or more is a pair of surrogates in
		// UTF-16, and these come before what 0xEE and 0xEF lead.
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}

// number is an id or version as a key.
type number int

func (a number) compare(b number) int { return cmp.Compare(a, b) }

// row names one version of one subject.
type row struct {
	subject text
	version number
}

func (a row) compare(b row) int {
	if c := a.subject.compare(b.subject); c != 0 {
		return c
	}
	return a.version.compare(b.version)
}

func (g GUID) compare(o GUID) int { return bytes.Compare(g[:], o[:]) }

// CompareNames orders names as Subjects yields them.
func CompareNames(a, b Name) int { return text(a.String()).compare(text(b.String())) }
