package record

import (
	"errors"
	"fmt"
)

// ErrNoRoom says that a value needs more bytes than the caller had for it. It
// says nothing about the payload.
var ErrNoRoom = errors.New("value needs more room than there is")

// Reason says what is wrong with a payload or a packed value.
type Reason string

// The reasons of a DataError. The texts are shown to producers.
const (
	ReasonTruncated Reason = "ends too early"
	ReasonTrailing  Reason = "bytes after the end of the value"
	ReasonVarint    Reason = "number too long or out of range"
	ReasonLength    Reason = "negative length"
	ReasonBool      Reason = "boolean is neither 0 nor 1"
	ReasonUTF8      Reason = "string is not valid UTF-8"
	ReasonBranch    Reason = "no such union branch"
	ReasonSymbol    Reason = "no such enum symbol"
	ReasonDepth     Reason = "nested too deeply"
	ReasonItems     Reason = "more items than the payload can hold"
	ReasonTooLarge  Reason = "value too large"
	ReasonPacked    Reason = "stored value does not fit the schema"
	ReasonStyle     Reason = "style cannot be rebuilt"
)

// DataError says that a payload is not valid under its schema, or that a
// stored value does not fit it.
type DataError struct {
	// Offset is the position in the input, in bytes, where reading stopped.
	Offset int
	// Path leads from the top-level type to the value, such as
	// "address.tags[3]"; empty for the top-level value itself.
	Path string
	// Reason says what is wrong.
	Reason Reason
}

// Error returns reason, path and position.
func (e *DataError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
	}
	return fmt.Sprintf("%s: %s at byte %d", e.Path, e.Reason, e.Offset)
}
