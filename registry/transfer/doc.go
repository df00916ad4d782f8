// Package transfer carries the content of a registry from one place to
// another: the stream that an export writes and an import reads, and the other
// things that can be read as if they were such a stream: a dump of a _schemas
// topic, and a live registry that speaks Confluent's REST API.
//
// The stream is JSON Lines in UTF-8: one JSON object per line, and each says one
// thing that a registry holds, in the words of the _schemas topic. The order
// is the one in which a registry can take the lines one by one: a schema comes
// after those that it refers to.
//
//	{"export":{"format":"milena-registry","version":1,"ts":1700000000000}}
//	{"context":{"name":".ctx","maxId":7}}
//	{"schema":{"subject":"s","version":1,"id":1,"schemaType":"AVRO","schema":"\"int\"","deleted":false},"ts":1700000000000}
//	{"config":{"subject":"s","compatibilityLevel":"FULL"}}
//	{"mode":{"subject":":.ctx:","mode":"READONLY"}}
//	{"association":{"guid":"…","resourceName":"t",…},"ts":1700000000000}
//	{"kek":{"name":"k",…},"ts":1700000000000}
//	{"dek":{"kekName":"k",…},"ts":1700000000000}
//	{"end":{"lines":7}}
//
// The first line names format and version: a change of what lines mean takes
// the next number, and every earlier version must still be read. Times ("ts")
// are milliseconds since the epoch. A config or mode without a subject is the
// default context's; maxId is the highest id that a context ever gave out, so
// that ids of permanently deleted schemas are not given out again. The last
// line counts the lines between the first and itself, so that a stream that was
// cut off is told from a whole one.
//
// What it is not for: deciding what an import may change (package registry) and
// HTTP (registry/rest). Nothing here is shared between goroutines but a
// Remote's prefetching, which Lines starts and ends. A line is bounded by
// LineBytesMax, a remote answer by 64 MiB; a topic dump is folded,
// so reading one takes the memory of the registry that it describes.
package transfer
