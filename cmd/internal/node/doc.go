// Package node builds the parts of a `milena serve` process from its settings,
// in order: data directory, broker, registry, gateway, admin port. Each role
// has a file. It holds no state but the list of what to stop; what parts do is
// theirs.
package node
