package stored

import "encoding/binary"

// cursor reads from a batch. After a failure it reads zeros, and reason says
// what failed first.
type cursor struct {
	b      []byte // up to the batch CRC
	pos    int
	reason string
}

func (c *cursor) fail(reason string) {
	if c.reason == "" {
		c.reason = reason
	}
	c.pos = len(c.b)
}

func (c *cursor) byte() byte {
	if c.pos >= len(c.b) {
		c.fail("cut short")
		return 0
	}
	v := c.b[c.pos]
	c.pos++
	return v
}

func (c *cursor) uvarint() uint64 {
	if c.pos < len(c.b) {
		if v := c.b[c.pos]; v < 0x80 {
			c.pos++
			return uint64(v)
		}
	}
	v, n := binary.Uvarint(c.b[c.pos:])
	if n <= 0 {
		c.fail("bad varint")
		return 0
	}
	c.pos += n
	return v
}

func (c *cursor) varint() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// bytes reads a length and that many bytes. The result is never nil but after
// a failure, and appending to it doesn't overwrite the batch.
func (c *cursor) bytes() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)-c.pos) {
		c.fail("length beyond the end")
		return nil
	}
	end := c.pos + int(n)
	v := c.b[c.pos:end:end]
	c.pos = end
	return v
}
