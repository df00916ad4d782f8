package state

import (
	"crypto/sha256"
	"embed"

	"milena/registry/store"
)

//go:embed *.go
var sources embed.FS // never written

// Digest identifies how this program folds a log and writes snapshots: it is
// the digest of the source that does. A snapshot of another program, which may
// have known fewer kinds of records, is so told apart without anybody having to
// count up a version.
func Digest() [sha256.Size]byte {
	codec, fold := store.Digest(), store.SourceDigest(sources)
	return sha256.Sum256(append(codec[:], fold[:]...))
}
