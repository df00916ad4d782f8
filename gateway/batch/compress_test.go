package batch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

func sections() map[string][]byte {
	random := make([]byte, 200_000)
	source := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(source.Uint32())
	}
	return map[string][]byte{"empty": {}, "short": []byte("short"), "text": bytes.Repeat([]byte("to Milena, in an envelope; "), 10_000), "random": random}
}

func TestCodecsRoundTrip(t *testing.T) {
	codecs := new(Codecs)
	prefix := []byte("before")
	for name, in := range sections() {
		for codec := None; codec <= Zstd; codec++ {
			for range 2 { // the second time with pooled coders
				packed, err := codecs.Compress(bytes.Clone(prefix), in, codec)
				if err != nil || !bytes.HasPrefix(packed, prefix) {
					t.Fatalf("%s, %v: %v", name, codec, err)
				}
				out, err := codecs.Decompress(bytes.Clone(prefix), packed[len(prefix):], codec, len(in))
				if err != nil || !bytes.Equal(out, append(bytes.Clone(prefix), in...)) {
					t.Fatalf("%s, %v: %d bytes, %v", name, codec, len(out), err)
				}
				if len(in) == 0 {
					continue
				}
				out, err = codecs.Decompress(prefix, packed[len(prefix):], codec, len(in)-1)
				if !errors.Is(err, ErrTooLarge) || !bytes.Equal(out, prefix) {
					t.Errorf("%s, %v: %d bytes, %v, want too large", name, codec, len(out), err)
				}
			}
		}
	}
}

// TestOtherWritersAreRead takes what other libraries write: streams of several
// frames and blocks, linked blocks, checksums, raw snappy, unknown sizes.
func TestOtherWritersAreRead(t *testing.T) {
	in := sections()["text"]
	half := len(in) / 2
	written := func(w interface {
		Write([]byte) (int, error)
		Close() error
	}, b *bytes.Buffer) []byte {
		for _, part := range [][]byte{in[:half], in[half:]} {
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	var g, l1, l2, z1 bytes.Buffer
	linked := lz4.NewWriter(&l1)
	big := lz4.NewWriter(&l2)
	if err := errors.Join(linked.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(true), lz4.BlockChecksumOption(true), lz4.SizeOption(uint64(len(in)))),
		big.Apply(lz4.BlockSizeOption(lz4.Block4Mb))); err != nil {
		t.Fatal(err)
	}
	stream, err := zstd.NewWriter(&z1)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		codec Codec
		b     []byte
	}{
		"gzip of the standard library": {Gzip, written(gzip.NewWriter(&g), &g)},
		"raw snappy":                   {Snappy, snappy.Encode(nil, in)},
		"snappy written by s2":         {Snappy, s2.EncodeSnappyBest(nil, in)},
		"lz4 with checksums and size":  {LZ4, written(linked, &l1)},
		"lz4 with 4 MiB blocks":        {LZ4, written(big, &l2)},
		"zstd stream without size":     {Zstd, written(stream, &z1)},
		"two zstd frames":              {Zstd, whole.EncodeAll(in[half:], whole.EncodeAll(in[:half], nil))},
	} {
		out, err := new(Codecs).Decompress(nil, c.b, c.codec, 0)
		if err != nil || !bytes.Equal(out, in) {
			t.Errorf("%s: %d bytes, %v", name, len(out), err)
		}
	}
}

func TestOurLZ4FrameIsReadByTheLibrary(t *testing.T) {
	for name, in := range sections() {
		b, err := new(Codecs).Compress(nil, in, LZ4)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := out.ReadFrom(lz4.NewReader(bytes.NewReader(b))); err != nil || !bytes.Equal(out.Bytes(), in) {
			t.Errorf("%s: %d of %d bytes, %v", name, out.Len(), len(in), err)
		}
	}
}

func TestGarbageIsRefused(t *testing.T) {
	garbage := []byte("these bytes are not compressed by anything at all")
	lies := append(append([]byte{}, 0x28, 0xb5, 0x2f, 0xfd, 0xe0), 0xff, 0xff, 0xff, 0x07, 0, 0, 0, 0, 1, 0, 0) // claims 128 MiB
	codecs := new(Codecs)
	for codec := Gzip; codec <= 7; codec++ {
		for _, b := range [][]byte{garbage, {}, {0xff}} {
			if codec == Zstd && len(b) == 0 {
				continue // no frame at all is an empty stream
			}
			if out, err := codecs.Decompress(nil, b, codec, 1<<20); !errors.Is(err, ErrInvalid) || len(out) != 0 {
				t.Errorf("%v of %q: %d bytes, %v", codec, b, len(out), err)
			}
		}
	}
	for name, c := range map[string]struct {
		codec Codec
		b     []byte
	}{
		"snappy that claims 1 GiB":    {Snappy, []byte{0x80, 0x80, 0x80, 0x80, 0x04, 0}},
		"snappy that claims 1 MiB":    {Snappy, []byte{0x80, 0x80, 0x40, 0}},
		"xerial with a long block":    {Snappy, []byte(xerialHeader + "\x7f\xff\xff\xffabc")},
		"xerial with a cut length":    {Snappy, []byte(xerialHeader + "\x00\x00")},
		"legacy lz4":                  {LZ4, []byte("\x02\x21\x4c\x18\x00\x00\x00\x00")},
		"cut lz4":                     {LZ4, []byte(lz4FrameHeader)},
		"zstd that claims 128 MiB":    {Zstd, lies},
		"lz4 block beyond the frame":  {LZ4, []byte(lz4FrameHeader + "\xff\xff\xff\x7f")},
		"gzip header without content": {Gzip, []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")},
	} {
		if n := testing.AllocsPerRun(1, func() {
			if out, err := codecs.Decompress(nil, c.b, c.codec, 64<<20); err == nil || len(out) != 0 {
				t.Errorf("%s: %d bytes, %v", name, len(out), err)
			}
		}); n > 200 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if _, err := codecs.Compress(nil, nil, 5); !errors.Is(err, ErrUnsupportedCompression) {
		t.Error(err)
	}
}

// TestBombsStop: a section of zeros that compresses well stops at the limit.
func TestBombsStop(t *testing.T) {
	zeros := make([]byte, 16<<20)
	codecs := &Codecs{BytesMax: 1 << 20}
	writer := new(Codecs)
	for codec := Gzip; codec <= Zstd; codec++ {
		b, err := writer.Compress(nil, zeros, codec)
		if err != nil {
			t.Fatal(err)
		}
		out, err := codecs.Decompress(nil, b, codec, 0)
		if !errors.Is(err, ErrTooLarge) || cap(out) > 4<<20 || !strings.Contains(err.Error(), fmt.Sprint(1<<20)) {
			t.Errorf("%v: capacity %d, %v", codec, cap(out), err)
		}
	}
}
