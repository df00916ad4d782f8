// Package locate finds the places that paths of changes point at in the texts
// of schemas: line, column and what stands there, in the schema that a path was
// made for and, by names instead of positions, in the one it was compared with.
//
// It judges nothing and accepts any text: where a text can't be read, or a path
// leads out of it (into a schema that it refers to), the deepest place that can
// be found is returned and is marked as not exact. It has no state; a Doc is
// immutable and safe for concurrent use. Nesting beyond depthMax is not read.
package locate
