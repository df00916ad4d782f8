package memory_test

import (
	"testing"

	"milena/registry/store"
	"milena/registry/store/memory"
	"milena/registry/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, storetest.Store{
		Open: func(*testing.T) store.Log { return memory.New() },
	})
}
