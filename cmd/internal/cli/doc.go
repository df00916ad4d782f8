// Package cli is what the commands that people type have in common: output as
// text or JSON, tables, progress on long work, and errors that carry an exit
// code and what to do about them.
//
// Exit codes: 0, it is done; 1, it was answered and the answer is no (a refusal
// of the registry, an incompatible change, findings); 2, it could not be asked
// (flags, files, no registry).
//
// It knows no command and no part of the product. Nothing here is safe for
// concurrent use. A Table holds at most tableRowsMax rows to find out how wide
// its columns are and streams from then on.
package cli
