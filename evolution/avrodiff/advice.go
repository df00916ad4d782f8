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
			"Data may hold the symbols {info}, which the {reader} schema does not know.",
			`put {info} back, or give the enum itself a "default" symbol (a default of the field does not help)`,
			"take {info} out again: schemas in use have no default for unknown symbols; give the enum a default first and add symbols in a later version",
		},
		MissingFieldDefault: {
			"Data of the {writer} schema has no field {name}, and the {reader} schema has no default to put there.",
			`give {name} a default, such as "type": ["null", …], "default": null`,
			"keep the field {name}: the old schema demands it; give it a default first and remove it in a later version",
		},
		TypeMismatch: {
			"The type was {old} and is {new}, and Avro does not read the {writer} schema's as the {reader} schema's.",
			"give {name} its old type {old}, or a type that {old} is promoted to (int → long → float → double, string ↔ bytes), or add a new field with a default",
			"give {name} its old type {old}, or add a new field with the new type and keep this one",
		},
		MissingUnionBranch: {
			"Data may hold a branch that no branch of the {reader} schema's union reads ({info}).",
			"put the missing type back into the union, or a branch that it is promoted to",
			"take the new type out of the union again, or put it into a new field: schemas in use can't read it",
		},
	}
}
