// Package backend is what the gateway needs of a broker: topics, append, read,
// offsets and small versioned records for its coordinators. The gateway
// declares it and imports no broker; cmd plugs in the in-process broker or the
// gRPC client. Every implementation passes the contract suite in
// gateway/backend/backendtest.
//
// Stored batches travel as opaque bytes (layout: broker/stored) and schemas
// travel encoded (serde/schema.Resolved.AppendBinary), so this package imports
// nothing of ours.
package backend
