package record

import (
	"encoding/binary"
	"errors"
	"io"
)

// ErrPacked says that bytes are not packed values: an unknown tag, a varint or
// length that is cut off or too long, or a message content that is not one of
// milena.record.v1's.
var ErrPacked = errors.New("malformed packed value")

// Reader steps through packed values, one level at a time: the content of a
// list is read by a Reader of its own. It never reads beyond its bytes and
// allocates nothing. A Reader belongs to one goroutine.
type Reader struct {
	b   []byte
	pos int
}

// NewReader returns a Reader of the packed values in b.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Offset returns the position in bytes of the next value.
func (r *Reader) Offset() int { return r.pos }

// Item is one packed value. Which of Bits and Content counts depends on Tag.
type Item struct {
	Tag byte
	// Bits of TagBool, TagInt32, TagInt64 (two's complement), TagFloat and
	// TagDouble (IEEE 754).
	Bits uint64
	// Content of the other tags: bytes, text, the packed values of a list, or
	// the message of a timestamp, date, decimal or time. It points into the
	// Reader's bytes.
	Content []byte
}

// Next reads the next value into it. The error is io.EOF at the end, else
// ErrPacked.
func (r *Reader) Next(it *Item) error {
	*it = Item{}
	if r.pos == len(r.b) {
		return io.EOF
	}
	b := r.b[r.pos:]
	it.Tag = b[0]
	b = b[1:]
	switch it.Tag {
	case TagNull:
		r.pos++
		return nil
	case TagBool, TagInt32, TagInt64:
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return ErrPacked
		}
		it.Bits = v
		r.pos += 1 + n
		return nil
	case TagFloat:
		if len(b) < 4 {
			return ErrPacked
		}
		it.Bits = uint64(binary.LittleEndian.Uint32(b))
		r.pos += 5
		return nil
	case TagDouble:
		if len(b) < 8 {
			return ErrPacked
		}
		it.Bits = binary.LittleEndian.Uint64(b)
		r.pos += 9
		return nil
	case TagBytes, TagString, TagTimestamp, TagDate, TagDecimal, TagTime, TagList:
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return ErrPacked
		}
		it.Content = b[n : n+int(size)]
		r.pos += 1 + n + int(size)
		return nil
	}
	return ErrPacked
}

// Timestamp returns the microseconds since the epoch and whether they count
// from it in UTC. It fails with ErrPacked.
func (it *Item) Timestamp() (micros int64, utc bool, err error) {
	f, err := it.fields(TagTimestamp)
	return int64(f.v[0]), f.v[1] != 0, err
}

// Date returns the days since the epoch. It fails with ErrPacked.
func (it *Item) Date() (days int32, err error) {
	f, err := it.fields(TagDate)
	return int32(f.v[0]), err
}

// Time returns the microseconds since midnight. It fails with ErrPacked.
func (it *Item) Time() (micros int64, err error) {
	f, err := it.fields(TagTime)
	return int64(f.v[0]), err
}

// Decimal returns the decimal. It fails with ErrPacked.
func (it *Item) Decimal() (Decimal, error) {
	f, err := it.fields(TagDecimal)
	return Decimal{Unscaled: f.bytes, Precision: int32(f.v[1]), Scale: int32(f.v[2])}, err
}

// fields holds the fields 1 to 3 of a scalar's message.
type fields struct {
	v     [3]uint64
	bytes []byte
}

// fields reads the content of a scalar's message: fields in rising order.
func (it *Item) fields(tag byte) (fields, error) {
	var f fields
	if it.Tag != tag {
		return f, ErrPacked
	}
	b, last := it.Content, byte(0)
	for len(b) > 0 {
		num := b[0] >> 3
		if num <= last || num > 3 {
			return fields{}, ErrPacked
		}
		last = num
		v, n := binary.Uvarint(b[1:])
		if n <= 0 {
			return fields{}, ErrPacked
		}
		switch b = b[1+n:]; {
		case tag == TagDecimal && num == 1:
			if v > uint64(len(b)) {
				return fields{}, ErrPacked
			}
			f.bytes, b = b[:v], b[v:]
		default:
			f.v[num-1] = v
		}
	}
	return f, nil
}
