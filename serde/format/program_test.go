package format

import (
	"errors"
	"testing"

	"milena/serde/record"
)

// doubling is a program whose packed value is its payload, twice.
type doubling struct{ Program }

func (doubling) Decode(dst, payload []byte) ([]byte, record.Style, error) {
	if len(payload) == 0 {
		return dst, record.StyleOriginal, &record.DataError{Reason: record.ReasonTruncated}
	}
	return append(append(dst, payload...), payload...), record.StyleCounted, nil
}

// bounded says no to everything that needs room.
type bounded struct{ doubling }

func (bounded) DecodeMax(dst, _ []byte, bytesMax int) ([]byte, record.Style, error) {
	if bytesMax < 100 {
		return dst, record.StyleOriginal, record.ErrNoRoom
	}
	return dst, record.StyleCanonical, nil
}

// TestDecodeMax: a program that can give up early is asked to, of others what
// is too large is refused.
func TestDecodeMax(t *testing.T) {
	for _, c := range []struct {
		program Program
		payload string
		room    int
		want    string
		style   record.Style
		err     error
	}{
		{doubling{}, "ab", 4, "xabab", record.StyleCounted, nil},
		{doubling{}, "ab", 3, "x", record.StyleOriginal, record.ErrNoRoom},
		{bounded{}, "ab", 99, "x", record.StyleOriginal, record.ErrNoRoom},
		{bounded{}, "ab", 100, "x", record.StyleCanonical, nil},
	} {
		got, style, err := DecodeMax(c.program, []byte("x"), []byte(c.payload), c.room)
		if string(got) != c.want || style != c.style || !errors.Is(err, c.err) {
			t.Errorf("%T with %d bytes of room: %q, %v, %v", c.program, c.room, got, style, err)
		}
	}
	var de *record.DataError
	if _, _, err := DecodeMax(doubling{}, nil, nil, 0); !errors.As(err, &de) {
		t.Errorf("bad payload: %v", err)
	}
}
