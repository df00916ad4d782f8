package stored

import (
	"bytes"
	"encoding/binary"
)

// shapesMax is the largest number of shapes in a batch's table; further ones
// are written with their records. It keeps the builder's search short whatever
// a producer sends.
const shapesMax = 14

const shapeInline = 15

const (
	shapeFraming = 3
	shapeNull    = 1 << 2
	shapePacked  = 1 << 3
	shapeRaw     = 1 << 4
	shapeIndexes = 1 << 5
	shapeKnown   = 0x3f
)

// shape is what a Payload has besides its bytes (layout.go).
type shape struct {
	flags   byte
	style   uint8
	mapping uint8
	id      uint32
	schema  int32 // meaningless without shapePacked
	indexes []byte
}

// shapeOf returns the shape of p, or why p can't be stored. Its indexes are
// p's.
func shapeOf(p *Payload, keys int) (shape, string) {
	if p.Null {
		if p.Schema >= 0 && len(p.Packed) > 0 || p.HasRaw || p.Framing != FramingNone {
			return shape{}, "null with content"
		}
		return shape{flags: shapeNull}, ""
	}
	if p.Framing > FramingHeaderV1 {
		return shape{}, "unknown framing"
	}
	s := shape{flags: byte(p.Framing)}
	if p.Framing == FramingPrefix {
		s.id = p.ID
	}
	if p.Schema >= 0 {
		if p.Schema >= keys {
			return shape{}, "schema index out of range"
		}
		s.flags |= shapePacked
		s.schema, s.style, s.mapping = int32(p.Schema), p.Style, p.Mapping
	}
	if p.HasRaw {
		s.flags |= shapeRaw
	}
	if s.flags&(shapePacked|shapeRaw) == 0 {
		return shape{}, "neither null nor packed nor raw"
	}
	if len(p.Indexes) > 0 {
		s.flags |= shapeIndexes
		s.indexes = p.Indexes
	}
	return s, ""
}

func (s *shape) equal(o *shape) bool {
	return s.flags == o.flags && s.id == o.id && s.schema == o.schema &&
		s.style == o.style && s.mapping == o.mapping && bytes.Equal(s.indexes, o.indexes)
}

func (s *shape) append(dst []byte) []byte {
	dst = append(dst, s.flags)
	if s.flags&shapeFraming == byte(FramingPrefix) {
		dst = binary.AppendUvarint(dst, uint64(s.id))
	}
	if s.flags&shapePacked != 0 {
		dst = binary.AppendUvarint(dst, uint64(s.schema))
		dst = append(dst, s.style, s.mapping)
	}
	if s.flags&shapeIndexes != 0 {
		dst = binary.AppendUvarint(dst, uint64(len(s.indexes)))
		dst = append(dst, s.indexes...)
	}
	return dst
}

// readShape reads a shape from r; failures are r's.
func readShape(r *cursor, keys int) shape {
	s := shape{flags: r.byte()}
	switch {
	case s.flags&^shapeKnown != 0:
		r.fail("unknown shape flags")
	case s.flags&shapeNull != 0:
		if s.flags != shapeNull {
			r.fail("null shape with content")
		}
	case s.flags&(shapePacked|shapeRaw) == 0:
		r.fail("shape without content")
	}
	if s.flags&shapeFraming == byte(FramingPrefix) {
		id := r.uvarint()
		if id > 1<<32-1 {
			r.fail("schema id out of range")
		}
		s.id = uint32(id)
	}
	if s.flags&shapePacked != 0 {
		index := r.uvarint()
		if index >= uint64(keys) {
			r.fail("schema index out of range")
			index = 0
		}
		s.schema, s.style, s.mapping = int32(index), r.byte(), r.byte()
	}
	if s.flags&shapeIndexes != 0 {
		s.indexes = r.bytes()
	}
	return s
}

// fill sets everything of p but its bytes.
func (s *shape) fill(p *Payload) {
	*p = Payload{
		Null:    s.flags&shapeNull != 0,
		Framing: Framing(s.flags & shapeFraming),
		ID:      s.id,
		Schema:  -1,
		Indexes: s.indexes,
		HasRaw:  s.flags&shapeRaw != 0,
	}
	if s.flags&shapePacked != 0 {
		p.Schema, p.Style, p.Mapping = int(s.schema), s.style, s.mapping
	}
}
