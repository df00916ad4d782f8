// Package serde finds the compiled program for what an envelope carries.
//
// Programs holds compiled schemas by content key, so that a schema which several
// registries, contexts or ids name is compiled once. Resolver belongs to one
// registry and maps (context, id) and GUIDs to content, for a limited time only,
// since ids may be freed and used again.
//
// It is not a registry and not a client of one (schema.Lookup is the seam), knows
// no format (serde/format), and neither splits envelopes (serde/wire) nor stores
// anything.
//
// Both types are safe for concurrent use. Each guards its cache with one mutex
// that is never held while a schema is compiled or a registry asked; loads of one
// thing at the same time become one. A load runs in the goroutine that
// singleflight starts for it, which ends at the latest with the look-up timeout.
//
// Limits: entries and bytes of schema text that Programs keeps, ids that Resolver
// keeps, the time a look-up may take.
package serde
