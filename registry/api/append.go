package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The answers that carry a schema's text, which is nearly all traffic, are
// written here: encoding/json takes as long for one as everything else that
// the server does for the request.

// writer writes the members of one object.
type writer struct {
	buf []byte
	err error
}

func (w *writer) name(name string) {
	if n := len(w.buf); n > 0 && w.buf[n-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

func (w *writer) text(name, s string) {
	w.name(name)
	w.buf = appendString(w.buf, s)
}

func (w *writer) textUnlessEmpty(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *writer) number(name string, n int64) {
	w.name(name)
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

// any writes what is rare with the encoder that everything else uses.
func (w *writer) any(name string, v any) {
	b, err := marshal(v)
	if err != nil {
		w.err = err
		return
	}
	w.name(name)
	w.buf = append(w.buf, b...)
}

// common is what the three bodies with a text have in common, in their order.
type common struct {
	guid, schemaType string
	references       []Reference
	metadata         *Metadata
	ruleSet          *RuleSet
}

func (w *writer) content(c common) {
	w.textUnlessEmpty("guid", c.guid)
	w.textUnlessEmpty("schemaType", c.schemaType)
	if len(c.references) > 0 {
		w.any("references", c.references)
	}
	if c.metadata != nil {
		w.any("metadata", c.metadata)
	}
	if c.ruleSet != nil {
		w.any("ruleSet", c.ruleSet)
	}
}

func (w *writer) stamps(ts *int64, deleted *bool) {
	if ts != nil {
		w.number("ts", *ts)
	}
	if deleted != nil {
		w.name("deleted")
		w.buf = strconv.AppendBool(w.buf, *deleted)
	}
}

func (s *Schema) appendTo(w *writer) {
	w.buf = append(w.buf, '{')
	w.textUnlessEmpty("subject", s.Subject)
	w.number("version", int64(s.Version))
	w.number("id", int64(s.ID))
	w.content(common{s.GUID, s.SchemaType, s.References, s.Metadata, s.RuleSet})
	w.text("schema", s.Schema)
	if len(s.SchemaTags) > 0 {
		w.any("schemaTags", s.SchemaTags)
	}
	w.stamps(s.Timestamp, s.Deleted)
	if len(s.Aliases) > 0 {
		w.any("aliases", s.Aliases)
	}
	if len(s.Associations) > 0 {
		w.any("associations", s.Associations)
	}
	w.buf = append(w.buf, '}')
}

func (s *SchemaString) appendTo(w *writer) {
	w.buf = append(w.buf, '{')
	w.textUnlessEmpty("subject", s.Subject)
	if s.Version != 0 {
		w.number("version", int64(s.Version))
	}
	if s.ID != nil {
		w.number("id", int64(*s.ID))
	}
	w.content(common{s.GUID, s.SchemaType, s.References, s.Metadata, s.RuleSet})
	w.text("schema", s.Schema)
	if len(s.SchemaTags) > 0 {
		w.any("schemaTags", s.SchemaTags)
	}
	if s.MaxID != nil {
		w.number("maxId", int64(*s.MaxID))
	}
	w.stamps(s.Timestamp, s.Deleted)
	w.buf = append(w.buf, '}')
}

func (r *RegisterResponse) appendTo(w *writer) {
	w.buf = append(w.buf, '{')
	w.number("id", int64(r.ID))
	if r.Version != 0 {
		w.number("version", int64(r.Version))
	}
	w.content(common{r.GUID, r.SchemaType, r.References, r.Metadata, r.RuleSet})
	w.textUnlessEmpty("schema", r.Schema)
	w.stamps(r.Timestamp, r.Deleted)
	w.buf = append(w.buf, '}')
}

// appendKnown writes the bodies that this file knows and returns nil for all
// others.
func appendKnown(v any) ([]byte, error) {
	w := &writer{}
	switch v := v.(type) {
	case Schema:
		w.buf = make([]byte, 0, len(v.Schema)+len(v.Schema)/4+256)
		v.appendTo(w)
	case SchemaString:
		w.buf = make([]byte, 0, len(v.Schema)+len(v.Schema)/4+256)
		v.appendTo(w)
	case RegisterResponse:
		w.buf = make([]byte, 0, len(v.Schema)+len(v.Schema)/4+256)
		v.appendTo(w)
	default:
		return nil, nil
	}
	return w.buf, w.err
}

// AppendName appends a subject as an element of a list.
func AppendName(b []byte, name string) []byte { return appendString(b, name) }

// AppendSchema appends what Marshal writes for a schema.
func AppendSchema(b []byte, s *Schema) ([]byte, error) {
	w := &writer{buf: b}
	s.appendTo(w)
	return w.buf, w.err
}

// appendString appends s in quotes, as Marshal writes it.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\b':
				b = append(b, '\\', 'b')
			case '\f':
				b = append(b, '\\', 'f')
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		case r >= 0x10000:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(append(b, s[start:i]...), `\u%04X\u%04X`, hi, lo)
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

// marshal is Marshal for everything without a form of its own.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return reescape(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}
