package broker

import (
	"encoding/binary"
	"errors"
	"testing"

	"milena/broker/api"
	"milena/broker/stored"
)

func headerBlock(fields ...any) []byte {
	b := binary.AppendVarint(nil, int64(len(fields)/2))
	for _, f := range fields {
		switch f := f.(type) {
		case nil:
			b = binary.AppendVarint(b, -1)
		case string:
			b = append(binary.AppendVarint(b, int64(len(f))), f...)
		}
	}
	return b
}

func TestParseHeaders(t *testing.T) {
	got, err := parseHeaders(headerBlock("a", "1", "a", nil, "", ""))
	if err != nil || len(got) != 3 || got[0].Key != "a" || string(got[0].Value) != "1" ||
		got[1].Value != nil || got[2].Key != "" || got[2].Value == nil {
		t.Fatalf("%+v %v", got, err)
	}
	for _, none := range [][]byte{nil, {0}} {
		if got, err := parseHeaders(none); err != nil || len(got) != 0 {
			t.Fatalf("%v: %+v %v", none, got, err)
		}
	}
	for name, bad := range map[string][]byte{
		"null key":   headerBlock(nil, "1"),
		"truncated":  headerBlock("a", "1")[:3],
		"rest":       append(headerBlock("a", "1"), 0),
		"many":       binary.AppendVarint(nil, 1<<40),
		"negative":   binary.AppendVarint(nil, -1),
		"below null": {2, 2, 'a', 3},
	} {
		if got, err := parseHeaders(bad); !errors.Is(err, api.ErrCorrupt) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// FuzzParseHeaders: whatever a stored header block holds, no panic and no
// allocation beyond its size.
func FuzzParseHeaders(f *testing.F) {
	f.Add(headerBlock("a", "1", "b", nil))
	f.Add(binary.AppendVarint(nil, 1<<40))
	f.Fuzz(func(t *testing.T, block []byte) {
		headers, err := parseHeaders(block)
		if err == nil && len(headers) > len(block) {
			t.Fatalf("%d headers in %d bytes", len(headers), len(block))
		}
	})
}

func TestAbortedSet(t *testing.T) {
	a := newAbortedSet([]api.AbortedTransaction{{ProducerID: 1, FirstOffset: 2}, {ProducerID: 2, FirstOffset: 6}})
	data := func(id int64) *stored.Header { return &stored.Header{ProducerID: id, Transactional: true} }
	marker := func(id int64) *stored.Header {
		return &stored.Header{ProducerID: id, Transactional: true, Control: true}
	}
	for i, c := range []struct {
		h    *stored.Header
		base int64
		want bool
	}{
		{data(1), 1, false}, {data(1), 2, true}, {&stored.Header{ProducerID: 1}, 3, false}, {data(2), 4, false},
		{marker(1), 5, true}, {data(2), 6, true}, {data(1), 7, false}, {marker(2), 8, true}, {data(2), 9, false},
	} {
		if got := a.skips(c.h, c.base); got != c.want {
			t.Errorf("step %d: skipped %v", i, got)
		}
	}
}
