package evolution

import (
	"context"
	"errors"
	"fmt"

	"milena/evolution/avrodiff"
	"milena/evolution/diff"
	"milena/evolution/jsondiff"
	"milena/evolution/protodiff"
	"milena/serde/avro"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// comparison is what one schema as the reader and one as the writer differ in,
// harmless differences included, with the table that judges them.
type comparison struct {
	table   *diff.Table
	changes []diff.Change
	lenient bool
	message func(kind diff.Kind, description, info string) string // as the reference's verbose answers
}

// notComparableError says that two schemas can't be compared, in the words of a
// finding.
type notComparableError struct {
	message string
	err     error
}

func (e *notComparableError) Error() string { return e.message }
func (e *notComparableError) Unwrap() error { return e.err }

// compare is the one place that knows the formats. Errors are of type
// *notComparableError or the context's.
func (c *Checker) compare(ctx context.Context, policy Policy, reader, writer schema.Parsed) (comparison, error) {
	out := comparison{lenient: policy == Lenient}
	var err error
	known := false
	switch r := reader.(type) {
	case *avro.Schema:
		var w *avro.Schema
		if w, known = writer.(*avro.Schema); known {
			out.table, out.message, out.lenient = c.avro, avroMessage, false
			out.changes, err = avrodiff.Compare(ctx, c.avro, r, w, c.limits)
		}
	case *jsonschema.Schema:
		var w *jsonschema.Schema
		if w, known = writer.(*jsonschema.Schema); known {
			out.table, out.message = c.json, jsonMessage
			out.changes, err = jsondiff.Compare(ctx, c.json, r, w, jsondiff.Options{Lenient: out.lenient, Limits: c.limits})
		}
	case *protobuf.Schema:
		var w *protobuf.Schema
		if w, known = writer.(*protobuf.Schema); known {
			out.table, out.message, out.lenient = c.proto, protoMessage, false
			out.changes, err = protodiff.Compare(ctx, c.proto, r, w, c.limits)
		}
	}
	var ambiguous *avrodiff.AmbiguousFieldError
	switch {
	case !known:
		return out, &notComparableError{message: fmt.Sprintf("No compatibility rules for schemas of type %s", reader.Type())}
	case errors.As(err, &ambiguous), errors.Is(err, diff.ErrTooComplex):
		return out, &notComparableError{message: "Unexpected exception during compatibility check: " + err.Error(), err: err}
	}
	return out, err
}

func avroMessage(kind diff.Kind, description, info string) string {
	return fmt.Sprintf("{errorType:'%s', description:'%s', additionalInfo:'%s'}", kind, description, info)
}

// jsonMessage closes the description with another quote than it opens it with,
// as the reference does.
func jsonMessage(kind diff.Kind, description, _ string) string {
	return fmt.Sprintf("{errorType:\"%s\", description:\"%s'}", kind, description)
}

func protoMessage(kind diff.Kind, description, _ string) string {
	return fmt.Sprintf("{errorType:\"%s\", description:\"%s\"}", kind, description)
}

// Change is one difference between two schemas, as the reading side sees it.
type Change struct {
	Kind        diff.Kind
	Path        string // into the reading schema; empty if the change has no place
	Breaks      bool   // the reader can't read all data of the writer
	Description string
	Info        string // what the description leaves out, by kind; may be empty
}

// Changes lists in what reader differs from writer as far as it matters to who
// reads data of writer with it, harmless differences that the format's table
// knows included. The words are what descriptions call the two, such as "new"
// and "old". Schemas of two formats differ in one change, TypeChanged, and those
// that can't be compared in NotComparable. The error is the context's.
func (c *Checker) Changes(ctx context.Context, policy Policy, reader, writer schema.Parsed, readerWord, writerWord string) ([]Change, error) {
	if reader.Type() != writer.Type() {
		return []Change{{
			Kind: TypeChanged, Breaks: true,
			Description: fmt.Sprintf("The %s schema is %s and the %s one %s", readerWord, reader.Type(), writerWord, writer.Type()),
		}}, nil
	}
	cmp, err := c.compare(ctx, policy, reader, writer)
	var cannot *notComparableError
	switch {
	case errors.As(err, &cannot):
		return []Change{{Kind: NotComparable, Breaks: true, Description: cannot.message}}, nil
	case err != nil:
		return nil, fmt.Errorf("compare schemas: %w", err)
	}
	out := make([]Change, 0, len(cmp.changes))
	bytes := 0
	for _, ch := range cmp.changes {
		if bytes += len(ch.Path) + len(ch.Info); bytes > messagesBytesMax && len(out) > 0 {
			break
		}
		out = append(out, Change{
			Kind: ch.Kind, Path: ch.Path, Breaks: cmp.table.Breaks(ch.Kind, cmp.lenient),
			Description: cmp.table.Describe(ch, readerWord, writerWord), Info: ch.Info,
		})
	}
	return out, nil
}
