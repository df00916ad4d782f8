package stored

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Builder makes stored batches. The zero value is ready; after Reset it is
// reused without allocation once its buffers have grown. It is used by one
// goroutine at a time.
//
//	b.Reset()
//	b.Header = stored.Header{...}      // Count is set by Append
//	i, err := b.SchemaIndex(key)       // for Payload.Schema
//	err = b.Add(&record)               // ascending OffsetDelta
//	batch, err = b.Append(dst)
type Builder struct {
	// Header is what Append writes, with Count replaced by the number of added
	// records.
	Header Header

	keys     []byte
	keyIndex map[[keySize]byte]int // of all keys, once there are more than keysLinear
	lastKey  int

	shapes     [shapesMax]shape
	shapeCount int
	arena      []byte // the indexes of shapes

	records []byte
	count   int32
	next    int64 // the offset delta that needs no gap
	time    int64
	step    int64

	// key and value are the shapes of the record before; their indexes are in
	// the two buffers.
	key, value             shape
	keyIndexes, valIndexes []byte
}

// keysLinear is up to how many keys SchemaIndex searches without a map.
const keysLinear = 8

// bufferKept is the capacity in bytes up to which Reset keeps buffers, so that
// one huge batch doesn't hold memory for ever.
const bufferKept = 4 << 20

// Reset empties b.
func (b *Builder) Reset() {
	keep := func(s []byte) []byte {
		if cap(s) > bufferKept {
			return nil
		}
		return s[:0]
	}
	b.Header = Header{}
	b.keys = keep(b.keys)
	clear(b.keyIndex)
	b.lastKey = 0
	b.shapeCount = 0
	b.arena = keep(b.arena)
	b.records = keep(b.records)
	b.count, b.next, b.time, b.step = 0, 0, 0, 0
	b.key, b.value = shape{}, shape{}
	b.keyIndexes, b.valIndexes = keep(b.keyIndexes), keep(b.valIndexes)
}

// Count returns the number of records added since Reset.
func (b *Builder) Count() int { return int(b.count) }

// SchemaIndex returns the index of a schema's content key in the batch and
// adds the key if it is new. It fails with ErrInvalid beyond 65,536 keys.
func (b *Builder) SchemaIndex(key [32]byte) (int, error) {
	n := len(b.keys) / keySize
	if n > 0 && [keySize]byte(b.keys[b.lastKey*keySize:]) == key {
		return b.lastKey, nil
	}
	if n <= keysLinear {
		for i := range n {
			if [keySize]byte(b.keys[i*keySize:]) == key {
				b.lastKey = i
				return i, nil
			}
		}
	} else if i, ok := b.keyIndex[key]; ok {
		b.lastKey = i
		return i, nil
	}
	if n == keysMax {
		return 0, invalid("too many schemas")
	}
	b.keys = append(b.keys, key[:]...)
	b.lastKey = n
	if n+1 > keysLinear {
		b.indexKeys()
	}
	return n, nil
}

// indexKeys puts the keys that are not yet in the map into it.
func (b *Builder) indexKeys() {
	if b.keyIndex == nil {
		b.keyIndex = make(map[[keySize]byte]int)
	}
	for i := len(b.keyIndex); i < len(b.keys)/keySize; i++ {
		b.keyIndex[[keySize]byte(b.keys[i*keySize:])] = i
	}
}

