package avrodiff

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"milena/evolution/diff"
	"milena/serde/avro"
)

// AmbiguousFieldError says that a field of the reader means several fields of
// the writer by its name and aliases; there is no comparison then.
type AmbiguousFieldError struct {
	Field  string
	Record string // full name of the writer's record
}

// Error returns the reference's text.
func (e *AmbiguousFieldError) Error() string {
	return fmt.Sprintf("Reader record field %s matches multiple fields in writer record schema %s", e.Field, e.Record)
}

// Compare returns the changes that keep a reader with schema reader from
// reading data written with schema writer, in the reference's order; none
// means that it can. The error wraps diff.ErrTooComplex or the context's
// error, or is an *AmbiguousFieldError.
func Compare(ctx context.Context, table *diff.Table, reader, writer *avro.Schema, limits diff.Limits) ([]diff.Change, error) {
	w := walker{c: diff.NewContext(ctx, table, limits)}
	changes := w.types(reader.Root(), writer.Root())
	if err := w.c.Err(); err != nil {
		return nil, err
	}
	return changes, nil
}

type walker struct {
	c       *diff.Context
	pairs   diff.Pairs[*avro.Type]
	indexes map[*avro.Type]map[string]int // fields of wide records by name
}

// wideRecord is from how many fields on a record's fields are found by map.
const wideRecord = 8

// types compares one pair of types at the current place.
func (w *walker) types(reader, writer *avro.Type) []diff.Change {
	return w.pairs.Visit(w.c, reader, writer, func() []diff.Change { return w.compare(reader, writer) })
}

func (w *walker) compare(reader, writer *avro.Type) []diff.Change {
	if reader.Kind != writer.Kind {
		return w.kinds(reader, writer)
	}
	switch reader.Kind {
	case avro.KindArray:
		return w.at(reader.Items, writer.Items, "items")
	case avro.KindMap:
		return w.at(reader.Items, writer.Items, "values")
	case avro.KindFixed:
		changes := w.names(reader, writer)
		if reader.Size != writer.Size {
			info := fmt.Sprintf("expected: %d, found: %d", writer.Size, reader.Size)
			changes = append(changes, diff.Change{Kind: FixedSizeMismatch, Path: w.c.Path("size"), Info: info})
		}
		return changes
	case avro.KindEnum:
		return append(w.names(reader, writer), w.symbols(reader, writer)...)
	case avro.KindRecord:
		return w.c.Merge(w.names(reader, writer), w.fields(reader, writer))
	case avro.KindUnion:
		return w.unions(reader, writer)
	default:
		return nil
	}
}

// at compares a pair that stands under more steps.
func (w *walker) at(reader, writer *avro.Type, steps ...string) []diff.Change {
	w.c.Push(steps...)
	defer w.c.Pop(len(steps))
	return w.types(reader, writer)
}

// kinds compares types of different kinds: a reader must read all of what a
// union writes, one branch of a reading union is enough, and some primitives
// are promoted.
func (w *walker) kinds(reader, writer *avro.Type) []diff.Change {
	if writer.Kind == avro.KindUnion {
		if !w.c.Step(len(writer.Branches)) {
			return nil
		}
		var changes []diff.Change
		for i, b := range writer.Branches {
			changes = w.c.Merge(changes, w.at(reader, b, strconv.Itoa(i)))
		}
		return changes
	}
	if reader.Kind == avro.KindUnion {
		for _, b := range reader.Branches {
			if w.fits(b, writer) {
				return nil
			}
		}
		return []diff.Change{{Kind: MissingUnionBranch, Path: w.c.Path(), Info: "reader union lacking writer type: " + kindWord(writer)}}
	}
	if int(reader.Kind) < len(promotions) && slices.Contains(promotions[reader.Kind], writer.Kind) {
		return nil
	}
	info := fmt.Sprintf("reader type: %s not compatible with writer type: %s", kindWord(reader), kindWord(writer))
	return []diff.Change{{Kind: TypeMismatch, Path: w.c.Path(), Info: info}}
}

// unions wants a reading branch for each branch of the writer. Why a branch
// isn't read is not told.
func (w *walker) unions(reader, writer *avro.Type) []diff.Change {
	var changes []diff.Change
	for i, b := range writer.Branches {
		index := strconv.Itoa(i)
		w.c.Push(index)
		fits := w.fits(reader, b)
		w.c.Pop(1)
		if !fits {
			changes = w.c.Merge(changes, []diff.Change{{
				Kind: MissingUnionBranch, Path: w.c.Path(index), Info: "reader union lacking writer type: " + kindWord(b),
			}})
		}
	}
	return changes
}

