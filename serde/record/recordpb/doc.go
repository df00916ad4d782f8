// Package recordpb is the generated Go code of milena.record.v1, for readers of
// RecordValue. The transcoders don't use it: they write and read the wire bytes
// themselves. It is not edited; the source is
// serde/record/proto/milena/record/v1/record.proto.
package recordpb

//go:generate protoc -I ../proto --go_out=../../.. --go_opt=module=milena milena/record/v1/record.proto
