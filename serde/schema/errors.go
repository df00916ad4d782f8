package schema

import (
	"fmt"
	"strings"
)

// ParseError says why a text is not a schema of its format, and where.
type ParseError struct {
	Line    int    // 1-based, 0 if unknown
	Column  int    // 1-based, in bytes, 0 if unknown
	Path    string // where in the schema, as a JSON pointer or a full name; may be empty
	Message string
}

// Error returns the message with place and path in front.
func (e *ParseError) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Column)
	}
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	return b.String()
}
