// Package check reads schema files of a folder or of a git revision, tells their
// subjects, finds what they refer to, and compares each with older versions:
// of git, of other files, or of a History that the caller has. It is the engine
// of milena check and milena lint; the verdicts are those of package evolution,
// the forms of the report those of cmd/internal/findings.
//
// Of git it needs the command git, which it runs at most three times for a
// revision, however many files there are. Files are held in memory: at most
// filesMax files of fileBytesMax bytes each, treeBytesMax bytes in all. Subjects
// are checked by at most workers goroutines, which Run waits for; each fills a
// slot of its own.
package check
