package wire

import (
	"encoding/binary"
	"errors"
)

// Names of the record headers that carry a schema id, one per side of a record.
const (
	KeyHeader   = "__key_schema_id"
	ValueHeader = "__value_schema_id"
)

// Sizes in bytes: of the prefix, and of the header values without the message
// indexes that may follow.
const (
	PrefixBytes     = 5
	HeaderV0Bytes   = 5
	HeaderGUIDBytes = 17
)

// The first byte of a prefix or header value says what follows it.
const (
	magicID   = 0x00 // four bytes: the id, big-endian
	magicGUID = 0x01 // sixteen bytes: the GUID, RFC 4122 order
)

// ErrUnframed says that a payload without header carries no prefix: it is
// shorter than PrefixBytes, its first byte is not zero, or its id is not
// positive.
var ErrUnframed = errors.New("no schema id before the payload")

// ErrHeader says that a schema id header is neither version 0 with a positive
// id nor version 1 with a whole GUID.
var ErrHeader = errors.New("malformed schema id header")

// Framing says where the schema of a payload was named. The numbers are those
// of the stored batch.
type Framing uint8

// The framings.
const (
	None       Framing = 0 // no envelope
	Prefix     Framing = 1 // zero byte and id before the payload
	HeaderID   Framing = 2 // header, version 0: id
	HeaderGUID Framing = 3 // header, version 1: GUID
)

// GUID is a schema's GUID in RFC 4122 byte order.
type GUID [16]byte

// AppendText appends g in the usual form of 36 characters, lower case.
func (g GUID) AppendText(dst []byte) ([]byte, error) {
	const digits = "0123456789abcdef"
	for i, b := range g {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst, nil
}

// String returns g in the usual form of 36 characters, lower case.
func (g GUID) String() string {
	b, _ := g.AppendText(make([]byte, 0, 36)) // never fails
	return string(b)
}

// Envelope is one key or value taken apart. Slices point into the input.
type Envelope struct {
	Framing Framing
	// ID is the schema id of Prefix and HeaderID, always positive.
	ID int32
	// GUID is the schema's GUID of HeaderGUID.
	GUID GUID
	// Data is what follows the prefix, or the whole payload where a header
	// names the schema. For Protobuf behind a prefix it begins with the message
	// indexes.
	Data []byte
	// Tail is what follows the id or GUID in a header: the message indexes of
	// Protobuf, else empty.
	Tail []byte
}

// Split takes payload apart. header is the value of the side's last header, nil
// if there is none or its value is null. The error is ErrUnframed or ErrHeader,
// and then the envelope has framing None and all of payload as Data. A null
// payload (a tombstone) is never framed; don't ask.
func Split(payload, header []byte) (Envelope, error) {
	if header != nil {
		return splitHeader(payload, header)
	}
	if len(payload) < PrefixBytes || payload[0] != magicID {
		return Envelope{Data: payload}, ErrUnframed
	}
	id := int32(binary.BigEndian.Uint32(payload[1:]))
	if id <= 0 {
		return Envelope{Data: payload}, ErrUnframed
	}
	return Envelope{Framing: Prefix, ID: id, Data: payload[PrefixBytes:]}, nil
}

func splitHeader(payload, header []byte) (Envelope, error) {
	switch {
	case len(header) >= HeaderV0Bytes && header[0] == magicID:
		id := int32(binary.BigEndian.Uint32(header[1:]))
		if id > 0 {
			return Envelope{Framing: HeaderID, ID: id, Data: payload, Tail: header[HeaderV0Bytes:]}, nil
		}
	case len(header) >= HeaderGUIDBytes && header[0] == magicGUID:
		e := Envelope{Framing: HeaderGUID, Data: payload, Tail: header[HeaderGUIDBytes:]}
		copy(e.GUID[:], header[1:])
		return e, nil
	}
	return Envelope{Data: payload}, ErrHeader
}

// AppendPrefix appends the prefix of id. Message indexes and data come next.
func AppendPrefix(dst []byte, id int32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, magicID), uint32(id))
}

// AppendPayload appends the payload that e was split from.
func (e *Envelope) AppendPayload(dst []byte) []byte {
	if e.Framing == Prefix {
		dst = AppendPrefix(dst, e.ID)
	}
	return append(dst, e.Data...)
}

// AppendHeader appends the header value that e was split from: nothing for the
// framings without header.
func (e *Envelope) AppendHeader(dst []byte) []byte {
	switch e.Framing {
	case HeaderID:
		dst = AppendPrefix(dst, e.ID)
	case HeaderGUID:
		dst = append(append(dst, magicGUID), e.GUID[:]...)
	default:
		return dst
	}
	return append(dst, e.Tail...)
}

// Foreign names the other system whose envelope payload looks like, or returns
// "". It is a hint for error texts, not a decision: a payload without any
// envelope may look the same.
func Foreign(payload []byte) string {
	switch {
	case len(payload) >= 18 && payload[0] == 3 && (payload[1] == 0 || payload[1] == 5):
		return "AWS Glue Schema Registry"
	case len(payload) >= 10 && payload[0] == 0xc3 && payload[1] == 0x01:
		return "Avro single-object encoding"
	case len(payload) >= 9 && binary.BigEndian.Uint32(payload) == 0 && payload[4] == 0:
		return "Apicurio Registry with eight-byte ids"
	}
	return ""
}
