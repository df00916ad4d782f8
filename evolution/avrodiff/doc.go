// Package avrodiff compares two Avro schemas: what keeps a reader with one
// from reading data written with the other.
//
// The rules are those of the reference's checker, not of the specification
// where the two differ: names match by their simple names, string and bytes
// are read as each other, a union branch is found by structure. It answers
// only whether data can be read and why not; it does not decode, does not
// check a schema for validity and knows no levels (package evolution).
//
// Compare has no state beyond its call and is safe for concurrent use.
package avrodiff
