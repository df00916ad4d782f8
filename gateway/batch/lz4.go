package batch

import (
	"bytes"
	"encoding/binary"

	"github.com/pierrec/lz4/v4"
)

// lz4Magic starts a frame of the LZ4 frame format. Legacy and skippable frames
// are refused: no Kafka client reads them.
const lz4Magic = "\x04\x22\x4d\x18"

// lz4FrameHeader is magic, flags (version 1, independent blocks, no checksums,
// no content size), block size 64 KiB, and the header checksum of these two
// bytes. It never changes, so it is written as it is, and blocks are compressed
// one by one without the writer's buffers.
const (
	lz4FrameHeader = lz4Magic + "\x60\x40\x82"
	lz4BlockBytes  = 64 << 10
	// lz4Stored marks a block that is not compressed.
	lz4Stored = 1 << 31
)

func (c *Codecs) lz4(dst, src []byte) ([]byte, error) {
	z, ok := c.lz4Writers.Get().(*lz4.Compressor)
	if !ok {
		z = new(lz4.Compressor)
	}
	defer c.lz4Writers.Put(z)
	start := len(dst)
	dst = append(dst, lz4FrameHeader...)
	for len(src) > 0 {
		block := src[:min(len(src), lz4BlockBytes)]
		src = src[len(block):]
		dst = grow(dst, 4+lz4.CompressBlockBound(len(block)))
		at := len(dst)
		n, err := z.CompressBlock(block, dst[at+4:at+4+lz4.CompressBlockBound(len(block))])
		if err != nil {
			return dst[:start], err
		}
		size := uint32(n)
		if n == 0 || n >= len(block) {
			n = copy(dst[at+4:at+4+len(block)], block)
			size = uint32(n) | lz4Stored
		}
		dst = dst[:at+4+n]
		binary.LittleEndian.PutUint32(dst[at:], size)
	}
	return append(dst, 0, 0, 0, 0), nil
}

func (c *Codecs) unlz4(dst, src []byte, bytesMax int) ([]byte, error) {
	if !bytes.HasPrefix(src, []byte(lz4Magic)) {
		return dst, errFormat
	}
	in := c.reader(src)
	defer c.release(in)
	z, ok := c.lz4Readers.Get().(*lz4.Reader)
	if !ok {
		z = lz4.NewReader(in)
	} else {
		z.Reset(in)
	}
	out, err := readBounded(dst, z, bytesMax)
	if err == nil {
		// Only a reader that came to a clean end is known to be reusable.
		c.lz4Readers.Put(z)
	}
	return out, err
}
