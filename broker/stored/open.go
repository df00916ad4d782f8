package stored

// Batch is an opened stored batch. It refers to the bytes it was opened from,
// which must not change meanwhile. Its methods don't change it.
type Batch struct {
	Header Header

	raw        []byte
	keys       []byte
	shapes     [shapesMax]shape
	shapeCount int
	records    int // where the records begin
}

// Open checks a stored batch's CRC, header, schema keys and shapes. Records
// are checked as they are read. It allocates nothing. Errors wrap ErrCorrupt
// or ErrVersion.
func Open(raw []byte) (Batch, error) {
	h, err := verified(raw)
	if err != nil {
		return Batch{}, err
	}
	b := Batch{Header: h, raw: raw}
	c := cursor{b: raw[:len(raw)-crcSize], pos: fixedSize}
	keys := c.uvarint()
	if keys > keysMax || keys*keySize > uint64(len(c.b)-c.pos) {
		return Batch{}, corrupt("too many schema keys")
	}
	b.keys = c.b[c.pos : c.pos+int(keys)*keySize]
	c.pos += len(b.keys)
	shapes := c.uvarint()
	if shapes > shapesMax {
		return Batch{}, corrupt("too many shapes")
	}
	b.shapeCount = int(shapes)
	for i := range b.shapeCount {
		b.shapes[i] = readShape(&c, int(keys))
	}
	if c.reason != "" {
		return Batch{}, corrupt(c.reason)
	}
	b.records = c.pos
	return b, nil
}

// Bytes returns the bytes that b was opened from.
func (b *Batch) Bytes() []byte { return b.raw }

// SchemaCount returns the number of schema keys, to which Payload.Schema
// refers.
func (b *Batch) SchemaCount() int { return len(b.keys) / keySize }

// SchemaKey returns the content key number i, below SchemaCount.
func (b *Batch) SchemaKey(i int) [32]byte { return [keySize]byte(b.keys[i*keySize:]) }

// Records returns an iterator over the records of b.
func (b *Batch) Records() Records {
	return Records{
		batch: *b,
		c:     cursor{b: b.raw[:len(b.raw)-crcSize], pos: b.records},
		left:  b.Header.Count,
		first: true,
	}
}

// Records iterates over a batch's records without allocating. It is used by
// one goroutine at a time.
//
//	records := batch.Records()
//	for records.Next(&r) { ... }
//	err := records.Err()
type Records struct {
	batch      Batch // a copy: a pointer would move the caller's Batch to the heap
	c          cursor
	left       int32
	first      bool
	next       int64
	time, step int64
	key, value shape
	err        error
}

// Next reads the next record into r, whose slices then point into the batch
// (and are nil where there is nothing). Headers is never empty: a record
// without headers has the block of none, one byte 0. It returns false at the
// end and on error: see Err.
func (it *Records) Next(r *Record) bool {
	if it.err != nil {
		return false
	}
	c := &it.c
	if it.left == 0 {
		if c.pos != len(c.b) {
			it.err = corrupt("bytes after the last record")
		}
		return false
	}
	flags := c.byte()
	if flags&^recordKnown != 0 {
		c.fail("unknown record flags")
	}
	if flags&recordSameShapes == 0 {
		it.readShapes()
	} else if it.first {
		c.fail("first record without shapes")
	}
	if flags&recordGap != 0 {
		it.skip(c.uvarint())
	}
	if it.next > int64(it.batch.Header.LastOffsetDelta) {
		c.fail("offset delta beyond the last one")
	}
	if flags&recordSameStep == 0 {
		it.step = c.varint()
	}
	it.time += it.step
	r.OffsetDelta, r.TimestampDelta, r.Attributes = int32(it.next), it.time, 0
	if flags&recordAttributes != 0 {
		r.Attributes = int8(c.byte())
	}
	readPayload(c, &it.key, &r.Key)
	readPayload(c, &it.value, &r.Value)
	if flags&recordHeaders != 0 {
		r.Headers = c.bytes()
		if len(r.Headers) == 0 {
			c.fail("empty header block")
		}
	} else {
		r.Headers = it.batch.raw[offReserved : offReserved+1 : offReserved+1]
	}
	if c.reason != "" {
		it.err = corrupt(c.reason)
		return false
	}
	it.first = false
	it.left--
	it.next++
	return true
}

// Err returns what ended the iteration early; it wraps ErrCorrupt.
func (it *Records) Err() error { return it.err }

func (it *Records) skip(gap uint64) {
	if gap > uint64(it.batch.Header.LastOffsetDelta) {
		it.c.fail("gap beyond the last offset delta")
		return
	}
	it.next += int64(gap)
}

func (it *Records) readShapes() {
	both := it.c.byte()
	it.key = it.shape(int(both & 15))
	it.value = it.shape(int(both >> 4))
}

func (it *Records) shape(i int) shape {
	switch {
	case i < it.batch.shapeCount:
		return it.batch.shapes[i]
	case i == shapeInline:
		return readShape(&it.c, it.batch.SchemaCount())
	}
	it.c.fail("shape index out of range")
	return shape{}
}

func readPayload(c *cursor, s *shape, p *Payload) {
	s.fill(p)
	if s.flags&shapePacked != 0 {
		p.Packed = c.bytes()
	}
	if s.flags&shapeRaw != 0 {
		p.Raw = c.bytes()
	}
}
