package findings

import "testing"

// TestHeadline: the name stands before the path, and the root's path says
// nothing.
func TestHeadline(t *testing.T) {
	for want, f := range map[string]Finding{
		"r/A a":  {Rule: "r/A", Path: "#/M/1", Name: "a"},
		"r/A /1": {Rule: "r/A", Path: "/1"},
		"r/A":    {Rule: "r/A", Path: "#/"},
		"r/B":    {Rule: "r/B", Path: "/"},
		"r/C":    {Rule: "r/C"},
	} {
		if got := f.headline(); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}
