package broker

// The chunk, version 1: the data of one journal entry. For each batch
//
//	16 bytes  topic id
//	 4 bytes  partition, big-endian
//	 4 bytes  length of the batch, big-endian
//	          the stored batch (broker/stored), offsets relative
//
// so that a chunk says what it holds without its commit record, which assigns
// the offsets. Replay checks each frame against the commit record's item.

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"milena/broker/api"
)

const chunkFrameBytes = 16 + 4 + 4

// appendChunk appends a batch with its frame and returns the chunk offset of
// the batch itself. This is the one copy of the batch on the append path.
func appendChunk(chunk []byte, p api.Partition, batch []byte) ([]byte, uint32) {
	chunk = append(chunk, p.Topic[:]...)
	chunk = binary.BigEndian.AppendUint32(chunk, uint32(p.Index))
	chunk = binary.BigEndian.AppendUint32(chunk, uint32(len(batch)))
	off := uint32(len(chunk))
	return append(chunk, batch...), off
}

// checkChunk compares the frame in front of b's batch with b.
func checkChunk(chunk []byte, b *batchItem) error {
	end := uint64(b.chunkOffset) + uint64(b.length)
	if b.chunkOffset < chunkFrameBytes || end > uint64(len(chunk)) {
		return fmt.Errorf("%w: batch at %d+%d of a chunk of %d bytes", errRecord, b.chunkOffset, b.length, len(chunk))
	}
	f := chunk[b.chunkOffset-chunkFrameBytes : b.chunkOffset]
	if !bytes.Equal(f[:16], b.partition.Topic[:]) ||
		binary.BigEndian.Uint32(f[16:]) != uint32(b.partition.Index) ||
		binary.BigEndian.Uint32(f[20:]) != b.length {
		return fmt.Errorf("%w: batch at %d differs from the chunk's frame", errRecord, b.chunkOffset)
	}
	return nil
}
