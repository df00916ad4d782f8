package record

import (
	"encoding/binary"
	"math"
	"slices"
)

// AppendNull appends a packed null.
func AppendNull(dst []byte) []byte { return append(dst, TagNull) }

// AppendBool appends a packed bool.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, TagBool, 1)
	}
	return append(dst, TagBool, 0)
}

// AppendInt32 appends a packed int32, sign-extended to 64 bits as protobuf does.
func AppendInt32(dst []byte, v int32) []byte {
	return binary.AppendUvarint(append(dst, TagInt32), uint64(int64(v)))
}

// AppendInt64 appends a packed int64.
func AppendInt64(dst []byte, v int64) []byte {
	return binary.AppendUvarint(append(dst, TagInt64), uint64(v))
}

// AppendFloat appends a packed float with all its bits.
func AppendFloat(dst []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, TagFloat), math.Float32bits(v))
}

// AppendDouble appends a packed double with all its bits.
func AppendDouble(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, TagDouble), math.Float64bits(v))
}

// AppendBytes appends packed bytes.
func AppendBytes(dst, v []byte) []byte {
	return append(binary.AppendUvarint(append(dst, TagBytes), uint64(len(v))), v...)
}

// AppendString appends a packed string, which must be valid UTF-8.
func AppendString(dst []byte, v string) []byte {
	return append(binary.AppendUvarint(append(dst, TagString), uint64(len(v))), v...)
}

// AppendTimestamp appends a packed timestamp of micros since the epoch.
func AppendTimestamp(dst []byte, micros int64, utc bool) []byte {
	at := len(dst) + 2
	dst = append(dst, TagTimestamp, 0)
	if micros != 0 {
		dst = binary.AppendUvarint(append(dst, 1<<3|wireVarint), uint64(micros))
	}
	if utc {
		dst = append(dst, 2<<3|wireVarint, 1)
	}
	dst[at-1] = byte(len(dst) - at)
	return dst
}

// AppendDate appends a packed date of days since the epoch.
func AppendDate(dst []byte, days int32) []byte {
	return appendSmall(dst, TagDate, uint64(int64(days)))
}

// AppendTime appends a packed time of day in microseconds since midnight.
func AppendTime(dst []byte, micros int64) []byte {
	return appendSmall(dst, TagTime, uint64(micros))
}

// appendSmall appends a message with one varint field, number 1.
func appendSmall(dst []byte, tag byte, v uint64) []byte {
	if v == 0 {
		return append(dst, tag, 0)
	}
	at := len(dst) + 2
	dst = binary.AppendUvarint(append(dst, tag, 0, 1<<3|wireVarint), v)
	dst[at-1] = byte(len(dst) - at)
	return dst
}

// Decimal is the content of a decimal_value.
type Decimal struct {
	Unscaled  []byte // two's complement, big-endian, as long as written
	Precision int32  // digits; 0 if the schema says nothing
	Scale     int32  // digits behind the point
}

// AppendDecimal appends a packed decimal.
func AppendDecimal(dst []byte, v Decimal) []byte {
	dst = append(dst, TagDecimal)
	at := len(dst)
	if len(v.Unscaled) != 0 {
		dst = binary.AppendUvarint(append(dst, 1<<3|wireBytes), uint64(len(v.Unscaled)))
		dst = append(dst, v.Unscaled...)
	}
	dst = AppendDecimalTail(dst, v.Precision, v.Scale)
	return EndList(dst, at)
}

// AppendDecimalTail appends the part of a decimal_value's content that follows
// the unscaled value and is the same for each value of a column. Precision and
// scale are in digits.
func AppendDecimalTail(dst []byte, precision, scale int32) []byte {
	if precision != 0 {
		dst = binary.AppendUvarint(append(dst, 2<<3|wireVarint), uint64(int64(precision)))
	}
	if scale != 0 {
		dst = binary.AppendUvarint(append(dst, 3<<3|wireVarint), uint64(int64(scale)))
	}
	return dst
}

// BeginList appends the tag of a packed list and returns the position to give
// to EndList when its values are appended. Records, maps and union branches are
// packed lists too.
func BeginList(dst []byte) ([]byte, int) {
	dst = append(dst, TagList)
	return dst, len(dst)
}

// EndList puts the length in bytes of dst[at:] before it.
func EndList(dst []byte, at int) []byte {
	var b [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(b[:], uint64(len(dst)-at))
	return slices.Insert(dst, at, b[:n]...)
}
