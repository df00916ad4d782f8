// Package rest serves a registry over HTTP: the wire conventions of Confluent
// Schema Registry 8.5 around package registry. One table (routes.go) lists
// every route; the router, both prefixes (/ and /contexts/{context}/), HEAD,
// OPTIONS, Allow, metric labels and the documentation of routes come from it.
// A handler decodes, calls one method of the registry and encodes.
//
// What surrounds a handler, from the outside in: the bound on requests at work
// and the check of the path (middleware.go, path.go), routing by echo on the
// escaped path, media types (negotiate.go), the body (decode.go), then the
// answer or the error (respond.go). Path values are unescaped once, here, and
// never by the router.
//
// Below /milena/v1 is what no other registry has: export and import as streams
// of JSON Lines (transfer.go, stream.go), search, dry runs, inspections, sets of
// descriptors, and the OpenAPI document (openapi.go), which is made of the table
// and of what openapi_routes.go says about each row. Streams have no time for
// the whole, only for each piece, and no bound but on a line; one import runs at
// a time.
//
// Ownership: a Server owns its http.Server, whose goroutines end with Shutdown.
// Its only mutable state is atomic: requests at work, bytes of bodies in memory,
// and whether an import is under way.
//
// Limits (Options): connections, requests at work, bytes of one body (per
// route), bytes of all bodies at work, bytes of headers, 8 KiB of request
// target, and a time for headers, for the whole request and for the work.
// Above a limit on load the answer is 503 with Retry-After; it is never a wait.
//
// What it is not for: the registry's rules and codes (registry), the form of
// bodies (registry/api), authentication, TLS.
package rest
