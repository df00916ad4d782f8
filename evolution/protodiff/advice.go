package protodiff

import "milena/evolution/diff"

// advice says of each kind that breaks why, and what would not.
func advice() map[diff.Kind]diff.Advice {
	const (
		restore = "give {name} its old type back ({old}), or add a field with a new number and reserve this one"
		keepReq = "make {name} optional"
	)
	return map[diff.Kind]diff.Advice{
		PackageChanged: {
			"The package is part of every type's full name, so the {reader} schema has none of the types that data of the {writer} schema is of.",
			"keep the old package ({old}), or register the file under a new subject", "keep the old package ({old}), or register the file under a new subject",
		},
		MessageRemoved: {
			"The {reader} schema has no message {name} to read data of the {writer} schema with.",
			"put the message {name} back; mark it deprecated instead of removing or renaming it",
			"take the message {name} out, or check at level BACKWARD: schemas in use don't have it",
		},
		FieldKindChanged: {
			"Field {name} was {oldType} and is {newType}, and by the rule scalars (which enums count as), maps and messages do not replace each other.", restore, restore,
		},
		FieldScalarKindChanged: {
			"The type of field {name} is written in another way than before, so its bytes would be read as other values.",
			restore + "; int32, int64, uint32, uint64, bool and enums may replace each other", restore + "; int32, int64, uint32, uint64, bool and enums may replace each other",
		},
		FieldNamedTypeChanged: {
			"Field {name} holds another message than before ({info}).", restore, restore,
		},
		FieldNumericLabelChanged: {
			"Repeated numbers are packed together, so field {name} can't be read as a single one or the other way round.",
			"give {name} its old label back ({info}), or add a field with a new number and reserve this one",
			"give {name} its old label back, or add a field with a new number and reserve this one",
		},
		RequiredFieldAdded: {
			"Data of the {writer} schema may lack field {name}, which the {reader} schema requires.",
			keepReq, "keep field {name} as required: the old schema refuses data without it",
		},
		RequiredFieldRemoved: {
			"Field {name} was required and is gone from the new schema: whoever relies on it may now miss it.",
			"keep field {name}", "don't add {name} as required: make it optional",
			"Field {name} is new and required, and the old schema does not have it: by the rule both have to know required fields.",
		},
		OneofFieldRemoved: {
			"Data may have {name} set; the reader would take the whole oneof for not set.",
			"put {name} back into its oneof; mark it deprecated instead of removing it",
			"take {name} out of the oneof again; put it beside the oneof or into a new one",
		},
		FieldMovedToExistingOneof: {
			"Data may have a moved field and one of the oneof set together; a reader keeps only the last of them.",
			"take the moved field out of the oneof {name} again, or give it a new number there",
			"keep the field in the oneof {name}: schemas in use hold only one of its fields",
		},
		FieldsMovedToOneof: {
			"Data may have several of the moved fields set together; a reader keeps only the last of them.",
			"move at most one existing field into the oneof {name}; the others stay outside, or get new numbers in it",
			"keep the fields in the oneof {name}: schemas in use hold only one of them",
		},
	}
}
