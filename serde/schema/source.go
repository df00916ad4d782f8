package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Type is a schema format by the name that the registry's REST API uses.
type Type string

// The three formats. An absent schemaType means Avro.
const (
	Avro     Type = "AVRO"
	JSON     Type = "JSON"
	Protobuf Type = "PROTOBUF"
)

// Reference names one schema that a text refers to: Name is the name used in
// the text (a full name, a URL or an import path), Subject and Version say
// which registered schema stands behind it.
type Reference struct {
	Name    string
	Subject string
	Version int
}

// Source is a schema as it was sent or stored: format, text and references
// that are not resolved yet.
type Source struct {
	Type       Type
	Text       string
	References []Reference
}

// Dependency is the text behind one reference, under the name by which it is
// referred to.
type Dependency struct {
	Name string
	Text string
}

// Resolved is a schema with the texts of everything it refers to, directly or
// not, in an order in which each text comes after those it needs. It is all
// that a parser or a compiler sees, so it is also what a program is cached by.
type Resolved struct {
	Type         Type
	Text         string
	Dependencies []Dependency
}

// Key identifies a Resolved by content: SHA-256 over format, text and
// dependencies. Ids repeat between contexts and registries and may be freed
// and used again; keys do not, so programs and stored schemas go by key.
type Key [32]byte

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// IsZero reports whether k is the zero key, which no schema has.
func (k Key) IsZero() bool { return k == Key{} }

// Key returns the content key of r.
func (r Resolved) Key() Key { return sha256.Sum256(r.AppendBinary(nil)) }

// encodingVersion is the first byte of an encoded Resolved. It is part of the
// stored format: a change of layout takes the next number, and every earlier
// one must still decode.
const encodingVersion = 1

// AppendBinary appends the stored form of r: version byte, then format, text
// and number of dependencies with name and text each, every string behind its
// length as an unsigned varint.
func (r Resolved) AppendBinary(dst []byte) []byte {
	dst = append(dst, encodingVersion)
	dst = appendString(dst, string(r.Type))
	dst = appendString(dst, r.Text)
	dst = binary.AppendUvarint(dst, uint64(len(r.Dependencies)))
	for _, d := range r.Dependencies {
		dst = appendString(dst, d.Name)
		dst = appendString(dst, d.Text)
	}
	return dst
}

// ParseBinary decodes what AppendBinary wrote. The error names what is wrong;
// no input makes it allocate more than the input's own size.
func ParseBinary(b []byte) (Resolved, error) {
	var r Resolved
	if len(b) == 0 || b[0] != encodingVersion {
		return r, fmt.Errorf("stored schema: unknown encoding version")
	}
	b = b[1:]
	var s string
	var ok bool
	if s, b, ok = cutString(b); !ok {
		return r, fmt.Errorf("stored schema: truncated format")
	}
	r.Type = Type(s)
	if r.Text, b, ok = cutString(b); !ok {
		return r, fmt.Errorf("stored schema: truncated text")
	}
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)) {
		return r, fmt.Errorf("stored schema: bad dependency count")
	}
	b = b[w:]
	for range n {
		var d Dependency
		if d.Name, b, ok = cutString(b); !ok {
			return r, fmt.Errorf("stored schema: truncated dependency name")
		}
		if d.Text, b, ok = cutString(b); !ok {
			return r, fmt.Errorf("stored schema: truncated dependency text")
		}
		r.Dependencies = append(r.Dependencies, d)
	}
	if len(b) != 0 {
		return r, fmt.Errorf("stored schema: %d bytes after the end", len(b))
	}
	return r, nil
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func cutString(b []byte) (string, []byte, bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return "", nil, false
	}
	return string(b[w : w+int(n)]), b[w+int(n):], true
}
