package memory_test

import (
	"testing"

	"milena/broker/catalog"
	"milena/broker/catalog/catalogtest"
	"milena/broker/catalog/memory"
)

func TestContract(t *testing.T) {
	catalogtest.Run(t, func(*testing.T) catalogtest.Fixture {
		s := &memory.Store{}
		return catalogtest.Fixture{Open: func(*testing.T) catalog.Store { return s }}
	})
}
