// Package api holds the request and response bodies of the registry's REST
// API, shared by the server, the client and the registry itself: Go types with
// the reference's JSON, and the reading and writing of that JSON.
//
// Reading is lenient the way the reference is (scalars are converted, unknown
// properties ignored, keys case sensitive, the last of repeated keys counts);
// writing leaves out what has no value. The package knows no HTTP, no error
// codes and no rules about what a request may say. Its types are plain data
// without locks or goroutines; depth and size of what is read are bounded by
// the caller's limit on the body.
package api
