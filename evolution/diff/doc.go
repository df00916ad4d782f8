// Package diff is what the comparisons of all schema formats share: changes
// and the table of rules that judges them, and the state of one comparison
// (place, steps, cancellation, pairs already compared).
//
// It knows no format and no compatibility level: a walker of evolution/avrodiff
// and its siblings emits every change with a kind and a path, the rule of the
// kind says whether readers break, and package evolution asks in which
// direction. Directions are exchanged arguments, never other rules.
//
// A Context belongs to one comparison and one goroutine. Tables and changes
// are immutable and shared. Steps, depth and the number of kept changes are
// bounded (Limits), so that no pair of schemas takes longer than about a
// second.
package diff
