package evolution

import "strings"

// Level is a compatibility level.
type Level uint8

// The seven levels. The zero value is no level and checks as BACKWARD, the
// registry's default.
const (
	None Level = iota + 1
	Backward
	BackwardTransitive
	Forward
	ForwardTransitive
	Full
	FullTransitive
)

// levels is the table of levels: which comparisons each asks for. A comparison
// of the other direction is the same one with its arguments exchanged.
var levels = [...]struct {
	name string
	back bool // the new schema reads data of the old one
	fore bool // the old schema reads data of the new one
	all  bool // every version counts, not only the newest
}{
	None:               {"NONE", false, false, false},
	Backward:           {"BACKWARD", true, false, false},
	BackwardTransitive: {"BACKWARD_TRANSITIVE", true, false, true},
	Forward:            {"FORWARD", false, true, false},
	ForwardTransitive:  {"FORWARD_TRANSITIVE", false, true, true},
	Full:               {"FULL", true, true, false},
	FullTransitive:     {"FULL_TRANSITIVE", true, true, true},
}

// ParseLevel returns the level of a name, in any case, and whether there is
// one.
func ParseLevel(name string) (Level, bool) {
	for l := None; l <= FullTransitive; l++ {
		if strings.EqualFold(levels[l].name, name) {
			return l, true
		}
	}
	return 0, false
}

// String returns the name as configurations spell it.
func (l Level) String() string { return levels[l.valid()].name }

// Transitive reports whether every version counts, not only the newest.
func (l Level) Transitive() bool { return levels[l.valid()].all }

func (l Level) valid() Level {
	if l < None || l > FullTransitive {
		return Backward
	}
	return l
}

// Policy says how strictly changes are judged. It matters for JSON Schema only.
type Policy uint8

// The policies. The zero value is the registry's default.
const (
	// Strict lets no data through that a reader can't read.
	Strict Policy = iota
	// Lenient lets open objects gain optional properties and closed ones lose
	// them, as if nobody used names that no schema has.
	Lenient
)

// ParsePolicy returns the policy of a name, in any case, and whether there is
// one. LOGICAL judges as STRICT.
func ParsePolicy(name string) (Policy, bool) {
	switch strings.ToUpper(name) {
	case "", "STRICT", "LOGICAL":
		return Strict, true
	case "LENIENT":
		return Lenient, true
	}
	return Strict, false
}
