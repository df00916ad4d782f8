// Package client is a remote broker over gRPC (milena.broker.v1) with the
// methods and values of the one in process. Gateways use it with the lease
// (Options.Holder), subscribers in Go without.
//
// With the lease a client keeps one link: the session, whose stream holds the
// lease, and the publish stream in it. When either breaks, both are given up,
// every call under way fails with api.ErrUnavailable, whose outcome is unknown,
// and the next link begins only after the broker closed this one, which it says
// by granting the lease again. Nothing is ever sent twice of the client's own
// accord: producers do that, and the broker recognises them.
//
// Topics are answered from a copy that the broker keeps up to date; a topic
// that is not in it is asked for.
//
// Goroutines: one that keeps the link (session.go) with three of its own, and
// one that watches topics (topics.go); Close waits for all. Who sends on the
// publish stream holds the link's send lock.
package client
