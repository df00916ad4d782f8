package cli

import (
	"errors"
	"io"
	"strings"
)

// The exit codes.
const (
	OK    = 0
	No    = 1 // the answer is no
	Usage = 2 // it could not be asked
)

// Error is an error with what follows from it.
type Error struct {
	Code int
	Err  error  // nil if everything was said already
	Hint string // what to do, may be empty
}

// Error returns the message, without the hint.
func (e *Error) Error() string {
	if e.Err == nil {
		return "exit code is not 0"
	}
	return e.Err.Error()
}

// Unwrap returns the error inside.
func (e *Error) Unwrap() error { return e.Err }

// Refused returns an error for an answer that is no.
func Refused(err error, hint string) error { return &Error{Code: No, Err: err, Hint: hint} }

// Unusable returns an error for what could not be asked.
func Unusable(err error, hint string) error { return &Error{Code: Usage, Err: err, Hint: hint} }

// Said returns an error for an answer that is no and was printed already.
func Said() error { return &Error{Code: No} }

// ExitCode returns the exit code of a command that ended with err. An error of
// no particular kind is one of usage.
func ExitCode(err error) int {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	}
	return Usage
}

// Print writes an error as the program name, a colon and the message. An *Error
// may have several lines and a hint, which is on a line of its own; any other is
// put on one line. Errors that were said already are not repeated.
func Print(w io.Writer, program string, err error) {
	var e *Error
	if err == nil || errors.As(err, &e) && e.Err == nil {
		return
	}
	between := "; "
	if e != nil {
		between = "\n  "
	}
	text := program + ": " + strings.ReplaceAll(strings.TrimRight(err.Error(), "\n"), "\n", between) + "\n"
	if e != nil && e.Hint != "" {
		text += "  " + e.Hint + "\n"
	}
	// There is nowhere to report that standard error is gone.
	_, _ = io.WriteString(w, text)
}
