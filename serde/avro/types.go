package avro

// Kind is the Avro type of a node.
type Kind uint8

// The kinds. Primitives come first, in the order of the specification, so that
// k <= KindString tells a primitive. Zero is no kind; no finished Schema holds it.
const (
	KindNull Kind = iota + 1
	KindBoolean
	KindInt
	KindLong
	KindFloat
	KindDouble
	KindBytes
	KindString
	KindRecord
	KindEnum
	KindArray
	KindMap
	KindFixed
	KindUnion
)

var kindNames = [...]string{
	KindNull: "null", KindBoolean: "boolean", KindInt: "int", KindLong: "long", KindFloat: "float",
	KindDouble: "double", KindBytes: "bytes", KindString: "string", KindRecord: "record", KindEnum: "enum",
	KindArray: "array", KindMap: "map", KindFixed: "fixed", KindUnion: "union",
}

// String returns the name of the kind as the specification spells it.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k != 0 {
		return kindNames[k]
	}
	return "unknown"
}

// IsPrimitive reports whether k is one of the eight primitive types.
func (k Kind) IsPrimitive() bool { return k >= KindNull && k <= KindString }

// IsNamed reports whether types of kind k carry a name (record, enum, fixed).
func (k Kind) IsNamed() bool { return k == KindRecord || k == KindEnum || k == KindFixed }

// Logical is a logical type that is valid on the type that carries it. A
// logicalType attribute that is unknown or not valid there is LogicalNone and
// stays among the Props, as the specification asks.
type Logical uint8

// The logical types of Avro 1.12 and their base types.
const (
	LogicalNone                 Logical = iota
	LogicalDecimal                      // bytes, fixed; Precision and Scale are set
	LogicalBigDecimal                   // bytes
	LogicalUUID                         // string, fixed(16)
	LogicalDate                         // int
	LogicalTimeMillis                   // int
	LogicalTimeMicros                   // long
	LogicalTimestampMillis              // long
	LogicalTimestampMicros              // long
	LogicalTimestampNanos               // long
	LogicalLocalTimestampMillis         // long
	LogicalLocalTimestampMicros         // long
	LogicalLocalTimestampNanos          // long
	LogicalDuration                     // fixed(12)
)

// Type is one node of a schema. Every occurrence of a named type is the same
// pointer, so a recursive schema is a cyclic graph: walkers remember the named
// types that they have entered. Nodes are immutable once Parse has returned.
type Type struct {
	Kind Kind

	// Named types (record, enum, fixed).
	Name    Name
	Doc     *string // nil if absent, which "" is not
	Aliases []Name  // in the order given, without repetitions

	Fields      []Field // record
	IsError     bool    // record declared as "error"
	Symbols     []string
	EnumDefault *string // enum's own default, one of Symbols; nil if absent
	Size        int     // fixed, in bytes
	Items       *Type   // element type of an array, value type of a map
	Branches    []*Type // union; never unions themselves

	Logical   Logical
	Precision int // LogicalDecimal: digits, at least 1
	Scale     int // LogicalDecimal: digits after the point, 0 to Precision

	// Props are the attributes that the specification gives no meaning here,
	// in the order given; logicalType, precision and scale are among them.
	Props []Prop
}

// FullName returns the full name of a named type, and the kind's name of any
// other: what the specification tells union branches apart by.
func (t *Type) FullName() string {
	if t.Kind.IsNamed() {
		return t.Name.Full()
	}
	return t.Kind.String()
}

// Order says how a field takes part in the sort order of its record.
type Order uint8

// The three orders; ascending is what an absent attribute means.
const (
	OrderAscending Order = iota
	OrderDescending
	OrderIgnore
)

// String returns the order as the attribute spells it.
func (o Order) String() string {
	switch o {
	case OrderDescending:
		return "descending"
	case OrderIgnore:
		return "ignore"
	default:
		return "ascending"
	}
}

// Field is one field of a record.
type Field struct {
	Name    string
	Type    *Type
	Doc     *string // nil if absent
	Default *Value  // nil if absent, which a JSON null is not
	Order   Order
	Aliases []string
	Props   []Prop
}

// Prop is one attribute without a meaning of its own.
type Prop struct {
	Key   string
	Value Value
}

// Name is a name split at its last dot.
type Name struct {
	Namespace string // "" if the name has none
	Simple    string
}

// Full returns the name with its namespace in front.
func (n Name) Full() string {
	if n.Namespace == "" {
		return n.Simple
	}
	return n.Namespace + "." + n.Simple
}
