package avrodiff

import "milena/evolution/diff"

// advice says of each kind why it breaks readers and what would not.
func advice() map[diff.Kind]diff.Advice {
	return map[diff.Kind]diff.Advice{
		NameMismatch: {
			"A reader knows a record, enum or fixed by its name, and {old} became {new} without an alias.",
			`name it {old} again, or keep {new} and add the old full name to its "aliases"`,
			"name it {old} again: schemas in use have no alias for {new}",
		},
		FixedSizeMismatch: {
			"A fixed has no length in the data, so a reader with another size reads the wrong bytes ({old} became {new}).",
			"give the fixed its old size {old}, or add a new field with a new fixed type and a default",
			"give the fixed its old size {old}, or add a new field with a new fixed type",
		},
		MissingEnumSymbols: {
			"Data of the {writer} schema may hold the {symbols}, which the {reader} schema does not know.",
			`put the {symbols} back, or give the enum itself a "default" symbol (a default of the field does not help)`,
			"take the {symbols} out again: schemas in use have no default for unknown symbols; give the enum a default first and add symbols in a later version",
		},
		MissingFieldDefault: {
			"Data of the {writer} schema has no field {name}, and the {reader} schema has no default to put there.",
			`give {name} a default, such as "type": ["null", …], "default": null`,
			"keep the field {name}: the old schema demands it; give it a default first and remove it in a later version",
		},
		TypeMismatch: {
			"The type was {old} and is {new}, and Avro does not read the {writer} schema's as the {reader} schema's.",
			"give {name} its old type {old}{promoted}{orField}",
			"give {name} its old type {old}{orField}",
		},
		MissingUnionBranch: {
			"Data of the {writer} schema may hold {branch}, which no branch of the {reader} schema's union reads.",
			"add {branch} to the union of {name}{promoted}",
			"take {branch} out of the type of {name} again, or put it into a new field: schemas in use can't read it",
		},
	}
}
