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

// SubjectsFrom yields the subjects whose written name is name or comes after it,
// in the order of names.
func (v *View) SubjectsFrom(name string) iter.Seq[*Subject] {
	return func(yield func(*Subject) bool) {
		for _, s := range v.subjects.from(text(name)) {
			if !yield(s) {
				return
			}
		}
	}
}
