package protodiff

import "milena/evolution/diff"

// The kinds of change between Protobuf schemas.
const (
	PackageChanged            diff.Kind = "PACKAGE_CHANGED"
	MessageAdded              diff.Kind = "MESSAGE_ADDED"
	MessageRemoved            diff.Kind = "MESSAGE_REMOVED"
	MessageMoved              diff.Kind = "MESSAGE_MOVED"
	EnumAdded                 diff.Kind = "ENUM_ADDED"
	EnumRemoved               diff.Kind = "ENUM_REMOVED"
	EnumConstAdded            diff.Kind = "ENUM_CONST_ADDED"
	EnumConstChanged          diff.Kind = "ENUM_CONST_CHANGED"
	EnumConstRemoved          diff.Kind = "ENUM_CONST_REMOVED"
	FieldAdded                diff.Kind = "FIELD_ADDED"
	FieldRemoved              diff.Kind = "FIELD_REMOVED"
	FieldNameChanged          diff.Kind = "FIELD_NAME_CHANGED"
	FieldKindChanged          diff.Kind = "FIELD_KIND_CHANGED"
	FieldScalarKindChanged    diff.Kind = "FIELD_SCALAR_KIND_CHANGED"
	FieldNamedTypeChanged     diff.Kind = "FIELD_NAMED_TYPE_CHANGED"
	FieldNumericLabelChanged  diff.Kind = "FIELD_NUMERIC_LABEL_CHANGED"
	FieldTextLabelChanged     diff.Kind = "FIELD_STRING_OR_BYTES_LABEL_CHANGED"
	RequiredFieldAdded        diff.Kind = "REQUIRED_FIELD_ADDED"
	RequiredFieldRemoved      diff.Kind = "REQUIRED_FIELD_REMOVED"
	OneofAdded                diff.Kind = "ONEOF_ADDED"
	OneofRemoved              diff.Kind = "ONEOF_REMOVED"
	OneofFieldAdded           diff.Kind = "ONEOF_FIELD_ADDED"
	OneofFieldRemoved         diff.Kind = "ONEOF_FIELD_REMOVED"
	OneofFieldMovedOut        diff.Kind = "ONEOF_FIELD_MOVED_TO_TOP_LEVEL"
	FieldMovedToExistingOneof diff.Kind = "FIELD_MOVED_TO_EXISTING_ONEOF"
	FieldsMovedToOneof        diff.Kind = "MULTIPLE_FIELDS_MOVED_TO_ONEOF"
)

// Sources of the rules.
const (
	observed = "observed: the reference's checker"
	updating = "Protocol Buffers language guide, Updating A Message Type"
	wire     = "Protocol Buffers encoding, wire types"
	required = "Protocol Buffers proto2 guide, required fields"
	oneofs   = "Protocol Buffers language guide, Oneof, Backwards-compatibility issues"
)

func breaks(kind diff.Kind, where, message, source string) diff.Rule {
	return diff.Rule{Kind: kind, Breaks: true, Lenient: true, Where: where, Message: message, Source: source}
}

func fits(kind diff.Kind, where, message, source string) diff.Rule {
	return diff.Rule{Kind: kind, Where: where, Message: message, Source: source}
}

// Rules returns the table of change kinds, freshly made.
func Rules() []diff.Rule {
	rules := append(append(typeRules(), fieldRules()...), oneofRules()...)
	return diff.Advise(rules, advice(), "Readers find fields by number and skip or default what they don't find.")
}

func typeRules() []diff.Rule {
	const (
		message  = "the message"
		enum     = "the enum"
		constant = "the enum's constant by its number"
	)
	return []diff.Rule{
		breaks(PackageChanged, "the file", "The package of the {reader} schema differs from that of the {writer} schema (path '{path}')", observed),
		fits(MessageAdded, message, "The {writer} schema is missing the message at path '{path}' in the {reader} schema", updating),
		breaks(MessageRemoved, message, "The {reader} schema is missing a field of type MESSAGE at path '{path}' in the {writer} schema", observed),
		fits(MessageMoved, message, "The message at path '{path}' in the {reader} schema has another place than in the {writer} schema", observed),
		fits(EnumAdded, enum, "The {writer} schema is missing the enum at path '{path}' in the {reader} schema", updating),
		fits(EnumRemoved, enum, "The {reader} schema is missing the enum at path '{path}' in the {writer} schema", updating),
		fits(EnumConstAdded, constant, "The {writer} schema is missing the enum constant at path '{path}' in the {reader} schema", updating),
		fits(EnumConstChanged, constant, "The name of the enum constant at path '{path}' in the {reader} schema differs from that in the {writer} schema", updating),
		fits(EnumConstRemoved, constant, "The {reader} schema is missing the enum constant at path '{path}' in the {writer} schema", updating),
	}
}

