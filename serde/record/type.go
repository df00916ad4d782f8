package record

// Kind is the kind of a column: which values it holds.
type Kind uint8

// The kinds. The first ones are those of milena.record.v1.Value; the others
// say what a nested value stands for.
const (
	KindNull Kind = iota
	KindBool
	KindInt32
	KindInt64
	KindFloat
	KindDouble
	KindBytes
	KindString
	KindTimestamp
	KindDate
	KindDecimal
	KindTime
	KindList
	KindRecord
	KindMap
	KindUnion
)

var kindNames = [...]string{
	KindNull: "null", KindBool: "bool", KindInt32: "int32", KindInt64: "int64", KindFloat: "float",
	KindDouble: "double", KindBytes: "bytes", KindString: "string", KindTimestamp: "timestamp",
	KindDate: "date", KindDecimal: "decimal", KindTime: "time", KindList: "list", KindRecord: "record",
	KindMap: "map", KindUnion: "union",
}

// String returns the kind's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Type is a record type: the typed columns of a schema. It is derived from the
// schema, never stored. Every use of one named record is the same *Type, so a
// recursive schema gives a cyclic graph: walkers remember what they have
// entered. A Type is immutable once built.
type Type struct {
	// Name is the record's full name, "" if Bare.
	Name string
	// Bare: the schema's top-level type is not a record. The only column,
	// named BareField, holds its value.
	Bare bool
	// Columns in schema order, which is the order of packed values.
	Columns []Column
}

// Column is a field of a record, an item of a list, a value of a map or a
// branch of a union.
type Column struct {
	// Name is the field's or branch's name, "" for items and map values.
	Name string
	Kind Kind
	// Nullable: the value may be null. Always true for KindNull.
	Nullable bool
	// Logical is the schema's logical type, "" if none, also where Kind already
	// says it.
	Logical string
	// TypeName is the full name of an enum or fixed type.
	TypeName string
	// UTC: a timestamp is an instant, not a local date and time.
	UTC bool
	// Size in bytes of a fixed type.
	Size int
	// Precision and Scale of a decimal in digits; both 0 if each value has its
	// own scale.
	Precision int
	Scale     int
	// Symbols of an enum, in schema order. Don't modify.
	Symbols []string
	// Record of a KindRecord.
	Record *Type
	// Item of a KindList, value of a KindMap.
	Item *Column
	// Branches of a KindUnion, one per branch in schema order, null branches
	// included, so that packed positions index it.
	Branches []Column
}
