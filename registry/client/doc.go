// Package client looks up schemas in a remote registry over HTTP: any that
// speaks Confluent's API. It is what a gateway uses that runs without a
// registry of its own, and satisfies schema.Lookup.
//
// An answer that there is no such schema (error code 40403, or 40401 and 40402
// for a reference) is schema.ErrUnknown. Everything else that is no schema is
// schema.ErrUnavailable: no connection, a 5xx, but also a 401, or a 404 without
// one of those codes, which is what a wrong path in the URL gives. A context
// other than the default one is asked for below /contexts/, so that a registry
// without contexts never answers with another context's schema.
//
// Reads are tried again after failures that may pass, on the next URL if there
// are several. Referenced versions are kept for a while, as many schemas share
// them. Ids are not: they may be freed and used again, and "unknown" must come
// from the registry, so keeping them, and asking once for many callers, is up
// to serde.Resolver, which has a time limit for it.
//
// Ownership: no goroutines but those of look-ups at work; the cache has a lock
// of its own.
//
// Limits (Options): attempts and time per attempt, bytes of an answer, number,
// depth and bytes of a schema's references, entries and bytes of the cache.
//
// What it is not for: changing anything in a registry.
package client
