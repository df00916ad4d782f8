// Package jsondiff compares two JSON Schemas: every change between the schema
// that data was written with and the one that it is read with, and through its
// table of rules which of them keep readers from reading.
//
// The rules are those of the reference's checker. It compares trees of kinds
// (serde/jsonschema.Node), not keywords, and only some keywords: formats,
// conditions and the contents of patterns are never looked at. An open object
// may lose properties but not gain any, a closed one the reverse. It answers
// what changed and whether data can be read; it validates nothing, knows no
// levels (package evolution), and reads no texts.
//
// Compare has no state beyond its call and is safe for concurrent use. Steps,
// depth and kept changes are bounded by diff.Limits.
package jsondiff
