//go:build race

package envelope

// raceEnabled: pools drop things at random under the race detector, so
// allocations can't be counted.
const raceEnabled = true
