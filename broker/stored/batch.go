package stored

// Header is what the broker needs of a batch without looking at its records.
type Header struct {
	Transactional bool
	Control       bool
	// LogAppendTime: the timestamp type bit as produced.
	LogAppendTime bool
	// Codec is Kafka's compression codec as produced, 0 to 4.
	Codec         uint8
	ProducerID    int64 // -1 if none
	ProducerEpoch int16 // -1 if none
	BaseSequence  int32 // -1 if none
	// FirstTimestamp and MaxTimestamp in milliseconds since the epoch, as in
	// the produced batch's header.
	FirstTimestamp int64
	MaxTimestamp   int64
	// Count is the number of records kept in the batch.
	Count int32
	// LastOffsetDelta is the batch's offset span less one: the number of
	// offsets and of sequence numbers that it takes, also where records were
	// left out (holes).
	LastOffsetDelta int32
	// EncodedSize is the size in bytes of the rebuilt record batch without
	// compression, by which fetch sizes are counted.
	EncodedSize int32
	// ContentCRC is CRC-32C over all original keys, values and headers, in the
	// order and form given in layout.go, checked after every rebuild.
	ContentCRC uint32
}

// Framing says how a payload's schema was named.
type Framing uint8

// Framings; the numbers are part of the stored format.
const (
	FramingNone     Framing = 0 // no envelope: Raw is the whole key or value
	FramingPrefix   Framing = 1 // 0x00, four bytes id, payload
	FramingHeaderV0 Framing = 2 // schema id in a header, version 0 (id)
	FramingHeaderV1 Framing = 3 // schema GUID in a header, version 1
)

// Payload is one key or value.
type Payload struct {
	// Null: no bytes at all (a tombstone, a record without key). Empty bytes
	// are not null.
	Null    bool
	Framing Framing
	// ID is the schema id as produced, for FramingPrefix.
	ID uint32
	// Schema is the index into the batch's schema keys of the schema that
	// Packed was decoded by, -1 if nothing was decoded.
	Schema int
	// Indexes are the protobuf message-index bytes as sent.
	Indexes []byte
	// Style and Mapping are serde/record.Style and the mapping version.
	Style   uint8
	Mapping uint8
	// Packed is the packed RecordValue, present if Schema >= 0.
	Packed []byte
	// Raw is the whole original key or value (FramingNone, or not decodable),
	// or the original payload without envelope beside Packed where the style
	// can't rebuild it.
	Raw    []byte
	HasRaw bool
}

// Record is one record of a batch. Slices point into the batch or the caller's
// buffers.
type Record struct {
	Attributes  int8
	OffsetDelta int32
	// TimestampDelta in milliseconds relative to FirstTimestamp.
	TimestampDelta int64
	Key            Payload
	Value          Payload
	// Headers is the header block as in a Kafka record, version 2: a varint
	// count, then keys and values with varint lengths, -1 for null values.
	Headers []byte
}
