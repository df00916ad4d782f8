// Package format is the table of schema formats: for each its parser and the
// compiler of its programs. Whoever holds a schema and doesn't want to know its
// format asks here.
//
// It is not a cache (package serde) and has no format of its own. It has no
// state; everything may be called concurrently. Limits are those of the formats.
package format
