package batch

import (
	"encoding/binary"
	"hash/crc32"
)

// Layout of a batch, offsets in bytes (KIP-98):
//
//	 0 base offset        int64    16 magic             int8     43 producer id     int64
//	 8 length after it    int32    17 CRC-32C from 21   uint32   51 producer epoch  int16
//	12 leader epoch       int32    21 attributes        int16    53 base sequence   int32
//	                               23 last offset delta int32    57 record count    int32
//	                               27 first timestamp   int64    61 records
//	                               35 max timestamp     int64
//
// Base offset, length, leader epoch and magic are outside the CRC, so offset and
// epoch may be patched in place.
const (
	// HeaderBytes is the size of a batch before its records.
	HeaderBytes = 61
	// lengthStart is how much of a batch its length field doesn't count.
	lengthStart = 12
	crcStart    = 21
	// magicEnd is how much is needed to read length and magic.
	magicEnd = 17
	// recordBytesMin is the size of the smallest record: one byte each for
	// length, attributes, both deltas, null key, null value and header count.
	recordBytesMin = 7
)

// Attribute bits of a batch; the lowest three are the Codec.
const (
	codecMask     = 0x07
	logAppendTime = 1 << 3
	transactional = 1 << 4
	control       = 1 << 5
)

// Header is a batch's header. Timestamps are milliseconds since the epoch, -1
// for none; producer fields are -1 without a producer id.
type Header struct {
	BaseOffset      int64
	LeaderEpoch     int32
	Attributes      int16
	LastOffsetDelta int32
	FirstTimestamp  int64
	MaxTimestamp    int64
	ProducerID      int64
	ProducerEpoch   int16
	BaseSequence    int32
	Count           int32
}

// Codec returns the compression codec bits, 0 to 7.
func (h Header) Codec() Codec { return Codec(h.Attributes & codecMask) }

// LogAppendTime reports whether timestamps are those of the append.
func (h Header) LogAppendTime() bool { return h.Attributes&logAppendTime != 0 }

// Transactional reports whether the batch is part of a transaction.
func (h Header) Transactional() bool { return h.Attributes&transactional != 0 }

// Control reports whether the batch holds a transaction marker.
func (h Header) Control() bool { return h.Attributes&control != 0 }

// Attributes returns the attribute bits made of their parts.
func Attributes(codec Codec, appendTime, transaction, marker bool) int16 {
	a := int16(codec) & codecMask
	if appendTime {
		a |= logAppendTime
	}
	if transaction {
		a |= transactional
	}
	if marker {
		a |= control
	}
	return a
}

// parseHeader reads the fields; b has at least HeaderBytes bytes.
func parseHeader(b []byte) Header {
	return Header{
		BaseOffset:      int64(binary.BigEndian.Uint64(b)),
		LeaderEpoch:     int32(binary.BigEndian.Uint32(b[12:])),
		Attributes:      int16(binary.BigEndian.Uint16(b[21:])),
		LastOffsetDelta: int32(binary.BigEndian.Uint32(b[23:])),
		FirstTimestamp:  int64(binary.BigEndian.Uint64(b[27:])),
		MaxTimestamp:    int64(binary.BigEndian.Uint64(b[35:])),
		ProducerID:      int64(binary.BigEndian.Uint64(b[43:])),
		ProducerEpoch:   int16(binary.BigEndian.Uint16(b[51:])),
		BaseSequence:    int32(binary.BigEndian.Uint32(b[53:])),
		Count:           int32(binary.BigEndian.Uint32(b[57:])),
	}
}

// Parse reads one whole batch: b must hold exactly one, of magic 2, with the
// length it states and a right CRC. Which fields may have which values is not
// looked at. The errors are those of Check.
func Parse(b []byte) (Header, error) {
	if err := checkFrame(b); err != nil {
		return Header{}, err
	}
	if got, want := crc32.Checksum(b[crcStart:], castagnoli()), binary.BigEndian.Uint32(b[17:]); got != want {
		return Header{}, refuse(ErrCorrupt, "CRC-32C is %08x, the bytes give %08x", want, got)
	}
	return parseHeader(b), nil
}

// Check reads and judges the batch of one partition in a Produce request:
// exactly one batch of magic 2 with at most bytesMax bytes (0: no limit). Size
// goes before CRC, as in Kafka, so that a client splits a large batch instead
// of sending it again. Records are checked by Records. The error is an *Error.
func Check(b []byte, bytesMax int) (Header, error) {
	if bytesMax > 0 && len(b) > bytesMax {
		return Header{}, refuse(ErrTooLarge, "%d bytes with a limit of %d", len(b), bytesMax)
	}
	h, err := Parse(b)
	if err != nil {
		return Header{}, err
	}
	switch {
	case h.Control():
		return h, refuse(ErrInvalid, "control batches are written by the transaction coordinator only")
	case h.Codec() > Zstd:
		return h, refuse(ErrInvalid, "compression codec %d doesn't exist", h.Codec())
	case h.BaseOffset != 0:
		return h, refuse(ErrInvalid, "base offset %d instead of 0", h.BaseOffset)
	case h.Count <= 0:
		return h, refuse(ErrInvalid, "record count %d", h.Count)
	case h.LastOffsetDelta != h.Count-1:
		return h, refuse(ErrInvalid, "last offset delta %d with %d records", h.LastOffsetDelta, h.Count)
	case h.Codec() == None && int64(h.Count)*recordBytesMin > int64(len(b)-HeaderBytes):
		return h, refuse(ErrInvalid, "%d records in %d bytes", h.Count, len(b)-HeaderBytes)
	case h.ProducerID < 0 && h.Transactional():
		return h, refuse(ErrInvalid, "a transactional batch needs a producer id")
	case h.ProducerID >= 0 && (h.BaseSequence < 0 || h.ProducerEpoch < 0):
		return h, refuse(ErrInvalid, "producer id %d with epoch %d and sequence %d", h.ProducerID, h.ProducerEpoch, h.BaseSequence)
	}
	return h, nil
}

// checkFrame checks that b is one batch of magic 2 by its length field. A length
// that no batch can have and an unknown magic are taken for damage, everything
// else for a fault of the producer, as Kafka 4 does.
func checkFrame(b []byte) error {
	if len(b) < magicEnd {
		return refuse(ErrInvalid, "%d bytes are no record batch", len(b))
	}
	length := int64(int32(binary.BigEndian.Uint32(b[8:])))
	magic := int8(b[16])
	switch {
	case magic == 0 || magic == 1:
		return refuse(ErrInvalid, "magic %d, only record batches of magic 2 are supported", magic)
	case magic != 2:
		return refuse(ErrCorrupt, "magic %d", magic)
	case length < HeaderBytes-lengthStart:
		return refuse(ErrCorrupt, "length field %d is below that of an empty batch", length)
	case length+lengthStart > int64(len(b)):
		return refuse(ErrInvalid, "length field %d with %d bytes", length, len(b)-lengthStart)
	case length+lengthStart < int64(len(b)):
		return refuse(ErrInvalid, "more than one record batch, or bytes behind it")
	}
	return nil
}

// castagnoli returns the table of CRC-32C, which package crc32 builds once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
