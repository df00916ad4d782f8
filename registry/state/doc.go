// Package state is what a registry's log means: an immutable View, and the pure
// function View.Apply that folds one more record into it. There is no clock and
// no IO, so replaying a log gives the state that wrote it.
//
// A View is a handful of persistent search trees. Applying a record copies the
// path to what changed and shares the rest with the view before it, so that
// publishing a view costs the change and not the registry, and readers keep
// whatever view they took without locks. Everything reachable from a View is
// read-only.
//
// The indexes: subjects with their versions (in the reference's order of
// names), per context the users of each id, the id of each content and the
// highest id ever seen, contexts by GUID, referrers of each version, configs
// and modes, associations by resource and by subject, and keys. The package
// decides nothing; what a request may do is the business of package registry.
package state
