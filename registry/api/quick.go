package api

import (
	"bytes"
	"encoding/json"
)

// quickRegister reads the body that nearly every client sends: one object with
// "schema" and maybe "schemaType", each once and a text. It reports false for
// every other body, which says nothing about whether that is good.
func quickRegister(body []byte) (r RegisterRequest, ok bool) {
	rest, ok := bytes.CutPrefix(space(body), []byte("{"))
	if !ok {
		return r, false
	}
	for {
		var key, value []byte
		if key, rest, ok = quoted(space(rest)); !ok {
			return r, false
		}
		if rest, ok = bytes.CutPrefix(space(rest), []byte(":")); !ok {
			return r, false
		}
		if value, rest, ok = quoted(space(rest)); !ok {
			return r, false
		}
		var field **string
		switch string(key) {
		case `"schema"`:
			field = &r.Schema
		case `"schemaType"`:
			field = &r.SchemaType
		}
		if field == nil || *field != nil || json.Unmarshal(value, field) != nil {
			return r, false
		}
		if rest = space(rest); len(rest) == 0 {
			return r, false
		}
		switch rest[0] {
		case ',':
			rest = rest[1:]
		case '}':
			return r, len(space(rest[1:])) == 0
		default:
			return r, false
		}
	}
}

// space skips white space.
func space(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// quoted splits off a string with its quotes.
func quoted(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[:i+1], b[i+1:], true
		}
	}
	return nil, nil, false
}
