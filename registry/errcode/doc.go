// Package errcode is the one table of the error codes that the registry's REST
// API answers with, and the one Error type that carries them. The server
// prints an Error, the client parses the answer back to the same row, so
// errors.Is(err, errcode.SubjectNotFound) works on both sides and in process.
//
// It imports nothing of ours, writes no HTTP and decides nothing: which
// situation gives which code is the business of package registry. Rows and
// errors are immutable and safe for concurrent use.
package errcode
