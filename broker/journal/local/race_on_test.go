//go:build race

package local_test

// historyCount is smaller where every step costs ten times as much.
const historyCount = 200
