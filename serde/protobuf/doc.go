// Package protobuf reads, prints, links and compares Protobuf schema texts.
//
// A Parser turns a schema text, or the base64 form of a FileDescriptorProto,
// with the texts it refers to into a *Schema: a tree (File), the canonical text
// as a Confluent-compatible registry stores it and, on demand, the normalized
// text, the text without extensions and two descriptors. It takes what the
// reference takes, which is much that protoc refuses: numbers and names are
// hardly checked, imports not at all, options may have any name. Types must
// resolve. Oddities that look like mistakes are kept and commented where they
// are.
//
// Link says, separately, whether protoc would take the schema: only then can
// records be decoded by it.
//
// The package is not a registry (no ids, no subjects), does not judge evolution
// (evolution/protodiff) and has no programs for records yet.
//
// Schemas are immutable and shared; the package has no goroutines. The
// normalized text and the links are made once, guarded by a sync.Once in the
// Schema; the trees of the built-in files are made once per process. Everything
// a peer controls is bounded: bytes of texts, nesting, number of types, steps
// spent on resolving names, bytes printed.
package protobuf
