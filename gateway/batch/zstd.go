package batch

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

// zstdWindowBytes is the window that frames are written with; batches are
// rarely larger, and a reader has to keep as much.
const zstdWindowBytes = 1 << 20

// zstdRatioMax is up to how many times its own size a frame is decoded at one
// go.
const zstdRatioMax = 64

func (c *Codecs) openZstd() error {
	c.zstdOnce.Do(func() {
		// DecodeAll stops at the capacity it is given.
		c.zstdDecoder, c.zstdErr = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(c.bytesMax())), zstd.WithDecodeAllCapLimit(true))
		if c.zstdErr != nil {
			return
		}
		c.zstdEncoder, c.zstdErr = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithWindowSize(zstdWindowBytes), zstd.WithLowerEncoderMem(true))
	})
	return c.zstdErr
}

// unzstd decodes at one go where the frame says how large it is, as the
// producers that compress a whole batch at once write it, else as a stream.
func (c *Codecs) unzstd(dst, src []byte, bytesMax int) ([]byte, error) {
	if err := c.openZstd(); err != nil {
		return dst, err
	}
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return dst, err
	}
	// A claim far beyond what compresses well is read step by step, so that it
	// costs memory only where it is true.
	if !h.HasFCS || h.Skippable || h.FrameContentSize > zstdRatioMax*uint64(len(src)) {
		return c.streamZstd(dst, src, bytesMax)
	}
	if h.FrameContentSize > uint64(bytesMax) {
		return dst, errOverLimit
	}
	n := int(h.FrameContentSize)
	room := grow(dst, n)
	out, err := c.zstdDecoder.DecodeAll(src, room[:len(dst):len(dst)+n])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		// The frame lies, or others follow it.
		return c.streamZstd(dst, src, bytesMax)
	}
	return out, err
}

func (c *Codecs) streamZstd(dst, src []byte, bytesMax int) ([]byte, error) {
	in := c.reader(src)
	defer c.release(in)
	z, ok := c.zstdReaders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		// With a concurrency of one the decoder starts no goroutines.
		z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(c.bytesMax())))
		if err != nil {
			return dst, err
		}
	}
	defer c.zstdReaders.Put(z)
	if err := z.Reset(in); err != nil {
		return dst, err
	}
	out, err := readBounded(dst, z, bytesMax)
	// Let go of src before the decoder waits in the pool.
	if e := z.Reset(nil); e != nil && err == nil {
		return dst, e
	}
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return dst, errOverLimit
	}
	return out, err
}
