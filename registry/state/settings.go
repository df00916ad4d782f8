package state

import (
	"iter"

	"milena/registry/store"
)

// Configs yields every name with a config of its own, in the order of names;
// the empty name of the default context comes first.
func (v *View) Configs() iter.Seq2[Name, *store.Config] {
	return func(yield func(Name, *store.Config) bool) {
		for name, c := range v.configs.all() {
			if !yield(ParseName(string(name)), c) {
				return
			}
		}
	}
}

// Modes yields every name with a mode of its own, in the order of Configs.
func (v *View) Modes() iter.Seq2[Name, *store.Mode] {
	return func(yield func(Name, *store.Mode) bool) {
		for name, m := range v.modes.all() {
			if !yield(ParseName(string(name)), m) {
				return
			}
		}
	}
}
