package stored

import "hash/crc32"

// UpdateContent adds one record to a content CRC, which starts at 0. Whoever
// builds a batch feeds it what was produced, whoever rebuilds one feeds it
// what was rebuilt, in the order of the records; the sums must be equal.
//
// It is CRC-32C over the record's tail as Kafka's record format, version 2,
// has it with minimal varints: zigzag varint length of the key (-1 if null)
// and key, the same of the value, and the header block. A nil key or value is
// null, which differs from empty; nil headers are the block of none (0x00).
//
// Where a record's bytes are at hand, UpdateContentTail does the same in one
// call.
func UpdateContent(crc uint32, key, value, headers []byte) uint32 {
	crc = updateNullable(crc, key)
	crc = updateNullable(crc, value)
	if headers == nil {
		return updateByte(crc, 0)
	}
	return crc32.Update(crc, castagnoli, headers)
}

// UpdateContentTail adds one record to a content CRC, given the bytes of a
// Kafka record, version 2, from its key length to its end. The lengths of key
// and value must be minimal varints (as all but broken producers write them),
// else the sum isn't that of UpdateContent.
func UpdateContentTail(crc uint32, tail []byte) uint32 {
	return crc32.Update(crc, castagnoli, tail)
}

func updateNullable(crc uint32, b []byte) uint32 {
	if b == nil {
		return updateByte(crc, 1) // zigzag of -1
	}
	n := uint64(len(b)) << 1
	for n >= 0x80 {
		crc = updateByte(crc, byte(n)|0x80)
		n >>= 7
	}
	crc = updateByte(crc, byte(n))
	return crc32.Update(crc, castagnoli, b)
}

// updateByte is crc32.Update of one byte. It saves the buffer, which would
// escape to the heap.
func updateByte(crc uint32, b byte) uint32 {
	crc = ^crc
	return ^(castagnoli[byte(crc)^b] ^ crc>>8)
}
