package jsonschema

import "strings"

// Draft is a version of the JSON Schema specification.
type Draft uint8

// The drafts that are told apart. 2019-09 is read with the meaning of 2020-12,
// as the reference does; the two differ only for validation.
const (
	Draft4 Draft = iota + 1
	Draft6
	Draft7
	Draft2019
	Draft2020
)

// drafts lists the drafts by the end of their meta schema's address.
func drafts() map[string]Draft {
	return map[string]Draft{
		"draft-04/schema":      Draft4,
		"schema":               Draft4,
		"draft-06/schema":      Draft6,
		"draft-07/schema":      Draft7,
		"draft/2019-09/schema": Draft2019,
		"draft/2020-12/schema": Draft2020,
	}
}

// draftOf returns the draft with the meta schema at the address, with http or
// https and with or without an empty fragment, or 0 if there is none.
func draftOf(address string) Draft {
	address = strings.TrimSuffix(address, "#")
	rest, ok := strings.CutPrefix(address, "http://json-schema.org/")
	if !ok {
		if rest, ok = strings.CutPrefix(address, "https://json-schema.org/"); !ok {
			return 0
		}
	}
	return drafts()[rest]
}

// modern reports whether the draft is read by the rules of 2020-12.
func (d Draft) modern() bool { return d >= Draft2019 }

// idKey is the keyword that names a schema.
func (d Draft) idKey() string {
	if d == Draft4 {
		return "id"
	}
	return "$id"
}

// String returns the draft's name.
func (d Draft) String() string {
	switch d {
	case Draft4:
		return "draft-04"
	case Draft6:
		return "draft-06"
	case Draft7:
		return "draft-07"
	case Draft2019:
		return "2019-09"
	case Draft2020:
		return "2020-12"
	}
	return "unknown"
}
