package wire

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestIndexes(t *testing.T) {
	for _, c := range []struct {
		hex  string
		path []int32
		long bool // a form that AppendIndexes does not write
	}{
		{hex: "00", path: []int32{0}},
		{hex: "0202", path: []int32{1}},
		{hex: "040000", path: []int32{0, 0}},
		{hex: "040204", path: []int32{1, 2}},
		{hex: "0200", path: []int32{0}, long: true},
		{hex: "8000", path: []int32{0}, long: true},
		{hex: "028001", path: []int32{64}},
		{hex: "02feffffff0f", path: []int32{1<<31 - 1}},
	} {
		b := unhex(t, c.hex)
		var x Indexes
		n, err := ParseIndexes(&x, append(slices.Clone(b), 0xff, 0xff))
		if err != nil || n != len(b) || !slices.Equal(x.Path(), c.path) {
			t.Errorf("%s: %v, %d bytes, %v", c.hex, x.Path(), n, err)
		}
		if got := AppendIndexes(nil, c.path); bytes.Equal(got, b) == c.long {
			t.Errorf("%v: written as %x", c.path, got)
		}
	}
}

func TestIndexesRefused(t *testing.T) {
	for name, s := range map[string]string{
		"nothing":             "",
		"negative count":      "01",
		"count past the end":  "0602",
		"cut off":             "040280",
		"negative index":      "0201",
		"index over 31 bits":  "028080808010",
		"varint without end":  "02ffffffffffffffffffff01",
		"65 indexes":          "8201" + strings.Repeat("00", 65),
		"count without bytes": "02",
	} {
		x := Indexes{n: 3}
		if n, err := ParseIndexes(&x, unhex(t, s)); !errors.Is(err, ErrIndexes) || n != 0 || len(x.Path()) != 0 {
			t.Errorf("%s: %v, %d bytes, %v", name, x.Path(), n, err)
		}
	}
}

func TestIndexesLongest(t *testing.T) {
	path := make([]int32, IndexesMax)
	path[63] = 9
	var x Indexes
	if _, err := ParseIndexes(&x, AppendIndexes(nil, path)); err != nil || !slices.Equal(x.Path(), path) {
		t.Error(x.Path(), err)
	}
	if got := AppendIndexes(nil, append(path, 1)); !bytes.Equal(got, AppendIndexes(nil, path)) {
		t.Errorf("%x", got)
	}
	if got := AppendIndexes(nil, nil); !bytes.Equal(got, []byte{0}) {
		t.Errorf("%x", got)
	}
}

// FuzzEnvelope: no bytes make Split or ParseIndexes panic, and what was split
// joins to the same bytes.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x01\x00"), []byte(nil), false)
	f.Add([]byte("\x00\x00\x00\x00\x01\x04\x00\x02x"), []byte("\x00\x00\x00\x00\x02"), true)
	f.Add([]byte("x"), []byte("\x010123456789abcdef\x02\x02"), true)
	f.Fuzz(func(t *testing.T, payload, header []byte, hasHeader bool) {
		if !hasHeader {
			header = nil
		}
		e, err := Split(payload, header)
		if got := e.AppendPayload(nil); !bytes.Equal(got, payload) {
			t.Fatalf("payload %x, back %x", payload, got)
		}
		if got := e.AppendHeader(nil); err == nil && !bytes.Equal(got, header) {
			t.Fatalf("header %x, back %x", header, got)
		}
		if (err == nil) != (e.Framing != None) {
			t.Fatalf("framing %d, error %v", e.Framing, err)
		}
		b := e.Data
		if e.Framing != Prefix {
			b = e.Tail
		}
		var x, y Indexes
		if n, err := ParseIndexes(&x, b); err == nil {
			short := AppendIndexes(nil, x.Path())
			if len(short) > n {
				t.Fatalf("%x is longer than %x", short, b[:n])
			}
			if _, err := ParseIndexes(&y, short); err != nil || !slices.Equal(x.Path(), y.Path()) {
				t.Fatalf("%v, back %v, %v", x.Path(), y.Path(), err)
			}
		}
	})
}
