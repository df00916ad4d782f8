package errcode

import (
	"errors"
	"fmt"
	"log/slog"
)

// Row is one line of the table: an error code with all that is fixed about it.
// A *Row is itself an error, so that it can be the target of errors.Is; it is
// never returned bare.
type Row struct {
	Code      int      // error_code of the answer's body
	Status    int      // HTTP status
	Name      string   // identifier, for logs, metric labels and documentation
	Format    string   // message format; "%s" alone means that the text is free
	Params    []string // what the verbs of Format stand for
	Retriable bool     // the same request may succeed later
	Since     string   // release of the reference that first sent it
}

// Error returns the row's name.
func (r *Row) Error() string { return r.Name }

// New returns an Error of the row with its message made from args, one for each
// of Params.
func (r *Row) New(args ...any) *Error {
	return &Error{Row: r, Message: fmt.Sprintf(r.Format, args...)}
}

// Text returns an Error of the row with a message of its own, for codes that
// have several.
func (r *Row) Text(message string) *Error {
	return &Error{Row: r, Message: message}
}

// Error is an answer other than success. Message is what the client reads, so
// it never holds internals; what went wrong inside is in Cause, which is for
// logs only.
type Error struct {
	Row     *Row
	Message string
	Cause   error
}

// Error returns the message that the client reads.
func (e *Error) Error() string { return e.Message }

// Is reports whether target is the error's row, or a row with its code: a code
// that the table does not know compares by number.
func (e *Error) Is(target error) bool {
	r, ok := target.(*Row)
	return ok && (r == e.Row || r.Code == e.Row.Code)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Because returns a copy of e with cause as its reason.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Cause = cause
	return &c
}

// LogValue returns the error as attributes, so that logs are searchable by code.
func (e *Error) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.Int("error_code", e.Row.Code),
		slog.String("name", e.Row.Name),
		slog.String("message", e.Message),
	}
	if e.Cause != nil {
		attrs = append(attrs, slog.String("cause", e.Cause.Error()))
	}
	return slog.GroupValue(attrs...)
}

// Of returns the Error inside err, or an internal server error with err as its
// cause. It returns nil for nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Internal.New().Because(err)
}

// Parse returns the Error that an answer with this HTTP status, error_code and
// message stands for. A code that the table does not know keeps its number and
// gets a row of its own; it is retriable when the status is 429 or 5xx.
func Parse(status, code int, message string) *Error {
	if r := ByCode(code); r != nil {
		return r.Text(message)
	}
	if code == 0 {
		code = status
	}
	if r := ByCode(code); r != nil {
		return r.Text(message)
	}
	return &Error{Message: message, Row: &Row{
		Code:      code,
		Status:    status,
		Name:      "Unknown",
		Format:    "%s",
		Params:    []string{"message"},
		Retriable: status == 429 || status >= 500,
	}}
}
