package format

import (
	"milena/serde/record"
)

// Program is a schema compiled for both directions. It is immutable, shared
// and safe for concurrent use, and allocates nothing per record when the
// caller's buffers are large enough. Whatever bytes it is given, it neither
// panics nor recurses or allocates beyond its limits.
type Program interface {
	// Decode validates payload (without its envelope) and appends its packed
	// RecordValue to dst. Style says how to rebuild the payload: for any style
	// but StyleOriginal, Encode gives back exactly the bytes of payload. On
	// error dst is returned as it was and the error is a *record.DataError.
	Decode(dst, payload []byte) ([]byte, record.Style, error)
	// Encode appends the payload that packed was decoded from.
	Encode(dst, packed []byte, style record.Style) ([]byte, error)
	// AppendRecordValue appends the map form, the wire bytes of a
	// milena.record.v1.RecordValue, of packed.
	AppendRecordValue(dst, packed []byte) ([]byte, error)
	// RecordType returns the typed columns of the schema.
	RecordType() *record.Type
}

// Bounded is a Program that can give up early. One whose packed values are
// never much larger than their payload doesn't need to.
type Bounded interface {
	Program
	// DecodeMax is Decode for callers with room for bytesMax bytes: a value that
	// needs more is record.ErrNoRoom, before more than twice that was allocated.
	// A few hundred bytes of the room may stay unused.
	DecodeMax(dst, payload []byte, bytesMax int) ([]byte, record.Style, error)
}

// DecodeMax is Bounded.DecodeMax; a program that isn't Bounded decodes first.
func DecodeMax(p Program, dst, payload []byte, bytesMax int) ([]byte, record.Style, error) {
	if b, ok := p.(Bounded); ok {
		return b.DecodeMax(dst, payload, bytesMax)
	}
	packed, style, err := p.Decode(dst, payload)
	if err == nil && len(packed)-len(dst) > bytesMax {
		return dst, record.StyleOriginal, record.ErrNoRoom
	}
	return packed, style, err
}
