package batch

// Zig-zag varints of the record format. The shortest form is not demanded:
// Kafka's clients read longer ones, and only the value is kept.

// int32Bytes and int64Bytes are the longest encodings.
const (
	int32Bytes = 5
	int64Bytes = 10
)

// readVarint returns a 32-bit value and the rest of b; ok is false if b is too
// short or the value too long.
func readVarint(b []byte) (v int32, rest []byte, ok bool) {
	if len(b) > 0 && b[0] < 0x80 {
		u := uint32(b[0])
		return int32(u>>1) ^ -int32(u&1), b[1:], true
	}
	var u uint32
	for i := 0; i < len(b) && i < int32Bytes; i++ {
		c := b[i]
		if i == int32Bytes-1 && c > 0x0f {
			return 0, b, false
		}
		u |= uint32(c&0x7f) << (7 * i)
		if c < 0x80 {
			return int32(u>>1) ^ -int32(u&1), b[i+1:], true
		}
	}
	return 0, b, false
}

// readVarlong is readVarint for 64 bits.
func readVarlong(b []byte) (v int64, rest []byte, ok bool) {
	var u uint64
	for i := 0; i < len(b) && i < int64Bytes; i++ {
		c := b[i]
		if i == int64Bytes-1 && c > 1 {
			return 0, b, false
		}
		u |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), b[i+1:], true
		}
	}
	return 0, b, false
}

// readBytes returns a length-prefixed byte string, nil for length -1. Empty is
// not nil. Lengths below -1 or beyond b are not ok.
func readBytes(b []byte) (v, rest []byte, ok bool) {
	n, rest, ok := readVarint(b)
	switch {
	case !ok || n < -1 || int(n) > len(rest):
		return nil, b, false
	case n == -1:
		return nil, rest, true
	}
	return rest[:n:n], rest[n:], true
}

func appendVarlong(dst []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

func appendVarint(dst []byte, v int32) []byte { return appendVarlong(dst, int64(v)) }

func appendBytes(dst, v []byte) []byte {
	if v == nil {
		return append(dst, 1) // -1
	}
	return append(appendVarlong(dst, int64(len(v))), v...)
}

// varlongBytes is the size of what appendVarlong appends.
func varlongBytes(v int64) int {
	u := uint64(v<<1) ^ uint64(v>>63)
	n := 1
	for u >= 0x80 {
		u >>= 7
		n++
	}
	return n
}

func bytesBytes(v []byte) int {
	if v == nil {
		return 1
	}
	return varlongBytes(int64(len(v))) + len(v)
}