// Add adds a record and copies what it needs of it. Offset deltas must ascend;
// those left out become holes. On error (ErrInvalid, ErrTooLarge) nothing is
// added. Of a Payload only what its doc calls meaningful is kept: ID with
// FramingPrefix, Style, Mapping and Packed with Schema >= 0, Raw with HasRaw.
func (b *Builder) Add(r *Record) error {
	keys := len(b.keys) / keySize
	key, reason := shapeOf(&r.Key, keys)
	if reason != "" {
		return invalid("key: " + reason)
	}
	value, reason := shapeOf(&r.Value, keys)
	if reason != "" {
		return invalid("value: " + reason)
	}
	gap := int64(r.OffsetDelta) - b.next
	if gap < 0 {
		return invalid("offset delta doesn't ascend")
	}
	if len(b.records)+recordSizeMax(r) > SizeMax {
		return ErrTooLarge
	}
	flagsAt := len(b.records)
	flags := byte(0)
	b.records = append(b.records, 0)
	if b.count > 0 && key.equal(&b.key) && value.equal(&b.value) {
		flags |= recordSameShapes
	} else {
		b.addShapes(key, value)
	}
	if gap > 0 {
		flags |= recordGap
		b.records = binary.AppendUvarint(b.records, uint64(gap))
	}
	step := r.TimestampDelta - b.time // wraps, as does the reader's sum
	if step == b.step {
		flags |= recordSameStep
	} else {
		b.records = binary.AppendVarint(b.records, step)
	}
	if r.Attributes != 0 {
		flags |= recordAttributes
		b.records = append(b.records, byte(r.Attributes))
	}
	b.records = appendPayload(b.records, &key, &r.Key)
	b.records = appendPayload(b.records, &value, &r.Value)
	if len(r.Headers) > 1 || len(r.Headers) == 1 && r.Headers[0] != 0 {
		flags |= recordHeaders
		b.records = appendBytes(b.records, r.Headers)
	}
	b.records[flagsAt] = flags
	b.time, b.step = r.TimestampDelta, step
	b.next = int64(r.OffsetDelta) + 1
	b.count++
	return nil
}

// addShapes writes the shapes of a record that differ from those of the one
// before, and remembers them.
func (b *Builder) addShapes(key, value shape) {
	k, v := b.findShape(&key), b.findShape(&value)
	b.records = append(b.records, byte(v<<4|k))
	if k == shapeInline {
		b.records = key.append(b.records)
	}
	if v == shapeInline {
		b.records = value.append(b.records)
	}
	b.keyIndexes = append(b.keyIndexes[:0], key.indexes...)
	b.valIndexes = append(b.valIndexes[:0], value.indexes...)
	key.indexes, value.indexes = b.keyIndexes, b.valIndexes
	b.key, b.value = key, value
}

// findShape returns the place of s in the table, adding it if there is room,
// else shapeInline.
func (b *Builder) findShape(s *shape) int {
	for i := range b.shapeCount {
		if b.shapes[i].equal(s) {
			return i
		}
	}
	if b.shapeCount == shapesMax {
		return shapeInline
	}
	kept := *s
	at := len(b.arena)
	b.arena = append(b.arena, s.indexes...)
	kept.indexes = b.arena[at:len(b.arena):len(b.arena)]
	b.shapes[b.shapeCount] = kept
	b.shapeCount++
	return b.shapeCount - 1
}

// Append appends the stored batch to dst. It fails, returning dst as it was,
// with ErrInvalid if Header contradicts the records and with ErrTooLarge
// beyond SizeMax.
func (b *Builder) Append(dst []byte) ([]byte, error) {
	h := b.Header
	h.Count = b.count
	if reason := h.invalid(); reason != "" {
		return dst, invalid(reason)
	}
	if b.next > int64(h.LastOffsetDelta)+1 {
		return dst, invalid("offset delta beyond the last one")
	}
	bound := fixedSize + len(b.keys) + len(b.arena) + len(b.records) + 32*shapesMax + 32
	if bound > SizeMax {
		return dst, ErrTooLarge
	}
	start := len(dst)
	dst = slices.Grow(dst, bound)
	dst = appendHeader(dst, &h)
	dst = binary.AppendUvarint(dst, uint64(len(b.keys)/keySize))
	dst = append(dst, b.keys...)
	dst = binary.AppendUvarint(dst, uint64(b.shapeCount))
	for i := range b.shapeCount {
		dst = b.shapes[i].append(dst)
	}
	dst = append(dst, b.records...)
	binary.LittleEndian.PutUint32(dst[start+offSize:], uint32(len(dst)-start+crcSize))
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(0, castagnoli, dst[start:])), nil
}

func appendPayload(dst []byte, s *shape, p *Payload) []byte {
	if s.flags&shapePacked != 0 {
		dst = appendBytes(dst, p.Packed)
	}
	if s.flags&shapeRaw != 0 {
		dst = appendBytes(dst, p.Raw)
	}
	return dst
}

func appendBytes(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

// recordSizeMax is an upper bound of what r takes, in bytes.
func recordSizeMax(r *Record) int {
	payload := func(p *Payload) int { return len(p.Packed) + len(p.Raw) + len(p.Indexes) + 40 }
	return payload(&r.Key) + payload(&r.Value) + len(r.Headers) + 32
}
