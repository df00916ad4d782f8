// Package sqlite keeps checkpoints in an SQLite file, in WAL mode with
// synchronous=FULL. Only changed rows are written.
//
// SQLite tells a torn file from a whole one, but not a flipped bit in a row, so
// every row has a hash and the checkpoint their sum and number: Load reports
// catalog.ErrDamaged for any of both. A damaged file is set aside under the
// name with ".damaged" by the next full Save, which begins a new one.
//
// One lock, held for the whole of each call, guards a Store, so the callback of
// Load must not call it. The package starts no goroutines of its own.
package sqlite
