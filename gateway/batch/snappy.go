package batch

import (
	"encoding/binary"

	"github.com/golang/snappy"
)

// xerialMagic starts the framing of snappy-java, which Java, librdkafka and
// sarama write; two version numbers of four bytes each follow, then blocks
// behind their length.
const (
	xerialMagic       = "\x82SNAPPY\x00"
	xerialHeader      = xerialMagic + "\x00\x00\x00\x01\x00\x00\x00\x01"
	xerialBlockBytes  = 32 << 10
	xerialLengthBytes = 4
)

func unsnap(dst, src []byte, bytesMax int) ([]byte, error) {
	if len(src) < len(xerialHeader) || string(src[:len(xerialMagic)]) != xerialMagic {
		return unsnapBlock(dst, src, bytesMax)
	}
	start := len(dst)
	for src = src[len(xerialHeader):]; len(src) > 0; {
		if len(src) < xerialLengthBytes {
			return dst[:start], errFormat
		}
		n := binary.BigEndian.Uint32(src)
		src = src[xerialLengthBytes:]
		if uint64(n) > uint64(len(src)) {
			return dst[:start], errFormat
		}
		var err error
		if dst, err = unsnapBlock(dst, src[:n], bytesMax-(len(dst)-start)); err != nil {
			return dst[:start], err
		}
		src = src[n:]
	}
	return dst, nil
}

func unsnapBlock(dst, src []byte, bytesMax int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return dst, err
	}
	// A block expands at most about 21 times (a copy of 64 bytes takes three),
	// so a length beyond that is a lie that would cost memory.
	if n > bytesMax {
		return dst, errOverLimit
	}
	if n > 32*len(src)+64 {
		return dst, errFormat
	}
	dst = grow(dst, n)
	out, err := snappy.Decode(dst[len(dst):len(dst)+n], src)
	if err != nil {
		return dst, err
	}
	return dst[:len(dst)+len(out)], nil
}

func snap(dst, src []byte) []byte {
	dst = append(dst, xerialHeader...)
	for len(src) > 0 {
		block := src[:min(len(src), xerialBlockBytes)]
		src = src[len(block):]
		dst = grow(dst, xerialLengthBytes+snappy.MaxEncodedLen(len(block)))
		at := len(dst)
		out := snappy.Encode(dst[at+xerialLengthBytes:cap(dst)], block)
		binary.BigEndian.PutUint32(dst[at:at+xerialLengthBytes], uint32(len(out)))
		dst = dst[:at+xerialLengthBytes+len(out)]
	}
	return dst
}
