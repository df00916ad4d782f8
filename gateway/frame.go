package gateway

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// frameHead is the length of a frame and the part of the request header that
// every version has: key, version, correlation id.
type frameHead struct {
	size        int32 // bytes after the length
	key         int16
	version     int16
	correlation int32
}

// headBytes is the size of key, version and correlation id; a shorter frame
// can't be answered.
const headBytes = 8

// errFrame: the bytes are no request of ours. Wrapped with what is wrong.
var errFrame = errors.New("bad frame")

// readHead reads the head of a frame. Nothing is allocated by its length.
func readHead(r *bufio.Reader, bytesMax int32) (frameHead, error) {
	var b [4 + headBytes]byte
	if _, err := io.ReadFull(r, b[:4]); err != nil {
		return frameHead{}, err
	}
	h := frameHead{size: int32(binary.BigEndian.Uint32(b[:]))}
	switch {
	case h.size < headBytes:
		return h, fmt.Errorf("%w: length %d is too short", errFrame, h.size)
	case h.size > bytesMax:
		return h, fmt.Errorf("%w: length %d exceeds %d", errFrame, h.size, bytesMax)
	}
	if _, err := io.ReadFull(r, b[4:]); err != nil {
		return h, err
	}
	h.key = int16(binary.BigEndian.Uint16(b[4:]))
	h.version = int16(binary.BigEndian.Uint16(b[6:]))
	h.correlation = int32(binary.BigEndian.Uint32(b[8:]))
	return h, nil
}

// Sizes of frame buffers. A buffer begins with at most bufferStartBytes and
// doubles with the bytes that arrive. Those of bufferPoolBytes to
// bufferKeepBytes are used again; smaller frames get one of their own size, so
// that a small request that waits for long doesn't hold a large buffer.
const (
	bufferPoolBytes  = 16 << 10
	bufferStartBytes = 1 << 20
	bufferKeepBytes  = 2 << 20
)

// readBody appends the rest of the frame, size bytes, to dst. progress is
// called before each read.
func readBody(r io.Reader, dst []byte, size int, progress func()) ([]byte, error) {
	for have := 0; have < size; {
		if len(dst) == cap(dst) {
			grown := make([]byte, len(dst), min(max(2*len(dst), bufferStartBytes), size))
			copy(grown, dst)
			dst = grown
		}
		progress()
		n, err := r.Read(dst[len(dst):min(cap(dst), size)])
		dst, have = dst[:len(dst)+n], have+n
		if err != nil && have < size {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return dst, err
		}
	}
	return dst, nil
}

// buffers keeps frame buffers for the next frame. The zero value is ready;
// safe for concurrent use.
type buffers struct{ pool sync.Pool }

// get returns an empty buffer for a frame of that size, nil if there is none.
func (b *buffers) get(size int) []byte {
	if size < bufferPoolBytes {
		return nil
	}
	if p, ok := b.pool.Get().(*[]byte); ok {
		return (*p)[:0]
	}
	return nil
}

func (b *buffers) put(buf []byte) {
	if c := cap(buf); c >= bufferPoolBytes && c <= bufferKeepBytes {
		buf = buf[:0]
		b.pool.Put(&buf)
	}
}
