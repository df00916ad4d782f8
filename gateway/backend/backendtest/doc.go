// Package backendtest is the contract suite of gateway/backend.Broker: what
// every implementation, in process, remote or in memory, must do. It imports
// the testing package and is for tests only.
//
// It tests the contract by its comments: outcomes, order, sizes, waiting,
// sequences and errors. What needs a restart runs where the fixture has one.
package backendtest