func fieldRules() []diff.Rule {
	const field = "the field by its number"
	return []diff.Rule{
		fits(FieldAdded, field, "The {writer} schema is missing the field at path '{path}' in the {reader} schema", updating),
		fits(FieldRemoved, field, "The {reader} schema is missing the field at path '{path}' in the {writer} schema", updating),
		fits(FieldNameChanged, field, "The name of the field at path '{path}' in the {reader} schema differs from that in the {writer} schema", updating),
		breaks(FieldKindChanged, field, "The type of the field at path '{path}' in the {reader} schema does not match the {writer} schema", wire),
		breaks(FieldScalarKindChanged, field, "The kind of a SCALAR field at path '{path}' in the {reader} schema does not match its kind in the {writer} schema", wire),
		breaks(FieldNamedTypeChanged, field, "The type of a MESSAGE field at path '{path}' in the {reader} schema does not match its type in the {writer} schema", observed),
		breaks(FieldNumericLabelChanged, field, "The label of a numeric field at path '{path}' in the {reader} schema does not match its label in the {writer} schema", updating),
		fits(FieldTextLabelChanged, field, "The label of a string or bytes field at path '{path}' in the {reader} schema does not match its label in the {writer} schema", updating),
		breaks(RequiredFieldAdded, field, "The {writer} schema is missing the required field at path '{path}' in the {reader} schema", required),
		breaks(RequiredFieldRemoved, field, "The {reader} schema is missing the required field at path '{path}' in the {writer} schema", required),
	}
}

func oneofRules() []diff.Rule {
	const (
		oneof  = "the oneof"
		member = "the oneof's field by its number"
	)
	return []diff.Rule{
		fits(OneofAdded, oneof, "The {writer} schema is missing the oneof at path '{path}' in the {reader} schema", updating),
		fits(OneofRemoved, oneof, "The {reader} schema is missing the oneof at path '{path}' in the {writer} schema", updating),
		fits(OneofFieldAdded, member, "The {writer} schema is missing the oneof field at path '{path}' in the {reader} schema", updating),
		breaks(OneofFieldRemoved, member, "The {reader} schema is missing a oneof field at path '{path}' in the {writer} schema", oneofs),
		fits(OneofFieldMovedOut, member, "The oneof field at path '{path}' in the {writer} schema is outside of a oneof in the {reader} schema", oneofs),
		breaks(FieldMovedToExistingOneof, oneof, "A field of the {writer} schema was moved into the oneof at path '{path}' in the {reader} schema, which holds others", oneofs),
		breaks(FieldsMovedToOneof, oneof, "Several fields of the {writer} schema were moved into the oneof at path '{path}' in the {reader} schema", oneofs),
	}
}

// group is a set of scalar types that are read as each other.
type group uint8

const (
	noGroup group = iota
	varints
	zigzags
	texts
	fixed32s
	fixed64s
	floats
	doubles
)

// IsScalar reports whether a type's name is that of a scalar. Enums are looked
// up like messages, so their names are not.
func IsScalar(name string) bool { return groupOf(name) != noGroup }

// groupOf returns the group of a scalar type, noGroup if it is none. Enums are
// of the varints.
func groupOf(name string) group {
	switch name {
	case "int32", "int64", "uint32", "uint64", "bool":
		return varints
	case "sint32", "sint64":
		return zigzags
	case "string", "bytes":
		return texts
	case "fixed32", "sfixed32":
		return fixed32s
	case "fixed64", "sfixed64":
		return fixed64s
	case "float":
		return floats
	case "double":
		return doubles
	}
	return noGroup
}
