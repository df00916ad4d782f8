// Package kms wraps and unwraps data encryption keys through key management
// services, for the key encryption keys that users share with the registry, and
// makes new ones in the form in which Confluent's clients keep them.
//
// A Service is one kind of key management service. Only Local is here, which
// needs no service and derives its key from a secret: it is meant for tests and
// for trying encryption out. Others can be plugged in; the registry never sees
// more of them than the interface.
//
// It is not for encrypting data: serializers do that, with keys that the
// registry sees only if they are shared with it.
//
// The package has no goroutines and no state. Wrapped keys come from clients,
// so their length is bounded (WrappedBytesMax).
package kms
