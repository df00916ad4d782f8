package store

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Decoder decodes entries as Decode does, but most schemas, of which a large
// log consists, without a JSON parser. The zero value is ready. A Decoder
// belongs to one goroutine at a time.
type Decoder struct {
	// Keep, if it is not nil, makes the string that holds a schema's text. It
	// must copy the bytes.
	Keep func(text []byte) string

	scratch []byte // the text that was unescaped last
}

// Decode returns the record of e.
func (d *Decoder) Decode(e Entry) (*Record, error) {
	if r := d.schema(e); r != nil {
		return r, nil
	}
	r, err := Decode(e)
	if err == nil && r.Schema != nil && d.Keep != nil {
		r.Schema.Text = d.Keep([]byte(r.Schema.Text))
	}
	return r, err
}

// schema returns the record of a SCHEMA entry in the form in which Encode, and
// the reference, writes one without references, metadata and rules. It returns
// nil for every other one, which says nothing about whether it is good.
func (d *Decoder) schema(e Entry) *Record {
	key := cursor{rest: e.Key}
	key.literal(`{"keytype":"SCHEMA","subject":`)
	subject := key.text(nil)
	key.literal(`,"version":`)
	version := key.number()
	key.literal(`,"magic":1}`)
	if key.failed || len(key.rest) > 0 || e.Value == nil {
		return nil
	}
	r := &Record{TimestampMillis: e.TimestampMillis, Kind: SchemaKind, Subject: string(subject), Version: version}
	value := cursor{rest: e.Value}
	value.literal(`{"subject":`)
	in := value.text(nil)
	value.literal(`,"version":`)
	s := &Schema{Version: value.number(), Type: "AVRO"}
	value.literal(`,"id":`)
	s.ID = value.number()
	if value.next(`,"schemaType":`) {
		s.Type = TypeName(value.text(nil))
	}
	value.literal(`,"schema":`)
	text := value.text(&d.scratch)
	value.literal(`,"deleted":`)
	s.Deleted = value.next("true")
	if !s.Deleted {
		value.literal("false")
	}
	value.literal("}")
	if value.failed || len(value.rest) > 0 || s.Type == "" {
		return nil
	}
	s.Subject = r.Subject // one string for both, where they are the same
	if string(in) != r.Subject {
		s.Subject = string(in)
	}
	if d.Keep != nil {
		s.Text = d.Keep(text)
	} else {
		s.Text = string(text)
	}
	r.Schema = s
	return r
}

// TypeName returns the name of a schema format without a copy for each schema.
func TypeName(b []byte) string {
	for _, known := range [...]string{"AVRO", "JSON", "PROTOBUF"} {
		if string(b) == known {
			return known
		}
	}
	return strings.Clone(string(b))
}

// cursor reads JSON of one form. After failed nothing it returned counts.
type cursor struct {
	rest   []byte
	failed bool
}

// next skips what is expected, if it is there.
func (c *cursor) next(expected string) bool {
	if len(c.rest) < len(expected) || string(c.rest[:len(expected)]) != expected {
		return false
	}
	c.rest = c.rest[len(expected):]
	return true
}

// literal skips what must be there.
func (c *cursor) literal(expected string) { c.failed = c.failed || !c.next(expected) }

// number reads a number of up to nine digits without sign, fraction or exponent.
func (c *cursor) number() int {
	n, i := 0, 0
	for ; i < len(c.rest) && c.rest[i]-'0' <= 9; i++ {
		n = n*10 + int(c.rest[i]-'0')
		if i == 9 {
			c.failed = true
			return 0
		}
	}
	c.failed = c.failed || i == 0 || i > 1 && c.rest[0] == '0'
	c.rest = c.rest[i:]
	return n
}

// text reads a string. With a scratch buffer it takes the short escapes, and
// the result is valid until the buffer is used again; without, it takes none.
func (c *cursor) text(scratch *[]byte) []byte {
	if !c.next(`"`) {
		c.failed = true
		return nil
	}
	end := bytes.IndexByte(c.rest, '"')
	if end < 0 {
		c.failed = true
		return nil
	}
	s := c.rest[:end]
	if bytes.IndexByte(s, '\\') < 0 {
		c.rest = c.rest[end+1:]
		c.failed = c.failed || !plain(s)
		return s
	}
	if scratch == nil {
		c.failed = true
		return nil
	}
	// An escape is never shorter than what it stands for.
	*scratch = slices.Grow((*scratch)[:0], len(c.rest))
	*scratch = (*scratch)[:c.unescape((*scratch)[:len(c.rest)])]
	c.failed = c.failed || !utf8.Valid(*scratch)
	return *scratch
}

// unescape writes the string up to its quote to out, which has room for it, and
// returns its length.
func (c *cursor) unescape(out []byte) int {
	n := 0
	for i := 0; i < len(c.rest); i++ {
		b := c.rest[i]
		if b == '"' {
			c.rest = c.rest[i+1:]
			return n
		}
		if b == '\\' {
			if i++; i == len(c.rest) {
				break
			}
			b = short(c.rest[i])
			if b == 0 {
				break
			}
		} else if b < ' ' {
			break
		}
		out[n] = b
		n++
	}
	c.failed = true
	return n
}

// short returns what the escape with the letter stands for, 0 for what needs a
// parser.
func short(letter byte) byte {
	switch letter {
	case '"', '\\', '/':
		return letter
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	default:
		return 0
	}
}

// plain reports whether s is UTF-8 without control characters.
func plain(s []byte) bool {
	for _, b := range s {
		if b < ' ' {
			return false
		}
	}
	return utf8.Valid(s)
}
