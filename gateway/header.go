package gateway

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// decodeRequest reads client id, header tags and body from what follows the
// frame head. The client id is a plain nullable string in every version; header
// version 2, that of flexible requests, adds tags after it (KIP-482). Byte
// fields of the request alias b. Bytes after the body are ignored, as Kafka
// does. A request can only be decoded if the table serves its version. guard sees
// the body first.
func decodeRequest(h frameHead, b []byte, guard func([]byte) error) (kmsg.Request, string, error) {
	req := kmsg.RequestForKey(h.key)
	if req == nil {
		return nil, "", fmt.Errorf("%w: unknown key %d", errFrame, h.key)
	}
	req.SetVersion(h.version)
	clientID, b, ok := nullableString(b)
	if !ok {
		return nil, "", fmt.Errorf("%w: client id is cut off", errFrame)
	}
	if req.IsFlexible() {
		if b, ok = skipTags(b); !ok {
			return nil, "", fmt.Errorf("%w: header tags are cut off", errFrame)
		}
	}
	if err := guard(b); err != nil {
		return nil, "", fmt.Errorf("%w: %s v%d: %w", errFrame, kmsg.NameForKey(h.key), h.version, err)
	}
	if err := req.ReadFrom(b); err != nil {
		return nil, "", fmt.Errorf("%w: %s v%d body: %w", errFrame, kmsg.NameForKey(h.key), h.version, err)
	}
	return req, clientID, nil
}

func nullableString(b []byte) (string, []byte, bool) {
	if len(b) < 2 {
		return "", nil, false
	}
	n := int(int16(binary.BigEndian.Uint16(b)))
	b = b[2:]
	if n < 0 {
		return "", b, n == -1
	}
	if n > len(b) {
		return "", nil, false
	}
	return string(b[:n]), b[n:], true
}

// skipTags skips a block of tagged fields: count, then number, size and bytes
// of each.
func skipTags(b []byte) ([]byte, bool) {
	count, b, ok := uvarint(b)
	for ; ok && count > 0; count-- {
		var size uint64
		if _, b, ok = uvarint(b); !ok {
			break
		}
		if size, b, ok = uvarint(b); !ok || size > uint64(len(b)) {
			return nil, false
		}
		b = b[size:]
	}
	return b, ok
}

// uvarint reads a varint of at most 32 bits.
func uvarint(b []byte) (uint64, []byte, bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 5 || v > 1<<32-1 {
		return 0, nil, false
	}
	return v, b[n:], true
}

// appendResponse appends the whole frame: length, correlation id, an empty tag
// block if the response is flexible (but never for ApiVersions, which clients
// read before they know the server, KIP-511), and the body.
func appendResponse(dst []byte, correlation int32, resp kmsg.Response) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlation))
	if resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions) {
		dst = append(dst, 0)
	}
	dst = resp.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}
