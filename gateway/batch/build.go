package batch

import (
	"encoding/binary"
	"hash/crc32"
)

// Begin appends room for a batch header; records are appended behind it with
// AppendRecord (or a compressed section by Codecs.Compress), and Finish writes
// the header. The batch starts where dst ended.
func Begin(dst []byte) []byte {
	var room [HeaderBytes]byte
	return append(dst, room[:]...)
}

// AppendRecord appends a record in its shortest form. An empty Headers means no
// headers.
func AppendRecord(dst []byte, rec *Record) []byte {
	dst = appendVarlong(dst, int64(bodyBytes(rec)))
	dst = append(dst, byte(rec.Attributes))
	dst = appendVarlong(dst, rec.TimestampDelta)
	dst = appendVarint(dst, rec.OffsetDelta)
	dst = appendBytes(dst, rec.Key)
	dst = appendBytes(dst, rec.Value)
	if len(rec.Headers) == 0 {
		return append(dst, 0)
	}
	return append(dst, rec.Headers...)
}

// RecordBytes is the size of what AppendRecord appends.
func RecordBytes(rec *Record) int {
	n := bodyBytes(rec)
	return varlongBytes(int64(n)) + n
}

func bodyBytes(rec *Record) int {
	return 1 + varlongBytes(rec.TimestampDelta) + varlongBytes(int64(rec.OffsetDelta)) +
		bytesBytes(rec.Key) + bytesBytes(rec.Value) + max(1, len(rec.Headers))
}

// Finish writes the header of the batch b, made by Begin and what was appended
// since: all fields of h, magic 2, length and CRC-32C. b shorter than a header
// is the caller's mistake.
func Finish(b []byte, h Header) {
	binary.BigEndian.PutUint64(b, uint64(h.BaseOffset))
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-lengthStart))
	binary.BigEndian.PutUint32(b[12:], uint32(h.LeaderEpoch))
	b[16] = 2
	binary.BigEndian.PutUint16(b[21:], uint16(h.Attributes))
	binary.BigEndian.PutUint32(b[23:], uint32(h.LastOffsetDelta))
	binary.BigEndian.PutUint64(b[27:], uint64(h.FirstTimestamp))
	binary.BigEndian.PutUint64(b[35:], uint64(h.MaxTimestamp))
	binary.BigEndian.PutUint64(b[43:], uint64(h.ProducerID))
	binary.BigEndian.PutUint16(b[51:], uint16(h.ProducerEpoch))
	binary.BigEndian.PutUint32(b[53:], uint32(h.BaseSequence))
	binary.BigEndian.PutUint32(b[57:], uint32(h.Count))
	seal(b)
}

func seal(b []byte) {
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[crcStart:], castagnoli()))
}

// Stamp is what the log decides about a batch.
type Stamp struct {
	BaseOffset  int64
	LeaderEpoch int32
	// LogAppendTime says that timestamps are AppendTime (milliseconds since
	// the epoch) for the whole batch; else the timestamp type bit is cleared
	// and MaxTimestamp, that of the records, put in.
	LogAppendTime bool
	AppendTime    int64
	MaxTimestamp  int64
}

// Apply writes s into the batch b, which Check accepted, in place. The CRC is
// redone only if something under it changed.
func (s Stamp) Apply(b []byte) {
	binary.BigEndian.PutUint64(b, uint64(s.BaseOffset))
	binary.BigEndian.PutUint32(b[12:], uint32(s.LeaderEpoch))
	attributes := int16(binary.BigEndian.Uint16(b[21:]))
	first, last := int64(binary.BigEndian.Uint64(b[27:])), int64(binary.BigEndian.Uint64(b[35:]))
	wantAttributes, wantFirst, wantLast := attributes&^logAppendTime, first, s.MaxTimestamp
	if s.LogAppendTime {
		// Kafka puts the append time into both fields (KIP-32).
		wantAttributes, wantFirst, wantLast = attributes|logAppendTime, s.AppendTime, s.AppendTime
	}
	if attributes == wantAttributes && first == wantFirst && last == wantLast {
		return
	}
	binary.BigEndian.PutUint16(b[21:], uint16(wantAttributes))
	binary.BigEndian.PutUint64(b[27:], uint64(wantFirst))
	binary.BigEndian.PutUint64(b[35:], uint64(wantLast))
	seal(b)
}

// SplitFirst returns the first batch in b, a sequence of batches as a Fetch
// answer holds them, and the rest. ok is false if there is no whole one.
func SplitFirst(b []byte) (first, rest []byte, ok bool) {
	if len(b) < HeaderBytes {
		return nil, b, false
	}
	length := int64(int32(binary.BigEndian.Uint32(b[8:])))
	if length < HeaderBytes-lengthStart || length+lengthStart > int64(len(b)) {
		return nil, b, false
	}
	n := length + lengthStart
	return b[:n:n], b[n:], true
}
