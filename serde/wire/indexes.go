package wire

import (
	"encoding/binary"
	"errors"
)

// IndexesMax is the greatest number of message indexes in one envelope, that
// is the greatest nesting of a Protobuf message type. Longer lists are refused
// as malformed.
const IndexesMax = 64

// ErrIndexes says that message indexes are malformed: cut off, negative, too
// large for 31 bits, or more than IndexesMax.
var ErrIndexes = errors.New("malformed message indexes")

// Indexes is the path from a .proto file to a message type: its position among
// the top-level messages, then among the nested ones of each step.
type Indexes struct {
	path [IndexesMax]int32
	n    int
}

// Path returns the positions. It is never empty after ParseIndexes: the short
// form stands for [0].
func (x *Indexes) Path() []int32 { return x.path[:x.n] }

// ParseIndexes reads message indexes from the front of b into x and returns
// how many bytes they take, so that the caller keeps those bytes as sent: [0]
// has a short and a long form, and varints can be longer than needed.
func ParseIndexes(x *Indexes, b []byte) (int, error) {
	x.n = 0
	count, pos := binary.Varint(b)
	if pos <= 0 || count < 0 || count > IndexesMax || count > int64(len(b)-pos) {
		return 0, ErrIndexes
	}
	for i := range int(count) {
		v, w := binary.Varint(b[pos:])
		if w <= 0 || v < 0 || v > 1<<31-1 {
			return 0, ErrIndexes
		}
		x.path[i] = int32(v)
		pos += w
	}
	x.n = int(count)
	if count == 0 { // the short form of [0]
		x.path[0], x.n = 0, 1
	}
	return pos, nil
}

// AppendIndexes appends path as zig-zag varints, count first, in the form that
// Confluent's serializers write: [0] is the single byte 0. An empty path is
// the same as [0]. Only the first IndexesMax positions count.
func AppendIndexes(dst []byte, path []int32) []byte {
	path = path[:min(len(path), IndexesMax)]
	if len(path) == 0 || len(path) == 1 && path[0] == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, int64(len(path)))
	for _, i := range path {
		dst = binary.AppendVarint(dst, int64(i))
	}
	return dst
}
