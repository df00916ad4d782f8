package store

import (
	"crypto/sha256"
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.go
var sources embed.FS // never written

// Digest identifies how this program reads entries: it is the digest of the
// package's source. What was derived from a log by another program, whose
// reading may have been another one, has another digest.
func Digest() [sha256.Size]byte { return SourceDigest(sources) }

// SourceDigest returns the digest of the Go files of a package but its tests.
func SourceDigest(files embed.FS) (digest [sha256.Size]byte) {
	h := sha256.New()
	names, _ := fs.Glob(files, "*.go") // fails for bad patterns only
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, _ := files.ReadFile(name) // it was listed
		h.Write([]byte(name))
		h.Write(text)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
