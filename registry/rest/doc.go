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
// Ownership: a Server owns its http.Server, whose goroutines end with Shutdown.
// Its only mutable state are two counters, both atomic: requests at work and
// bytes of bodies in memory.
//
// Limits (Options): connections, requests at work, bytes of one body (per
// route), bytes of all bodies at work, bytes of headers, 8 KiB of request
// target, and a time for headers, for the whole request and for the work.
// Above a limit on load the answer is 503 with Retry-After; it is never a wait.
//
// What it is not for: the registry's rules and codes (registry), the form of
// bodies (registry/api), authentication, TLS.
package rest
