// Package evolution decides whether a schema may follow others: the seven
// compatibility levels over the comparisons of evolution/avrodiff and its
// siblings.
//
// It takes parsed schemas and returns a verdict with findings; it parses
// nothing, knows no subjects or configuration, and which versions are compared
// (groups, deleted versions) is the caller's choice.
//
// Findings are the reference's, word for word; Explain turns them into what
// people need to mend a schema: a stable rule id, the place in both texts, why
// it breaks readers, and a change that would pass, from the tables of rules.
//
// A Checker is immutable and safe for concurrent use. Its limits bound each
// comparison of two schemas; a comparison that breaks them counts as
// incompatible, with a finding that says so.
package evolution
