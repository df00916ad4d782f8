// Package kapi answers Kafka requests. table.go lists every API once: key,
// versions, handler, needs. Everything else is derived from it: the
// ApiVersions reply, dispatch, the version check, memory estimates and metric
// labels. One numbered file per API holds its handler; NOT_SERVED.md says what
// is left out and why.
//
// Not here: sockets, frames and the order of answers (package gateway), record
// batches (gateway/batch), envelopes (gateway/envelope), group logic
// (gateway/group, gateway/coordinator), storage (gateway/backend).
//
// A handler decodes nothing and stores nothing: it gets a decoded message,
// calls the domain and fills the response of the same version. A Server starts no
// goroutine; handlers run concurrently. Its only mutable state are fetch sessions,
// which fetch_session.go bounds and guards with one lock.
//
// What once broke other servers, and must not here:
//   - a second list of versions beside the table drifts from it;
//   - null and empty differ by version (Metadata topics, CreateTopics configs);
//   - responses carry the version of their request, so they are made with
//     ResponseKind, and nested structs with their New functions, because zero
//     literals have wrong defaults (leader epoch 0 instead of -1);
//   - error codes come from kerr, never from a typed number.
package kapi
