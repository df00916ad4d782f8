package jsonschema

import "strconv"

// Kind says what a Node demands of a document.
type Kind uint8

// The kinds of nodes. A schema object whose keywords belong to several kinds is
// a combined node with one part for each.
const (
	KindEmpty Kind = iota + 1 // true, {} and what has no known keywords
	KindFalse
	KindString
	KindNumber
	KindBoolean
	KindNull
	KindObject
	KindArray
	KindEnum
	KindConst
	KindCombined
	KindNot
	KindConditional
	KindReference
)

// Criterion says how many parts of a combined node must hold.
type Criterion uint8

// The criteria.
const (
	AllOf Criterion = iota + 1
	AnyOf
	OneOf
)

// String returns the keyword of the criterion.
func (c Criterion) String() string {
	switch c {
	case AllOf:
		return "allOf"
	case AnyOf:
		return "anyOf"
	case OneOf:
		return "oneOf"
	}
	return ""
}

// Node is one schema of a tree of kinds: the form in which the reference's
// loaders understand a text, whatever its draft. Nodes are shared and, through
// references, cyclic. They must not be changed.
type Node struct {
	Kind Kind

	// ID, Title, Description and Default are nil where the schema has none. The
	// modern drafts have no ID, and a default of null is none there.
	ID, Title, Description *string
	Default                *Value
	// ConnectBytes says that the schema has "connect.type":"bytes".
	ConnectBytes bool

	// The rules of the kinds that have such; nil for all others.
	String *StringRules
	Number *NumberRules
	Object *ObjectRules
	Array  *ArrayRules

	Criterion Criterion // of a combined node
	Parts     []*Node   // of a combined node
	Values    []*Value  // of an enum; the one of a const
	Inner     *Node     // what not excludes, or what a reference leads to

	value *Value // the schema's text
	part  part   // which part of it this is
}

// StringRules are the limits on strings. Numbers are nil where there is none.
type StringRules struct {
	MinLength, MaxLength *float64
	Pattern              *string
}

// NumberRules are the limits on numbers. The exclusive limits of draft 4, which
// are flags, are not kept.
type NumberRules struct {
	Integer                            bool
	Minimum, Maximum                   *float64
	ExclusiveMinimum, ExclusiveMaximum *float64
	MultipleOf                         *float64
}

// ObjectRules are the rules for objects.
type ObjectRules struct {
	Properties []Property // in the order of the text
	Required   []string
	// MinProperties and MaxProperties are nil where there is none.
	MinProperties, MaxProperties *float64
	Patterns                     []PatternProperty
	Additional                   Extra
	Unevaluated                  *Node // nil if absent; never in drafts up to 7
	RequiredWith                 []RequiredWith
	SchemasWith                  []Property // schemas that apply if the property is there

	index    map[string]int
	required map[string]bool
}

// Property is a schema under a property's name.
type Property struct {
	Name   string
	Schema *Node
}

// PatternProperty is a schema for all properties whose names match.
type PatternProperty struct {
	Pattern string
	Schema  *Node
}

// RequiredWith lists the properties that must be there if Name is.
type RequiredWith struct {
	Name  string
	Needs []string
}

// Extra says what may stand beyond the properties or items that are named.
type Extra struct {
	Closed bool  // nothing may
	Schema *Node // nil: anything may, unless closed
}

// ArrayRules are the rules for arrays.
type ArrayRules struct {
	All         *Node   // of every item; nil if there is none
	Items       []*Node // by position
	Additional  Extra
	Unevaluated *Node // nil if absent; never in drafts up to 7
	// Limits are nil where there is none.
	MinItems, MaxItems       *float64
	MinContains, MaxContains *float64
	Contains                 *Node
	Unique                   bool
}

// Property returns the schema under a property's name, or nil.
func (o *ObjectRules) Property(name string) *Node {
	if i, ok := o.index[name]; ok {
		return o.Properties[i].Schema
	}
	return nil
}

// Requires reports whether the property is required.
func (o *ObjectRules) Requires(name string) bool { return o.required[name] }

// Offset returns where the schema stands in its text, in bytes.
func (n *Node) Offset() int { return n.value.off }

// Target returns the node itself, or where its chain of references ends. A
// chain that leads back into itself ends at a reference.
func (n *Node) Target() *Node {
	// Two walkers, one twice as fast: they meet again only in a circle.
	slow, fast := n, n
	for fast.Kind == KindReference {
		fast = fast.Inner
		if fast.Kind != KindReference {
			break
		}
		fast, slow = fast.Inner, slow.Inner
		if fast == slow {
			return fast
		}
	}
	return fast
}

// AppendKey appends a text that two nodes share if they are written alike, but
// for the order of keys. Its length is about that of the schema's text.
func (n *Node) AppendKey(dst []byte) []byte {
	dst = append(strconv.AppendUint(dst, uint64(n.part), 10), ' ')
	sorted := n.value.sorted()
	return sorted.append(dst)
}

// part tells the nodes that come from one schema object apart.
type part uint8

const (
	partWhole part = iota
	partEnum
	partAllOf
	partAnyOf
	partOneOf
	partNot
	partConst
	partType
	partArray
	partObject
	partNumber
	partInteger
	partString
	partBoolean
	partNull
	partConditional
	partReference
	partDynamic
	partRest
)
