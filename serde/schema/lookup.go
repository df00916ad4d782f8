package schema

import (
	"context"
	"errors"
)

// ErrUnknown says that the registry answered and has no such schema. An id is
// asked for past every cache before it counts as unknown.
var ErrUnknown = errors.New("unknown schema")

// ErrUnavailable says that the registry could not be asked (no connection, time
// out, 5xx). It is always retriable and never means that the schema is unknown.
var ErrUnavailable = errors.New("schema registry unavailable")

// DefaultContext is the name of the registry's default context.
const DefaultContext = "."

// Lookup finds schemas by what an envelope carries. The in-process registry and
// the HTTP client both satisfy it; it is all that the gateway and the
// deserializers know of a registry. Methods may be called concurrently.
// Errors wrap ErrUnknown or ErrUnavailable.
type Lookup interface {
	// ByID returns the schema with the id in one context (never in others),
	// with its references resolved.
	ByID(ctx context.Context, registryContext string, id int32) (Resolved, error)
	// ByGUID returns the schema with the GUID, in the usual text form of 36
	// characters, with its references resolved.
	ByGUID(ctx context.Context, guid string) (Resolved, error)
}
