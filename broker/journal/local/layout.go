package local

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"milena/broker/journal"
)

// The layout, version 1; integers are little-endian. A file is named by the
// position of its first entry, 20 digits, and ".journal":
//
//	 0  magic      8 bytes, "MILENAJL"
//	 8  version    4 bytes, 1
//	12  reserved   4 bytes, 0
//	16  base       8 bytes, the position of the first entry
//	24  reserved   4 bytes, 0
//	28  CRC        4 bytes, CRC-32C of the 28 bytes before
//	32  entries    one after the other, then zeros
//
// An entry's position is the base plus its distance from byte 32. All but the
// last file end with their last entry, which is where the next one begins.
//
//	 0  magic      4 bytes, "MLNE"
//	 4  version    1 byte, 1
//	 5  reserved   3 bytes, 0
//	 8  position   8 bytes, of this entry
//	16  synced     8 bytes, everything before this position was durable when
//	               the entry was written
//	24  chunk      4 bytes, length
//	28  commit     4 bytes, length, not 0
//	32  chunk CRC  4 bytes, CRC-32C
//	36  commit CRC 4 bytes, CRC-32C
//	40  reserved   4 bytes, 0
//	44  CRC        4 bytes, CRC-32C of the 44 bytes before
//	48  chunk, commit, and up to 7 zeros to a multiple of 8
const (
	segmentMagic   = "MILENAJL"
	segmentVersion = 1
	segmentHeader  = 32

	entryMagic   = "MLNE"
	entryVersion = 1
	entryHeader  = 48
	entryAlign   = 8

	suffix    = ".journal"
	newSuffix = ".journal.new"
	lockName  = "lock"
)

// castagnoli is the read-only table of CRC-32C.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func segmentName(base journal.Position) string { return fmt.Sprintf("%020d%s", base, suffix) }

// parseSegmentName returns the base of a segment's file name.
func parseSegmentName(name string) (journal.Position, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || base < 0 || base%entryAlign != 0 {
		return 0, false
	}
	return journal.Position(base), true
}

func appendSegmentHeader(dst []byte, base journal.Position) []byte {
	start := len(dst)
	dst = append(dst, segmentMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, segmentVersion)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(base))
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// checkSegmentHeader checks the header of the file named by base.
func checkSegmentHeader(b []byte, base journal.Position) error {
	switch {
	case len(b) < segmentHeader || string(b[:8]) != segmentMagic:
		return fmt.Errorf("%w: not a journal file", journal.ErrCorrupt)
	case crc32.Checksum(b[:28], castagnoli) != binary.LittleEndian.Uint32(b[28:]):
		return fmt.Errorf("%w: file header CRC differs", journal.ErrCorrupt)
	case binary.LittleEndian.Uint32(b[8:]) != segmentVersion:
		return fmt.Errorf("%w: unknown file version %d", journal.ErrCorrupt, binary.LittleEndian.Uint32(b[8:]))
	case binary.LittleEndian.Uint64(b[16:]) != uint64(base):
		return fmt.Errorf("%w: file of another position", journal.ErrCorrupt)
	}
	return nil
}

// header is an entry's.
type header struct {
	position  journal.Position
	synced    journal.Position
	chunk     int64 // length in bytes
	commit    int64 // length in bytes
	chunkCRC  uint32
	commitCRC uint32
}

// size is that of the whole entry with its padding.
func (h *header) size() int64 { return entrySize(h.chunk, h.commit) }

func entrySize(chunk, commit int64) int64 {
	return (entryHeader + chunk + commit + entryAlign - 1) &^ (entryAlign - 1)
}

// parseHeader reads an entry's header that should be at position p.
func parseHeader(b []byte, p journal.Position) (header, bool) {
	if len(b) < entryHeader || string(b[:4]) != entryMagic || b[4] != entryVersion {
		return header{}, false
	}
	if crc32.Checksum(b[:44], castagnoli) != binary.LittleEndian.Uint32(b[44:]) {
		return header{}, false
	}
	h := header{
		position:  journal.Position(binary.LittleEndian.Uint64(b[8:])),
		synced:    journal.Position(binary.LittleEndian.Uint64(b[16:])),
		chunk:     int64(binary.LittleEndian.Uint32(b[24:])),
		commit:    int64(binary.LittleEndian.Uint32(b[28:])),
		chunkCRC:  binary.LittleEndian.Uint32(b[32:]),
		commitCRC: binary.LittleEndian.Uint32(b[36:]),
	}
	return h, h.position == p && h.synced <= p && h.commit > 0
}

// appendEntry appends e as it stands in a file.
func appendEntry(dst []byte, p, synced journal.Position, e journal.Entry) []byte {
	start := len(dst)
	dst = append(dst, entryMagic...)
	dst = append(dst, entryVersion, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(synced))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.Chunk)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.Commit)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(e.Chunk, castagnoli))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(e.Commit, castagnoli))
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	dst = append(dst, e.Chunk...)
	dst = append(dst, e.Commit...)
	for (len(dst)-start)%entryAlign != 0 {
		dst = append(dst, 0)
	}
	return dst
}
