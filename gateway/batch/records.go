package batch

// Record is one record of a batch. Slices point into the batch's bytes; a nil
// Key or Value is null, an empty one is not.
type Record struct {
	Attributes int8
	// TimestampDelta in milliseconds from the batch's first timestamp.
	TimestampDelta int64
	OffsetDelta    int32
	Key            []byte
	Value          []byte
	// Headers is the header block as it stands in the record: a count as
	// varint, then key and value of each. Iterate with Headers.
	Headers []byte
}

// Records iterates over the records of a batch, checking every bound. The zero
// value is an iterator over nothing; Reset makes it reusable without allocation.
type Records struct {
	rest  []byte
	count int32
	next  int32
	err   error
}

// Reset starts over with the record section (decompressed) of a batch of count
// records.
func (r *Records) Reset(section []byte, count int32) {
	*r = Records{rest: section, count: count}
	if count < 0 || int64(count)*recordBytesMin > int64(len(section)) {
		r.err = refuse(ErrInvalid, "%d records in %d bytes", count, len(section))
	}
}

// Next reads the next record into rec and reports whether there was one. It
// ends after the last record or at the first error. Offset deltas must be
// 0, 1, 2…: Kafka looks at them in compressed batches only, but a batch that
// is rebuilt has no place for gaps.
func (r *Records) Next(rec *Record) bool {
	if r.err != nil {
		return false
	}
	if r.next == r.count {
		if len(r.rest) != 0 {
			r.err = refuse(ErrInvalid, "%d bytes behind the last of %d records", len(r.rest), r.count)
		}
		return false
	}
	n, rest, ok := readVarint(r.rest)
	if !ok || n < 0 || int(n) > len(rest) {
		r.err = refuseRecord(r.next, "record length is wrong")
		return false
	}
	if what := parseRecord(rest[:n:n], rec); what != "" {
		r.err = refuseRecord(r.next, "%s", what)
		return false
	}
	if rec.OffsetDelta != r.next {
		r.err = refuseRecord(r.next, "offset delta %d, want %d", rec.OffsetDelta, r.next)
		return false
	}
	r.rest = rest[n:]
	r.next++
	return true
}

// Err returns why Next stopped, nil after the last record. It is an *Error.
func (r *Records) Err() error { return r.err }

// parseRecord reads the body of a record and returns what is wrong with it.
func parseRecord(b []byte, rec *Record) string {
	if len(b) == 0 {
		return "record is empty"
	}
	rec.Attributes = int8(b[0])
	var ok bool
	if rec.TimestampDelta, b, ok = readVarlong(b[1:]); !ok {
		return "timestamp delta is damaged"
	}
	if rec.OffsetDelta, b, ok = readVarint(b); !ok {
		return "offset delta is damaged"
	}
	if rec.Key, b, ok = readBytes(b); !ok {
		return "key is damaged"
	}
	if rec.Value, b, ok = readBytes(b); !ok {
		return "value is damaged"
	}
	rec.Headers = b
	if len(b) == 1 && b[0] == 0 { // no headers, the common case
		return ""
	}
	var hs Headers
	hs.Reset(b)
	var h RecordHeader
	for hs.Next(&h) {
	}
	if !hs.ok {
		return "headers are damaged"
	}
	return ""
}

// RecordHeader is one header of a record; a nil Value is null.
type RecordHeader struct {
	Key   []byte
	Value []byte
}

// Headers iterates over a header block. The zero value iterates over nothing.
type Headers struct {
	rest []byte
	left int32
	ok   bool
}

// Reset starts over with a header block.
func (h *Headers) Reset(block []byte) {
	h.left, h.rest, h.ok = readVarint(block)
	// A header is at least two bytes, so a count beyond that is a lie.
	if !h.ok || h.left < 0 || int64(h.left)*2 > int64(len(h.rest)) {
		h.left, h.ok = 0, false
	}
}

// Next reads the next header and reports whether there was one. Blocks that
// come from Records are known to be whole.
func (h *Headers) Next(out *RecordHeader) bool {
	if h.left == 0 {
		h.ok = h.ok && len(h.rest) == 0
		return false
	}
	var ok bool
	if out.Key, h.rest, ok = readBytes(h.rest); !ok || out.Key == nil {
		h.left, h.ok = 0, false
		return false
	}
	if out.Value, h.rest, ok = readBytes(h.rest); !ok {
		h.left, h.ok = 0, false
		return false
	}
	h.left--
	return true
}

// AppendHeaders appends the header block of hs.
func AppendHeaders(dst []byte, hs ...RecordHeader) []byte {
	dst = appendVarint(dst, int32(len(hs)))
	for _, h := range hs {
		key := h.Key
		if key == nil {
			key = []byte{} // a header's key can't be null
		}
		dst = appendBytes(dst, key)
		dst = appendBytes(dst, h.Value)
	}
	return dst
}
