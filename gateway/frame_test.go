package gateway

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestReadHead(t *testing.T) {
	head := func(size uint32) []byte {
		b := binary.BigEndian.AppendUint32(nil, size)
		return append(b, 0, 3, 0, 9, 0xff, 0xff, 0xff, 0xfe)
	}
	for _, c := range []struct {
		name string
		in   []byte
		err  error
	}{
		{"smallest", head(8), nil},
		{"largest", head(1000), nil},
		{"too short", head(7), errFrame},
		{"empty", head(0), errFrame},
		{"negative", head(1<<32 - 1), errFrame},
		{"too long", head(1001), errFrame},
		{"http", []byte("GET / HTTP/1.1\r\n"), errFrame},
		{"end", nil, io.EOF},
		{"cut in the length", head(8)[:3], io.ErrUnexpectedEOF},
		{"cut in the header", head(8)[:9], io.ErrUnexpectedEOF},
	} {
		h, err := readHead(bufio.NewReader(iotest.OneByteReader(bytes.NewReader(c.in))), 1000)
		if !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		if err == nil && (h.key != 3 || h.version != 9 || h.correlation != -2) {
			t.Errorf("%s: %+v", c.name, h)
		}
	}
}

// TestReadBodyGrowsWithBytes: what a peer claims isn't allocated before it
// comes.
func TestReadBodyGrowsWithBytes(t *testing.T) {
	const claimed = 100 << 20
	got, err := readBody(bytes.NewReader(make([]byte, 100)), nil, claimed, func() {})
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 100 || cap(got) > 2*bufferStartBytes {
		t.Errorf("%d bytes in %d, %v", len(got), cap(got), err)
	}
	want := bytes.Repeat([]byte("0123456789"), 10_000)
	got, err = readBody(iotest.HalfReader(bytes.NewReader(append(want, "next"...))), nil, len(want), func() {})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestBuffers(t *testing.T) {
	var b buffers
	b.put(make([]byte, 0, bufferKeepBytes+1))
	b.put(make([]byte, 0, bufferPoolBytes-1))
	for range 10 {
		if got := b.get(bufferPoolBytes); cap(got) != 0 {
			t.Errorf("kept a buffer of %d bytes", cap(got))
		}
		b.put(make([]byte, 0, bufferKeepBytes))
		if got := b.get(bufferPoolBytes - 1); got != nil {
			t.Errorf("a buffer of %d bytes for a small frame", cap(got))
		}
		b = buffers{}
	}
}

// frames are seeds: a plain and a flexible request, header tags, and damage.
func frames() [][]byte {
	plain := kmsg.NewPtrMetadataRequest()
	plain.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("t")}}
	var out [][]byte
	for _, version := range []int16{0, 1, 9, 12} {
		plain.SetVersion(version)
		b := []byte{0, 4, 't', 'e', 's', 't'}
		if plain.IsFlexible() {
			b = append(b, 1, 100, 2, 'a', 'b')
		}
		b = plain.AppendTo(b)
		out = append(out, b, b[:len(b)-1], b[:3], append(b, 0xff))
	}
	return append(out, nil, []byte{0xff, 0xff}, []byte{0xff, 0xfe, 0}, []byte{0xff, 0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 1})
}

// FuzzDecodeRequest: no bytes panic or allocate by what they claim, and what is
// decoded encodes to something that decodes again.
func FuzzDecodeRequest(f *testing.F) {
	for _, b := range frames() {
		for _, version := range []int16{0, 1, 9, 12} {
			f.Add(int16(kmsg.Metadata), version, b)
			f.Add(int16(kmsg.JoinGroup), version, b)
		}
	}
	f.Fuzz(func(t *testing.T, key, version int16, b []byte) {
		req := kmsg.RequestForKey(key)
		if req == nil || version < 0 || version > req.MaxVersion() {
			return // the table refuses these before
		}
		req, clientID, err := decodeRequest(frameHead{key: key, version: version}, b, func([]byte) error { return nil })
		if err != nil {
			if !errors.Is(err, errFrame) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		if len(clientID) > len(b) {
			t.Fatalf("client id of %d bytes from %d", len(clientID), len(b))
		}
		again := kmsg.RequestForKey(key)
		again.SetVersion(version)
		if err := again.ReadFrom(req.AppendTo(nil)); err != nil {
			t.Fatalf("decoded request doesn't decode again: %v", err)
		}
	})
}

func TestDecodeRequestHeader(t *testing.T) {
	for _, c := range []struct {
		name     string
		version  int16
		header   []byte
		clientID string
		ok       bool
	}{
		{"plain", 1, []byte{0, 2, 'm', 'e'}, "me", true},
		{"null client id", 1, []byte{0xff, 0xff}, "", true},
		{"client id of length -2", 1, []byte{0xff, 0xfe}, "", false},
		{"client id cut off", 1, []byte{0x7f, 0xff, 'm'}, "", false},
		{"no tags", 9, []byte{0, 2, 'm', 'e', 0}, "me", true},
		{"unknown tags", 9, []byte{0, 2, 'm', 'e', 2, 100, 1, 'x', 0xc8, 1, 0}, "me", true},
		{"tag cut off", 9, []byte{0, 2, 'm', 'e', 1, 100, 200}, "", false},
		{"four billion tags", 9, []byte{0, 2, 'm', 'e', 0xff, 0xff, 0xff, 0xff, 0x0f}, "", false},
	} {
		req := kmsg.NewPtrMetadataRequest()
		req.SetVersion(c.version)
		b := c.header
		if c.ok {
			b = req.AppendTo(append([]byte{}, c.header...))
		}
		got, clientID, err := decodeRequest(frameHead{key: 3, version: c.version}, b, func([]byte) error { return nil })
		if (err == nil) != c.ok || clientID != c.clientID || (got == nil) == c.ok {
			t.Errorf("%s: %v, %q, %v", c.name, got, clientID, err)
		}
	}
}

// TestResponseHeader: a tag byte in flexible answers, but never in ApiVersions.
func TestResponseHeader(t *testing.T) {
	for _, c := range []struct {
		resp   kmsg.Response
		header string
	}{
		{&kmsg.HeartbeatResponse{Version: 3}, "\x00\x00\x00\x05"},
		{&kmsg.HeartbeatResponse{Version: 4}, "\x00\x00\x00\x05\x00"},
		{&kmsg.ApiVersionsResponse{Version: 3}, "\x00\x00\x00\x05"},
	} {
		got := appendResponse([]byte("before"), 5, c.resp)
		body := c.resp.AppendTo(nil)
		want := binary.BigEndian.AppendUint32([]byte("before"), uint32(len(c.header)+len(body)))
		want = append(append(want, c.header...), body...)
		if !bytes.Equal(got, want) {
			t.Errorf("%T v%d: % x, want % x", c.resp, c.resp.GetVersion(), got, want)
		}
	}
}
