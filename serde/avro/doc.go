// Package avro reads, prints and runs Avro schemas.
//
// A Parser turns a schema text with the texts it refers to into a *Schema: a
// typed graph (Type), the canonical text as a Confluent-compatible registry
// stores it, and, on demand, the normalized and the inlined text. It accepts
// and refuses what the reference (Apache Avro's Java library as the registry
// uses it) accepts and refuses; oddities of the reference that look like
// mistakes are kept and commented where they are. A Schema compiles into a
// Program, which turns payloads into stored values and back.
//
// It is not a registry (no ids, no subjects), does not judge evolution
// (evolution/avrodiff) and reads no container files.
//
// Schemas and programs are immutable and shared; the package has no goroutines
// and no package state. The normalized text is made once, guarded by a
// sync.Once in the Schema. Everything a peer controls is bounded: bytes, values
// and nesting of the JSON text, nesting of types, number and length of names,
// steps spent on defaults.
package avro
