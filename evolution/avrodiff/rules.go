package avrodiff

import (
	"milena/evolution/diff"
	"milena/serde/avro"
)

// The kinds of change between Avro schemas. All of them break: the reference
// reports nothing for what can be read.
const (
	NameMismatch        diff.Kind = "NAME_MISMATCH"
	FixedSizeMismatch   diff.Kind = "FIXED_SIZE_MISMATCH"
	MissingEnumSymbols  diff.Kind = "MISSING_ENUM_SYMBOLS"
	MissingFieldDefault diff.Kind = "READER_FIELD_MISSING_DEFAULT_VALUE"
	TypeMismatch        diff.Kind = "TYPE_MISMATCH"
	MissingUnionBranch  diff.Kind = "MISSING_UNION_BRANCH"
)

// Rules returns the table of change kinds, freshly made.
func Rules() []diff.Rule {
	return diff.Advise([]diff.Rule{
		{
			Kind: NameMismatch, Breaks: true, Lenient: true,
			Where:   "the name of the reader's record, enum or fixed",
			Message: "The name of the schema has changed (path '{path}')",
			Source:  "Avro specification, Schema Resolution: names match without namespace, or by the reader's aliases",
		},
		{
			Kind: FixedSizeMismatch, Breaks: true, Lenient: true,
			Where:   "the size of the reader's fixed",
			Message: "The size of FIXED type field at path '{path}' in the {reader} schema does not match with the {writer} schema",
			Source:  "Avro specification, Schema Resolution: fixed types have the same size",
		},
		{
			Kind: MissingEnumSymbols, Breaks: true, Lenient: true,
			Where:   "the symbols of the reader's enum",
			Message: "The {reader} schema is missing enum symbols '{info}' at path '{path}' in the {writer} schema",
			Source:  "Avro specification, Schema Resolution: unknown symbols need a default of the reader's enum",
		},
		{
			Kind: MissingFieldDefault, Breaks: true, Lenient: true,
			Where:   "the reader's field",
			Message: "The field '{info}' at path '{path}' in the {reader} schema has no default value and is missing in the {writer} schema",
			Source:  "Avro specification, Schema Resolution: a field that the writer lacks needs a default",
		},
		{
			Kind: TypeMismatch, Breaks: true, Lenient: true,
			Where:   "the reader's type",
			Message: "The type (path '{path}') of a field in the {reader} schema does not match with the {writer} schema",
			Source:  "Avro specification, Schema Resolution: kinds match or are promoted",
		},
		{
			Kind: MissingUnionBranch, Breaks: true, Lenient: true,
			Where:   "the reader's union, or the writer's branch in it by index",
			Message: "The {reader} schema is missing a type inside a union field at path '{path}' in the {writer} schema",
			Source:  "Avro specification, Schema Resolution: a branch of the reader's union reads what was written",
		},
	}, advice(), "")
}

// promotions lists, by the reader's kind, the writer's kinds that it also
// reads. Bytes and string go both ways in the checker.
var promotions = [...][]avro.Kind{
	avro.KindLong:   {avro.KindInt},
	avro.KindFloat:  {avro.KindInt, avro.KindLong},
	avro.KindDouble: {avro.KindInt, avro.KindLong, avro.KindFloat},
	avro.KindBytes:  {avro.KindString},
	avro.KindString: {avro.KindBytes},
	avro.KindUnion:  nil,
}
