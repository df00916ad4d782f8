//go:build !race

package local_test

// historyCount is the number of seeded histories of each crash test.
const historyCount = 1500
