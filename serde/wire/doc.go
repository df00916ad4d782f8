// Package wire takes Confluent's envelopes apart and puts them together again:
// the five-byte prefix before a payload, the schema id or GUID in a record
// header, and the message indexes of Protobuf.
//
// It knows bytes only. It asks no registry, knows no format and copies nothing:
// what Split returns points into what it was given. Whether an id exists, and
// whether a payload that merely begins with a zero byte is an envelope at all,
// is for the caller to find out (a plain big-endian number begins with zeros
// too).
//
// There is no state, so every function may be called concurrently, and none
// allocates except Append functions whose destination is too small. Message
// indexes are bounded by IndexesMax.
//
// Reading order, as in Confluent's default (dual) deserializer: the last header
// of the side's name counts; if it is present and its value is not null, it
// names the schema and the whole payload is data; else the prefix does.
package wire
