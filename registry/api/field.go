package api

import "encoding/json"

// Field is a value that a request may leave out, set, or clear with null: the
// three mean different things to PUT config and PUT mode. The zero Field is an
// absent one.
type Field[T any] struct {
	Present bool
	Value   *T // nil with Present is an explicit null
}

// Given returns a Field that holds v.
func Given[T any](v T) Field[T] { return Field[T]{Present: true, Value: &v} }

// Null returns a Field that is explicitly null.
func Null[T any]() Field[T] { return Field[T]{Present: true} }

// IsZero reports whether the field is absent, which leaves it out of JSON.
func (f Field[T]) IsZero() bool { return !f.Present }

// MarshalJSON writes the value, or null.
func (f Field[T]) MarshalJSON() ([]byte, error) { return json.Marshal(f.Value) }

// UnmarshalJSON reads a value that is present; null clears. Clients use it to
// read answers; servers read requests with the Decode functions.
func (f *Field[T]) UnmarshalJSON(b []byte) error {
	f.Present = true
	return json.Unmarshal(b, &f.Value)
}
