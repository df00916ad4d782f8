// Package protodiff compares two Protobuf schemas: every change between what
// was written with one and what reads with the other, by the rules of the
// reference's checker.
//
// Messages and enums are matched by name, fields by number. Options, reserved
// numbers, services, groups and extends are not compared. It answers only what
// changed; the table of rules says what of it breaks readers, and package
// evolution asks in which direction.
//
// Compare has no state beyond its call and is safe for concurrent use. Steps,
// depth and the number of changes are bounded by diff.Limits.
package protodiff
