package batch

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Codec is a compression codec by its number in the attribute bits.
type Codec uint8

// The codecs of KIP-98 and KIP-110.
const (
	None   Codec = 0
	Gzip   Codec = 1
	Snappy Codec = 2
	LZ4    Codec = 3
	Zstd   Codec = 4
)

// String returns the name that Kafka's compression.type has for c.
func (c Codec) String() string {
	names := [...]string{"none", "gzip", "snappy", "lz4", "zstd"}
	if int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

// DecompressedBytesMax is the limit of Codecs with a zero BytesMax: 128 MiB.
const DecompressedBytesMax = 128 << 20

// growBytes is how much a bounded reader asks for when it doesn't know.
const growBytes = 64 << 10

// Codecs compresses and decompresses record sections. The zero value is ready;
// one is shared by everything that serves one listener. It must not be copied
// after first use. Pools are sync.Pools; zstd's coders are built on first use
// under once and are safe for concurrent use after that.
type Codecs struct {
	// BytesMax bounds the decompressed size of any section; it is the memory a
	// zstd frame may ask for. 0 means DecompressedBytesMax.
	BytesMax int

	gzipReaders sync.Pool // *gzip.Reader
	gzipWriters sync.Pool // *gzip.Writer
	lz4Readers  sync.Pool // *lz4.Reader
	lz4Writers  sync.Pool // *lz4.Compressor
	readers     sync.Pool // *bytes.Reader

	zstdReaders sync.Pool // *zstd.Decoder, streaming

	zstdOnce    sync.Once
	zstdDecoder *zstd.Decoder
	zstdEncoder *zstd.Encoder
	zstdErr     error
}

func (c *Codecs) bytesMax() int {
	if c.BytesMax > 0 {
		return c.BytesMax
	}
	return DecompressedBytesMax
}

// Decompress appends the decompressed src to dst. More than bytesMax bytes (or
// the limit of c, if smaller; 0 means that alone) are ErrTooLarge, and bytes
// that aren't in the codec's format ErrInvalid. Kafka answers the latter with
// UNKNOWN_SERVER_ERROR, which is accidental. dst comes back unchanged on error.
func (c *Codecs) Decompress(dst, src []byte, codec Codec, bytesMax int) ([]byte, error) {
	if bytesMax <= 0 || bytesMax > c.bytesMax() {
		bytesMax = c.bytesMax()
	}
	out, err := c.decompress(dst, src, codec, bytesMax)
	if err == nil && len(out)-len(dst) > bytesMax {
		err = errOverLimit
	}
	var typed *Error
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, errOverLimit):
		return dst, refuse(ErrTooLarge, "more than %d bytes when decompressed", bytesMax)
	case errors.As(err, &typed):
		return dst, err
	}
	return dst, refuse(ErrInvalid, "records are not %s", codec)
}

// errOverLimit and errFormat are what the codecs below report.
var (
	errOverLimit = errors.New("over the limit")
	errFormat    = errors.New("not in the codec's format")
)

func (c *Codecs) decompress(dst, src []byte, codec Codec, bytesMax int) ([]byte, error) {
	switch codec {
	case None:
		if len(src) > bytesMax {
			return dst, errOverLimit
		}
		return append(dst, src...), nil
	case Gzip:
		return c.gunzip(dst, src, bytesMax)
	case Snappy:
		return unsnap(dst, src, bytesMax)
	case LZ4:
		return c.unlz4(dst, src, bytesMax)
	case Zstd:
		return c.unzstd(dst, src, bytesMax)
	}
	return dst, refuse(ErrInvalid, "compression codec %d doesn't exist", codec)
}

// Compress appends the compressed src to dst, in the framing that every client
// reads: xerial blocks for snappy, an LZ4 frame of independent blocks.
func (c *Codecs) Compress(dst, src []byte, codec Codec) ([]byte, error) {
	switch codec {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return c.gzip(dst, src)
	case Snappy:
		return snap(dst, src), nil
	case LZ4:
		return c.lz4(dst, src)
	case Zstd:
		if err := c.openZstd(); err != nil {
			return dst, err
		}
		return c.zstdEncoder.EncodeAll(src, dst), nil
	}
	return dst, refuse(ErrUnsupportedCompression, "codec %d", codec)
}

// readBounded appends what r gives to dst, at most bytesMax bytes.
func readBounded(dst []byte, r io.Reader, bytesMax int) ([]byte, error) {
	start := len(dst)
	for {
		if len(dst) == cap(dst) {
			grow := min(max(growBytes, len(dst)-start), bytesMax-(len(dst)-start)+1)
			dst = append(dst, make([]byte, grow)...)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), start+bytesMax+1)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst)-start > bytesMax:
			return dst[:start], errOverLimit
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst[:start], err
		}
	}
}

func (c *Codecs) reader(src []byte) *bytes.Reader {
	if r, ok := c.readers.Get().(*bytes.Reader); ok {
		r.Reset(src)
		return r
	}
	return bytes.NewReader(src)
}

func (c *Codecs) release(r *bytes.Reader) {
	r.Reset(nil)
	c.readers.Put(r)
}

func (c *Codecs) gunzip(dst, src []byte, bytesMax int) ([]byte, error) {
	in := c.reader(src)
	defer c.release(in)
	z, ok := c.gzipReaders.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	defer c.gzipReaders.Put(z)
	if err := z.Reset(in); err != nil {
		return dst, err
	}
	return readBounded(dst, z, bytesMax)
}

func (c *Codecs) gzip(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	z, ok := c.gzipWriters.Get().(*gzip.Writer)
	if !ok {
		z = gzip.NewWriter(out)
	} else {
		z.Reset(out)
	}
	defer c.gzipWriters.Put(z)
	if _, err := z.Write(src); err != nil {
		return dst, err
	}
	if err := z.Close(); err != nil {
		return dst, err
	}
	return out.Bytes(), nil
}

// grow makes room for n more bytes behind dst.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	next := make([]byte, len(dst), max(len(dst)+n, 2*cap(dst)))
	copy(next, dst)
	return next
}
