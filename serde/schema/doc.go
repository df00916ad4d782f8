// Package schema is the neutral model of a schema that every other part of
// Milena shares: the text with its references (Source), the same with every
// reference resolved (Resolved), the content key made of it (Key), what a
// format's parser returns (Parsed) and the seam through which the gateway and
// the serializers reach a registry (Lookup).
//
// It imports nothing of ours and knows no format: parsers and programs live in
// serde/avro, serde/jsonschema and serde/protobuf, and the table of formats in
// serde/format. Values of this package are immutable once built.
package schema
