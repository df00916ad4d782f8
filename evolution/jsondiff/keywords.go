package jsondiff

import (
	"math"

	"milena/serde/jsonschema"
)

// bound compares two limits; nil is none.
func (w *walker) bound(r *result, b bound, original, update *float64) {
	switch {
	case original == nil && update == nil:
	case original == nil:
		w.emit(r, b.kind(boundAdded), b.keyword)
	case update == nil:
		w.emit(r, b.kind(boundRemoved), b.keyword)
	case *update > *original:
		w.emit(r, b.kind(boundIncreased), b.keyword)
	case *update < *original:
		w.emit(r, b.kind(boundDecreased), b.keyword)
	}
}

func (w *walker) strings(r *result, original, update *jsonschema.StringRules) {
	w.bound(r, maxLength(), original.MaxLength, update.MaxLength)
	w.bound(r, minLength(), original.MinLength, update.MinLength)
	o, u := original.Pattern, update.Pattern
	switch {
	case o == nil && u == nil:
	case o == nil:
		w.emit(r, PatternAdded, "pattern")
	case u == nil:
		w.emit(r, PatternRemoved, "pattern")
	case *o != *u:
		w.emit(r, PatternChanged, "pattern")
	}
}

func (w *walker) numbers(r *result, original, update *jsonschema.NumberRules) {
	w.bound(r, maximum(), original.Maximum, update.Maximum)
	w.bound(r, minimum(), original.Minimum, update.Minimum)
	w.exclusiveMaximum(r, original, update)
	w.bound(r, exclusiveMinimum(), original.ExclusiveMinimum, update.ExclusiveMinimum)
	o, u := original.MultipleOf, update.MultipleOf
	switch {
	case o == nil && u == nil:
	case o == nil:
		w.emit(r, MultipleOfAdded, "multipleOf")
	case u == nil:
		w.emit(r, MultipleOfRemoved, "multipleOf")
	case *o == *u:
	case math.Mod(*u, *o) == 0:
		w.emit(r, MultipleOfExpanded, "multipleOf")
	case math.Mod(*o, *u) == 0:
		w.emit(r, MultipleOfReduced, "multipleOf")
	default:
		w.emit(r, MultipleOfChanged, "multipleOf")
	}
	switch {
	case original.Integer && !update.Integer:
		w.emit(r, TypeExtended)
	case !original.Integer && update.Integer:
		w.emit(r, TypeNarrowed)
	}
}

// exclusiveMaximum compares the limit as the reference does, which looks at the
// reader's maximum where the limit was lowered. It fails where there is none;
// we call that lowered.
func (w *walker) exclusiveMaximum(r *result, original, update *jsonschema.NumberRules) {
	o, u := original.ExclusiveMaximum, update.ExclusiveMaximum
	if o != nil && u != nil && *u < *o && update.Maximum != nil && *o <= *update.Maximum {
		return
	}
	w.bound(r, exclusiveMaximum(), o, u)
}
