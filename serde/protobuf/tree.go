package protobuf

import "strings"

// Pos is a place in a text. The zero value means that there is none, as in
// what came as a descriptor.
type Pos struct {
	Line   int // 1-based
	Column int // 1-based, in bytes
}

// Label is what stands in front of a field's type.
type Label uint8

// The labels. A proto3 field without label and a member of a oneof have none.
const (
	NoLabel Label = iota
	Required
	Optional
	Repeated
)

// String returns the word, or "" for NoLabel.
func (l Label) String() string { return [...]string{"", "required", "optional", "repeated"}[l] }

// File is a parsed file. Texts in it are as they were written, names as they
// were resolved by nobody.
type File struct {
	Syntax        string // "proto2", "proto3", or "" if the file doesn't say
	Package       string // "" if there is none
	Imports       []Import
	PublicImports []Import
	Options       []Option
	Messages      []*Message
	Enums         []*Enum
	Extends       []*Extend
	Services      []*Service
}

// Import is one imported path.
type Import struct {
	Path string
	Pos  Pos
}

// Message is a message type.
type Message struct {
	Name       string // without its scope
	Pos        Pos
	Reserved   []Reserved
	Options    []Option
	Fields     []*Field // without members of oneofs
	Oneofs     []*Oneof
	Groups     []*Group
	Extensions []Extensions
	Extends    []*Extend
	Messages   []*Message
	Enums      []*Enum
}

// IsMapEntry reports whether the message is marked as the entry of a map, as
// descriptors spell maps.
func (m *Message) IsMapEntry() bool {
	for i := range m.Options {
		if o := &m.Options[i]; o.Name == "map_entry" && !o.Paren && len(o.Sub) == 0 {
			return o.Value.Text == "true"
		}
	}
	return false
}

// Type is a type as it is written: a name, or a map of two types.
type Type struct {
	Name       string // empty for a map
	Key, Value *Type  // of a map
}

// IsMap reports whether t is written as a map.
func (t Type) IsMap() bool { return t.Key != nil }

// String returns the type as it is printed.
func (t Type) String() string {
	if !t.IsMap() {
		return t.Name
	}
	var b strings.Builder
	t.append(&b)
	return b.String()
}

func (t Type) append(b *strings.Builder) {
	if !t.IsMap() {
		b.WriteString(t.Name)
		return
	}
	b.WriteString("map<")
	t.Key.append(b)
	b.WriteString(", ")
	t.Value.append(b)
	b.WriteString(">")
}

// Field is a field of a message, oneof, group or extend.
type Field struct {
	Label    Label
	Type     Type
	Name     string
	Number   int32
	Options  []Option // without the two below
	Default  *string  // the text of the default's value; nil if there is none
	JSONName *string
	Pos      Pos
}

// Oneof is a oneof as it is written: proto3 optional makes none.
type Oneof struct {
	Name    string
	Options []Option
	Fields  []*Field
	Groups  []*Group
	Pos     Pos
}

// Group is a group: field and message in one.
type Group struct {
	Label  Label
	Name   string
	Number int32
	Fields []*Field
	Pos    Pos
}

// Enum is an enum type.
type Enum struct {
	Name     string
	Pos      Pos
	Reserved []Reserved
	Options  []Option
	Values   []EnumValue
}

// EnumValue is one constant of an enum.
type EnumValue struct {
	Name    string
	Number  int32
	Options []Option
	Pos     Pos
}

// maxNumber is the greatest field number; a range that ends there or beyond is
// printed with max.
const maxNumber = 536870911

// Range is a range of numbers with both ends in it. To may be below From.
type Range struct {
	From, To int32
	Single   bool // written as one number
}

// Reserved is one statement that reserves numbers, names or both.
type Reserved struct {
	Items []ReservedItem
}

// ReservedItem is a range, or a name if Name is not nil.
type ReservedItem struct {
	Range Range
	Name  *string
}

// Extensions is one statement that declares ranges of extension numbers.
type Extensions struct {
	Ranges  []Range
	Options []Option
}

// Extend adds fields to a message. Groups in it are not kept.
type Extend struct {
	Name   string // the message as it is written
	Fields []*Field
	Pos    Pos
}

// Service is a service.
type Service struct {
	Name    string
	Options []Option
	RPCs    []*RPC
	Pos     Pos
}

// RPC is a method of a service.
type RPC struct {
	Name              string
	Request, Response string // types as written
	StreamsRequest    bool
	StreamsResponse   bool
	Options           []Option
	Pos               Pos
}

// Option is an option: (name).sub.sub = value.
type Option struct {
	Name  string   // without parentheses
	Paren bool     // written in parentheses
	Sub   []string // what follows the name; parts in parentheses keep them
	Value Value
	Pos   Pos
}

// ValueKind is the form of an option's value.
type ValueKind uint8

// The forms of values. Words are enum constants and whatever else is written
// bare; booleans are words too.
const (
	StringValue ValueKind = iota
	NumberValue
	WordValue
	ListValue
	MapValue
)

// Value is the value of an option.
type Value struct {
	Kind ValueKind
	Text string  // of strings without escapes, of numbers and words as written
	List []Value // of lists
	Map  []Entry // of maps, in the order of first mention, each key once
}

// Entry is one entry of a map. Names of extensions stand in brackets.
type Entry struct {
	Key   string
	Value Value
}

func (v *Value) entry(key string) *Value {
	for i := range v.Map {
		if v.Map[i].Key == key {
			return &v.Map[i].Value
		}
	}
	return nil
}

// scalars are the types that need no resolving.
func isScalar(name string) bool {
	switch name {
	case "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64",
		"fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes":
		return true
	}
	return false
}

// isMapKey reports whether maps may have keys of the type.
func isMapKey(name string) bool {
	return isScalar(name) && name != "double" && name != "float" && name != "bytes"
}

// isNumeric reports whether values of the type are numbers.
func isNumeric(name string) bool {
	return isScalar(name) && name != "bool" && name != "string" && name != "bytes"
}