// fits reports whether reader reads what writer writes. Types whose names
// don't match are told apart without a look inside, or unions of many records
// would be compared all with all.
func (w *walker) fits(reader, writer *avro.Type) bool {
	if !w.c.Step(1+len(reader.Aliases)) || reader.Kind == writer.Kind && reader.Kind.IsNamed() && !namesMatch(reader, writer) {
		return false
	}
	return w.c.Fits(w.types(reader, writer))
}

// namesMatch reports whether the names are equal without their namespaces, or
// the reader has the writer's full name as an alias.
func namesMatch(reader, writer *avro.Type) bool {
	return reader.Name.Simple == writer.Name.Simple || slices.Contains(reader.Aliases, writer.Name)
}

func (w *walker) names(reader, writer *avro.Type) []diff.Change {
	if !w.c.Step(len(reader.Aliases)) || namesMatch(reader, writer) {
		return nil
	}
	return []diff.Change{{Kind: NameMismatch, Path: w.c.Path("name"), Info: "expected: " + writer.Name.Full()}}
}

// symbols wants every symbol of the writer unless the reader's enum has a
// default. Neither the writer's nor a field's default helps.
func (w *walker) symbols(reader, writer *avro.Type) []diff.Change {
	if !w.c.Step(len(reader.Symbols) + len(writer.Symbols)) {
		return nil
	}
	if reader.EnumDefault != nil {
		return nil
	}
	known := make(map[string]bool, len(reader.Symbols))
	for _, s := range reader.Symbols {
		known[s] = true
	}
	var missing []string
	for _, s := range writer.Symbols {
		if !known[s] {
			missing = append(missing, s)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return []diff.Change{{Kind: MissingEnumSymbols, Path: w.c.Path("symbols"), Info: "[" + strings.Join(missing, ", ") + "]"}}
}

// fields looks at each field of the reader; what only the writer has is
// skipped by readers.
func (w *walker) fields(reader, writer *avro.Type) []diff.Change {
	var changes []diff.Change
	for i := range reader.Fields {
		f := &reader.Fields[i]
		if !w.c.Step(1 + len(f.Aliases)) {
			return nil
		}
		w.c.Push("fields", strconv.Itoa(i))
		changes = w.c.Merge(changes, w.field(f, writer))
		w.c.Pop(2)
	}
	return changes
}

func (w *walker) field(f *avro.Field, writer *avro.Type) []diff.Change {
	from, ok := w.writerField(f, writer)
	switch {
	case !ok:
		w.c.Fail(&AmbiguousFieldError{Field: f.Name, Record: writer.Name.Full()})
		return nil
	case from != nil:
		return w.at(f.Type, from.Type, "type")
	case f.Default != nil:
		return nil
	case f.Type.Kind == avro.KindEnum && f.Type.EnumDefault != nil:
		// The reference compares the enum with the whole record here. The
		// default of an enum does not stand in for one of the field.
		return w.at(f.Type, writer, "type")
	default:
		return []diff.Change{{Kind: MissingFieldDefault, Path: w.c.Path(), Info: f.Name}}
	}
}

// writerField returns the writer's field that f reads, by name or alias, or
// nil. It reports false if there are several; the same field counts twice if
// both name and an alias say so.
func (w *walker) writerField(f *avro.Field, writer *avro.Type) (*avro.Field, bool) {
	found := w.fieldNamed(writer, f.Name)
	for _, a := range f.Aliases {
		g := w.fieldNamed(writer, a)
		if g == nil {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = g
	}
	return found, true
}

func (w *walker) fieldNamed(t *avro.Type, name string) *avro.Field {
	if len(t.Fields) < wideRecord {
		for i := range t.Fields {
			if t.Fields[i].Name == name {
				return &t.Fields[i]
			}
		}
		return nil
	}
	index := w.indexes[t]
	if index == nil {
		index = make(map[string]int, len(t.Fields))
		for i := range t.Fields {
			index[t.Fields[i].Name] = i
		}
		if w.indexes == nil {
			w.indexes = make(map[*avro.Type]map[string]int)
		}
		w.indexes[t] = index
	}
	if i, ok := index[name]; ok {
		return &t.Fields[i]
	}
	return nil
}

// kindWord is a kind as the messages spell it.
func kindWord(t *avro.Type) string { return strings.ToUpper(t.Kind.String()) }
