package node

import (
	"net"

	"milena/gateway/backend"
	"milena/registry"
)

// bind notes where a part listens; the first of several counts.
func (n *Node) bind(part string, a net.Addr) {
	if _, ok := n.bound[part]; !ok {
		n.bound[part] = reachable(a)
	}
}

// Addr returns HOST:PORT of the first listener of a part: "registry", "kafka",
// "broker" or "admin". It is "" if the part doesn't run here.
func (n *Node) Addr(part string) string { return n.bound[part] }

// Registry returns the registry of this process, nil without the role.
func (n *Node) Registry() *registry.Registry { return n.registry }

// Backend returns the broker as the gateway sees it, nil if neither runs here.
func (n *Node) Backend() backend.Broker { return n.backend }
