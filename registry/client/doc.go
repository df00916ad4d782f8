// Package client talks to a remote registry over HTTP: any that speaks
// Confluent's API. It has a method for every route of that API, takes and
// returns the types of registry/api, and gives refusals back as the rows of
// registry/errcode: errors.Is(err, errcode.SubjectNotFound). It also satisfies
// schema.Lookup, which is how a gateway that runs without a registry of its own
// uses it.
//
// Errors. A refusal wraps an *errcode.Error. What is no answer of a registry
// wraps schema.ErrUnavailable: no connection, an answer that can't be read, an
// answer that is still 408, 429 or 5xx after all attempts (which wraps both),
// and a context that ended. Look-ups (ByID, ByGUID) know only schema.ErrUnknown,
// an answer with 40403 (or 40401 and 40402 for a reference), and
// schema.ErrUnavailable for everything else, a 401 or a 404 of a wrong path
// included. A context other than the default one is asked for below /contexts/,
// so that a registry without contexts never answers with another one's schema.
//
// Repetition. What fails in a way that may pass is tried again, on the next URL
// if there are several, with full jitter and never before the Retry-After that
// an answer names. Requests whose repetition may be refused because the first
// one did its work (deletions, creations of keys and associations, changes of
// tags) are repeated only if the first one was not sent or was refused with 429
// or 503.
//
// Caches. Each has a limit in entries and in bytes, a time to live, and asks
// once for all who miss the same thing at the same time:
//
//	references  versions behind references of look-ups        CacheTTL
//	ids         schemas by id and GUID                         IDsTTL, for ever by default
//	versions    versions by number                             CacheTTL
//	latest      latest versions, versions by metadata          LatestTTL
//	subjects    ids and versions by subject and content        SubjectsTTL
//
// Answers that something is not there are kept for UnknownTTL in all but
// references. Look-ups by id ask the registry every time: ids may be freed and
// used again, "unknown" must come from the registry, and serde.Resolver keeps
// what they return with a time limit of its own. Lists, config and modes are
// never kept. A change made through a Client is visible to its next read: it
// empties what the change may have outdated. What a cache returned is shared by
// all who ask, so callers must not write through its pointers, slices and maps.
//
// Ownership: no goroutines but those of questions at work; each cache has a lock
// of its own, and health.mu guards what Health reports. No lock is held while
// another is taken.
//
// Limits (Options): attempts and time per attempt, bytes of an answer, number,
// depth and bytes of a schema's references, entries and bytes of each cache.
// Export and Import stream and hold one line at a time.
package client
