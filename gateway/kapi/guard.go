package kapi

import (
	"encoding/binary"
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrTooManyParts: a request of more topics, partitions and tags than any client
// sends, which would take a multiple of its size in memory.
var ErrTooManyParts = errors.New("request of too many parts")

// errCut: the body ends before what it announces.
var errCut = errors.New("request is cut off")

// producePartsMax bounds topics, partitions and tags of one Produce request.
const producePartsMax = 200_000

// Guard looks at a request's body before it is decoded, without allocating:
// decoding makes structs, and a body as large as those of Produce may be, made
// of nothing but empty parts, would take the process down. Other APIs are
// bounded by FrameBytesMax.
func (a *API) Guard(version int16, body []byte) error {
	if a.key != kmsg.Produce {
		return nil
	}
	w := partsWalk{b: body, flexible: version >= 9, left: producePartsMax}
	w.text(true)  // transactional id
	w.skip(2 + 4) // acks, timeout
	for range w.array() {
		w.text(false) // topic
		for range w.array() {
			w.skip(4) // partition
			w.records()
			w.tags()
		}
		w.tags()
	}
	w.tags()
	return w.err
}

// partsWalk steps over a body and counts its parts. After an error every step
// does nothing and arrays are empty.
type partsWalk struct {
	b        []byte
	flexible bool
	left     int
	err      error
}

func (w *partsWalk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.b = nil
}

func (w *partsWalk) skip(n int) {
	if n < 0 || n > len(w.b) {
		w.fail(errCut)
		return
	}
	w.b = w.b[n:]
}

func (w *partsWalk) uvarint() int {
	v, n := binary.Uvarint(w.b)
	if n <= 0 || v > 1<<31 {
		w.fail(errCut)
		return 0
	}
	w.b = w.b[n:]
	return int(v)
}

// number reads a big-endian length of so many bytes, -1 for null.
func (w *partsWalk) number(size int) int {
	if len(w.b) < size {
		w.fail(errCut)
		return 0
	}
	b := w.b
	w.b = w.b[size:]
	if size == 2 {
		return int(int16(binary.BigEndian.Uint16(b)))
	}
	return int(int32(binary.BigEndian.Uint32(b)))
}

// length is a length in the body's form: compact ones are one more, 0 for null.
func (w *partsWalk) length(size int) int {
	if w.flexible {
		return w.uvarint() - 1
	}
	return w.number(size)
}

func (w *partsWalk) text(nullable bool) {
	n := w.length(2)
	if n == -1 && nullable {
		return
	}
	w.skip(n)
}

func (w *partsWalk) records() {
	if n := w.length(4); n != -1 {
		w.skip(n)
	}
}

// array returns the number of elements that follow.
func (w *partsWalk) array() int { return w.count(w.length(4)) }

func (w *partsWalk) count(n int) int {
	switch {
	case w.err != nil || n <= 0:
		return 0
	case n > len(w.b):
		w.fail(errCut)
		return 0
	case n > w.left:
		w.fail(ErrTooManyParts)
		return 0
	}
	w.left -= n
	return n
}

func (w *partsWalk) tags() {
	if !w.flexible {
		return
	}
	for range w.count(w.uvarint()) {
		w.uvarint()
		w.skip(w.uvarint())
	}
}
