// Package catalog is the seam between the broker and its checkpoints. A
// checkpoint is the broker's state up to a position of the journal, as rows of
// bytes in named sections, so that a start replays only what came after it, and
// so that the journal may be trimmed behind it. What is in the rows is the
// broker's business.
//
// A checkpoint is never needed for an answer: it isn't on the produce, commit
// or fetch path, and one that is missing or damaged (Load says which) costs a
// longer replay as long as the journal still begins at its start.
//
// Implementations: catalog/sqlite (files) and catalog/memory (--dev, tests).
// Both pass catalog/catalogtest.
package catalog
