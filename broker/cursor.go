package broker

import "encoding/binary"

// cursor reads the broker's own binary forms: commit records and checkpoint
// rows. After anything malformed bad is set, b is empty and every read gives a
// zero value, so that callers check once, at the end. Varints must be minimal,
// so that each value has one encoding.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) check(ok bool) {
	if !ok {
		c.bad, c.b = true, nil
	}
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.check(false)
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 || n > 1 && c.b[n-1] == 0 {
		c.check(false)
		return 0
	}
	c.b = c.b[n:]
	return v
}

// uint reads an unsigned number of at most limit.
func (c *cursor) uint(limit uint64) int64 {
	v := c.uvarint()
	if v > limit {
		c.check(false)
		return 0
	}
	return int64(v)
}

func (c *cursor) varint() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// count reads the number of elements that follow, of at least elementBytes
// each, so that a claim can't make anyone allocate more than the input.
func (c *cursor) count(elementBytes int) int {
	n := c.uvarint()
	if n > uint64(len(c.b)/elementBytes) {
		c.check(false)
		return 0
	}
	return int(n)
}

// bytes reads a length and so many bytes; the result points into the input.
func (c *cursor) bytes() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.check(false)
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) string() string { return string(c.bytes()) }

// copy fills dst from the input.
func (c *cursor) copy(dst []byte) {
	if len(c.b) < len(dst) {
		c.check(false)
		return
	}
	c.b = c.b[copy(dst, c.b):]
}
