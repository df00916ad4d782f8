// Package record holds what a stored key or value is made of once it has been
// decoded: the packed values that travel from gateway to journal, the columns
// (Type) that give them names, and the mapping from Avro to both. The mapping
// is frozen per MappingVersion; this page is version 1. A stored record carries
// the version that it was written by, and every version stays readable.
//
// It is not a codec: serde/avro, serde/jsonschema and serde/protobuf turn
// payloads into packed values and back. It holds no state and no goroutines;
// everything in it may be used concurrently. A Reader is bounded by the bytes
// that it is given and follows no nesting of its own accord.
//
// # Two forms
//
// The map form is the wire form of a milena.record.v1.RecordValue (package
// recordpb, proto folder): names beside values, for subscribers that have no
// schema. The packed form is the same values in schema order, without names:
// what is stored. It is a sequence of packed values; the names come from the
// schema stored with the batch, through Type.
//
// A packed value is a tag byte, which is the protobuf tag of the field of
// milena.record.v1.Value that the value is, and the field's content in its wire
// form with minimal varints and without default values inside messages. A value
// so begins with the same bytes as in the map form, except
//
//   - null, which is one zero byte (TagNull; a Value with nothing set),
//   - and everything nested, which is TagList, a length and packed values.
//
// A record at the top of the schema is the sequence of its fields' values,
// without tag and length. A schema with any other type at the top is one value;
// in the map form it is the field "value" (BareField) of a RecordValue.
//
// # The form of each Avro type
//
//	null                  no kind set; packed: TagNull
//	boolean               bool_value
//	int                   int32_value
//	long                  int64_value
//	float, double         float_value, double_value, all bits kept (NaN payloads, -0)
//	bytes                 bytes_value
//	string                string_value; a payload whose string isn't UTF-8 is refused
//	fixed                 bytes_value of the fixed size
//	enum                  string_value, the symbol
//	array                 list_value; packed: TagList of the items
//	map                   record_value, entries in the payload's order; packed: TagList of key
//	                      (string) and value by turns. A key that occurs twice is kept twice:
//	                      protobuf readers of the map form see the last one
//	record, error         record_value, fields in schema order, null fields present as a Value
//	                      with nothing set; packed: TagList of the fields' values
//	union of T and null,  null or the form of T, whichever branch comes first
//	or of T alone
//	union with more       null, or a record_value with one field: its name is the branch's, that is
//	non-null branches     the full name of a named type and else the Avro type's name ("long", also
//	                      for a logical type), its value the branch's form; packed: TagList of
//	                      int32_value (position of the branch in the union) and the value
//	recursive types       as they are, nested as deep as the payload
//	bytes at the top      bytes_value of the whole payload: Confluent's Java, Python and JavaScript
//	                      serializers write it bare, without a length, and the payload of a Go
//	                      producer, which has one, is kept with it
//	null at the top       an empty payload; packed: TagNull
//
// Logical types; one that the specification does not allow where it stands is
// no logical type:
//
//	decimal               decimal_value; value as long as written, precision and scale from
//	                      the schema. An empty value is zero
//	big-decimal           decimal_value with precision 0 and the scale from the payload; bytes_value
//	                      of the content where that is not one unscaled value and one scale, each
//	                      with minimal varints
//	uuid                  as its base type: string_value or bytes_value
//	date                  date_value
//	time-millis           time_value, times 1000
//	time-micros           time_value
//	timestamp-millis      timestamp_value, times 1000, is_utc; int64_value of the milliseconds where
//	                      that overflows 64 bits
//	timestamp-micros      timestamp_value, is_utc
//	local-timestamp-millis, -micros
//	                      as the two above, is_utc not set
//	timestamp-nanos, local-timestamp-nanos
//	                      int64_value of the nanoseconds: microseconds would lose digits
//	duration              bytes_value, twelve bytes as in the payload: months, days and milliseconds,
//	                      each four bytes little-endian
//
// Times of day outside 0 to 24 h, dates and decimals beyond the precision are
// kept as they are: readers judge, the store does not.
//
// # How a payload comes back
//
// Every valid Avro value can be rebuilt from its packed form, order of map
// entries and repeated keys included. What the packed form does not hold is how
// the encoder wrote blocks and varints; Style says that in one byte, and where
// no known encoder wrote the payload, the payload is stored beside the packed
// form (StyleOriginal).
package record
