package node

import "context"

func (n *Node) startRegistry(ctx context.Context) error { return n.openRegistry(ctx) }
func (n *Node) connectRegistry() error                  { return nil }
