// Package fs is the file system under the broker's journal, as a seam: OS is
// the real one; Memory is one for tests that knows what was synced, makes
// clones as after a crash, and injects faults.
//
// It offers only what a log in numbered files needs, and is not a general file
// system: io/fs is for that. Names are paths as the os package takes them.
//
// Both implementations are safe for concurrent use. OS has no state; Memory is
// guarded by one lock.
package fs
