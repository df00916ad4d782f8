package diff

import (
	"fmt"
	"strings"
)

// Kind names one kind of change. The text is that of the reference's verbose
// answers: clients match on it.
type Kind string

// Rule is one row of a format's table of change kinds.
type Rule struct {
	Kind    Kind
	Breaks  bool // a reader with the new schema can't read data of the old one
	Lenient bool // it still breaks under the lenient policy
	// Where says what the path of such a change points at.
	Where string
	// Message describes the change. {path}, {info}, {reader} and {writer} are
	// replaced by the change's path and information and by what the two sides
	// are called.
	Message string
	// Source is the specification's section or the observed behaviour.
	Source string
	// Why says in one sentence why such a change breaks readers, or why it does
	// not. Why and the fixes may name {name} (the field or type), {keyword} (the
	// last step of the path), {old} and {new} (what stands there), {info}, {reader}
	// and {writer}, and what the explanations of single kinds fill in beside these.
	Why string
	// WhyForward is Why where the old schema is the reader; empty means the same.
	WhyForward string
	// Fix is a change of the new schema that makes it read data of the old one
	// again. Rules that break nothing have none.
	Fix string
	// FixForward is a change of the new schema after which the old one reads its
	// data again: then the old schema is the reader.
	FixForward string
}

// Advice fills the columns Why, Fix, FixForward and WhyForward, in this order.
type Advice [4]string

// Advise returns rules with the columns of advice filled in by kind. Rules that
// break nothing and have no advice of their own get the sentence harmless.
func Advise(rules []Rule, advice map[Kind]Advice, harmless string) []Rule {
	for i := range rules {
		r := &rules[i]
		if a, ok := advice[r.Kind]; ok {
			r.Why, r.Fix, r.FixForward, r.WhyForward = a[0], a[1], a[2], a[3]
		} else if !r.Breaks {
			r.Why = harmless
		}
	}
	return rules
}

// Change is one difference between two schemas, as the reading side sees it.
type Change struct {
	Kind Kind
	Path string // JSON pointer into the reader's schema
	Info string // the rest of what the reference tells, by kind
}

// Table finds rules by kind. It is immutable.
type Table struct {
	rules []Rule
	at    map[Kind]int
}

// NewTable returns the table of rules. A kind that occurs twice, a rule that
// is stricter when lenient, or a row without text is an error.
func NewTable(rules []Rule) (*Table, error) {
	t := &Table{rules: rules, at: make(map[Kind]int, len(rules))}
	for i, r := range rules {
		if _, twice := t.at[r.Kind]; twice {
			return nil, fmt.Errorf("rule %s stands twice", r.Kind)
		}
		if r.Lenient && !r.Breaks {
			return nil, fmt.Errorf("rule %s breaks only under the lenient policy", r.Kind)
		}
		if r.Where == "" || r.Message == "" || r.Source == "" {
			return nil, fmt.Errorf("rule %s lacks a text", r.Kind)
		}
		t.at[r.Kind] = i
	}
	return t, nil
}

// Rules returns the rows in their order. The caller must not change them.
func (t *Table) Rules() []Rule { return t.rules }

// Rule returns the row of a kind, and whether there is one.
func (t *Table) Rule(k Kind) (Rule, bool) {
	i, ok := t.at[k]
	if !ok {
		return Rule{}, false
	}
	return t.rules[i], true
}

// Breaks reports whether a change of kind k breaks readers. A kind without a
// row does.
func (t *Table) Breaks(k Kind, lenient bool) bool {
	r, ok := t.Rule(k)
	if !ok {
		return true
	}
	if lenient {
		return r.Lenient
	}
	return r.Breaks
}

// AnyBreaks reports whether one of the changes breaks readers.
func (t *Table) AnyBreaks(changes []Change, lenient bool) bool {
	for _, c := range changes {
		if t.Breaks(c.Kind, lenient) {
			return true
		}
	}
	return false
}

// Describe returns the rule's message for c. Reader and writer are what the
// two sides are called, "new" and "old" or the other way round.
func (t *Table) Describe(c Change, reader, writer string) string {
	r, ok := t.Rule(c.Kind)
	if !ok {
		return ""
	}
	return strings.NewReplacer("{path}", c.Path, "{info}", c.Info, "{reader}", reader, "{writer}", writer).Replace(r.Message)
}
