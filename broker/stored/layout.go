package stored

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Version is the version that Builder writes. Versions only grow; Open and
// ParseHeader read every version that was ever written.
const Version = 1

// SizeMax is the largest stored batch in bytes.
const SizeMax = 1 << 30

// keysMax is the largest number of schema keys in one batch.
const keysMax = 1 << 16

// The layout, version 1. Integers of the fixed header are little-endian,
// "uvarint" and "varint" (zigzag) are those of encoding/binary.
//
//	 0  version         1 byte, 1
//	 1  flags           1 byte: bit 0 transactional, bit 1 control,
//	                    bit 2 LogAppendTime, bits 3-5 codec, others 0
//	 2  reserved        2 bytes, 0; the first one also serves readers as the
//	                    header block of a record without headers (count 0)
//	 4  size            4 bytes, of the whole batch, CRC included
//	 8  first timestamp 8 bytes
//	16  max timestamp   8 bytes
//	24  producer id     8 bytes, -1 none
//	32  count           4 bytes, records that are here
//	36  last offset     4 bytes, delta
//	40  base sequence   4 bytes, -1 none
//	44  encoded size    4 bytes
//	48  content CRC     4 bytes, see UpdateContent
//	52  producer epoch  2 bytes, -1 none
//	54  schema keys     uvarint number, then 32 bytes each
//	    shapes          uvarint number (0 to 14), then each as below
//	    records         count of them, as below
//	    batch CRC       4 bytes, CRC-32C of everything before
//
// The base offset and the append time are not in here: they are given by the
// commit record, so that the broker keeps the bytes as the gateway made them.
//
// A shape is what the keys or values of most records of a batch share:
//
//	flags    1 byte: bits 0-1 framing, bit 2 null, bit 3 packed is present,
//	         bit 4 raw is present, bit 5 indexes are present, others 0
//	id       uvarint, with framing prefix only
//	schema   uvarint index of the schema key, 1 byte style, 1 byte mapping,
//	         with packed only
//	indexes  uvarint length and bytes, with bit 5 only
//
// A record:
//
//	flags      1 byte: bit 0 both shapes are those of the record before,
//	           bit 1 the step of the timestamp is that of the record before,
//	           bit 2 a gap, bit 3 attributes, bit 4 headers, others 0
//	shapes     1 byte without bit 0: low half the key's shape, high half the
//	           value's: 0 to 13 an index into the shapes, 15 written here
//	shape      the key's, then the value's, each only where its half is 15
//	gap        uvarint, with bit 2: offsets left out before this record
//	step       varint, without bit 1: timestamp delta less that of the record
//	           before; the record before the first one has delta 0 and step 0
//	attributes 1 byte, with bit 3
//	key        packed, then raw, each as uvarint length and bytes, each only
//	           if the shape says that it is present
//	value      likewise
//	headers    uvarint length and bytes, with bit 4
//
// Offset deltas go up by one from 0 but for the gaps; a batch's last offsets
// may be left out too.
const (
	fixedSize = 54
	crcSize   = 4
	keySize   = 32

	offFlags      = 1
	offReserved   = 2
	offSize       = 4
	offFirst      = 8
	offMax        = 16
	offProducer   = 24
	offCount      = 32
	offLastDelta  = 36
	offSequence   = 40
	offEncoded    = 44
	offContentCRC = 48
	offEpoch      = 52

	flagTransactional = 1 << 0
	flagControl       = 1 << 1
	flagLogAppendTime = 1 << 2
	codecShift        = 3
	codecMax          = 4
	flagsKnown        = 0x3f

	recordSameShapes = 1 << 0
	recordSameStep   = 1 << 1
	recordGap        = 1 << 2
	recordAttributes = 1 << 3
	recordHeaders    = 1 << 4
	recordKnown      = 0x1f
)

// castagnoli is the read-only table of CRC-32C (RFC 3720 section 12.1).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ParseHeader reads the fixed header of a stored batch. It checks the size and
// that the header makes sense, but not the batch CRC, which costs a pass over
// the bytes: see Verify and Open. Errors wrap ErrCorrupt or ErrVersion.
func ParseHeader(b []byte) (Header, error) {
	var h Header
	if len(b) == 0 {
		return h, corrupt("empty")
	}
	if b[0] != Version {
		return h, fmt.Errorf("%w: %d", ErrVersion, b[0])
	}
	if len(b) < fixedSize+crcSize {
		return h, corrupt("shorter than a header")
	}
	size := binary.LittleEndian.Uint32(b[offSize:])
	if uint64(size) != uint64(len(b)) {
		return h, fmt.Errorf("%w: size %d in %d bytes", ErrCorrupt, size, len(b))
	}
	flags := b[offFlags]
	h = Header{
		Transactional:   flags&flagTransactional != 0,
		Control:         flags&flagControl != 0,
		LogAppendTime:   flags&flagLogAppendTime != 0,
		Codec:           flags >> codecShift & 7,
		ProducerID:      int64(binary.LittleEndian.Uint64(b[offProducer:])),
		ProducerEpoch:   int16(binary.LittleEndian.Uint16(b[offEpoch:])),
		BaseSequence:    int32(binary.LittleEndian.Uint32(b[offSequence:])),
		FirstTimestamp:  int64(binary.LittleEndian.Uint64(b[offFirst:])),
		MaxTimestamp:    int64(binary.LittleEndian.Uint64(b[offMax:])),
		Count:           int32(binary.LittleEndian.Uint32(b[offCount:])),
		LastOffsetDelta: int32(binary.LittleEndian.Uint32(b[offLastDelta:])),
		EncodedSize:     int32(binary.LittleEndian.Uint32(b[offEncoded:])),
		ContentCRC:      binary.LittleEndian.Uint32(b[offContentCRC:]),
	}
	if flags&^flagsKnown != 0 || b[offReserved] != 0 || b[offReserved+1] != 0 {
		return Header{}, corrupt("unknown flags")
	}
	if reason := h.invalid(); reason != "" {
		return Header{}, corrupt(reason)
	}
	return h, nil
}

// Verify checks the batch CRC of a stored batch and its fixed header, without
// looking at the records. Errors wrap ErrCorrupt or ErrVersion.
func Verify(b []byte) error {
	_, err := verified(b)
	return err
}

func verified(b []byte) (Header, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return h, err
	}
	end := len(b) - crcSize
	if crc32.Update(0, castagnoli, b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return Header{}, corrupt("batch CRC differs")
	}
	return h, nil
}

// invalid says what no batch can have, or "".
func (h *Header) invalid() string {
	switch {
	case h.Codec > codecMax:
		return "unknown codec"
	case h.LastOffsetDelta < 0:
		return "negative last offset delta"
	case h.Count < 0 || int64(h.Count) > int64(h.LastOffsetDelta)+1:
		return "count beyond the offset span"
	case h.EncodedSize < 0:
		return "negative encoded size"
	}
	return ""
}

// appendHeader appends the fixed header; the size is patched later.
func appendHeader(dst []byte, h *Header) []byte {
	flags := h.Codec << codecShift
	if h.Transactional {
		flags |= flagTransactional
	}
	if h.Control {
		flags |= flagControl
	}
	if h.LogAppendTime {
		flags |= flagLogAppendTime
	}
	dst = append(dst, Version, flags, 0, 0, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.FirstTimestamp))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.MaxTimestamp))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.ProducerID))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.Count))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.LastOffsetDelta))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.BaseSequence))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.EncodedSize))
	dst = binary.LittleEndian.AppendUint32(dst, h.ContentCRC)
	return binary.LittleEndian.AppendUint16(dst, uint16(h.ProducerEpoch))
}
