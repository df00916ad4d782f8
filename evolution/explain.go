package evolution

import (
	"context"
	"strings"

	"milena/evolution/diff"
	"milena/evolution/jsondiff"
	"milena/evolution/locate"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// Text is a schema with the text that people know it by.
type Text struct {
	Schema schema.Parsed
	// Text is what places are looked for in; empty means the canonical text.
	Text string
}

func (t Text) doc() *locate.Doc {
	if t.Text != "" {
		return locate.New(t.Text, t.Schema)
	}
	parsed := t.Schema
	if p, ok := parsed.(*protobuf.Schema); ok {
		// The places that a Protobuf schema knows are those of the text that was
		// parsed.
		if again, err := (protobuf.Parser{Lenient: true}).ParseSchema(p.Resolved()); err == nil {
			parsed = again
		}
	}
	return locate.New(t.Schema.Canonical(), parsed)
}

// Explanation is a finding for people who have to mend it.
type Explanation struct {
	// Rule is the stable id of the rule: the format and the kind of change, such
	// as "avro/TYPE_MISMATCH". Rules lists all.
	Rule string
	// Forward says that the old schema can't read data of the new one; otherwise
	// the new one can't read data of the old one.
	Forward bool
	Path    string       // as in Finding
	Name    string       // of the field, type or keyword; may be empty
	Old     locate.Place // in the old text
	New     locate.Place // in the new text
	Why     string       // in one sentence
	Fix     string       // a change of the new schema that would be compatible
	Message string       // the reference's
}

// RuleID returns the stable id of a rule of a format.
func RuleID(format schema.Type, kind diff.Kind) string {
	return strings.ToLower(string(format)) + "/" + string(kind)
}

// Rules returns the table of a format's rules, nil if there is no such format.
// The caller must not change it.
func (c *Checker) Rules(format schema.Type) []diff.Rule {
	switch format {
	case schema.Avro:
		return c.avro.Rules()
	case schema.JSON:
		return c.json.Rules()
	case schema.Protobuf:
		return c.proto.Rules()
	}
	return nil
}

// Explain explains the findings of a check of next against old: why each breaks
// readers, where it stands in both texts, and what would be compatible.
func (c *Checker) Explain(findings []Finding, next, old Text) []Explanation {
	if len(findings) == 0 {
		return nil
	}
	newDoc, oldDoc := next.doc(), old.doc()
	out := make([]Explanation, 0, len(findings))
	for _, f := range findings {
		t := texts{next: next.Schema, old: old.Schema, newDoc: newDoc, oldDoc: oldDoc, forward: f.Forward}
		out = append(out, c.explain(f, next.Schema.Type(), t))
	}
	return out
}

func (c *Checker) explain(f Finding, format schema.Type, t texts) Explanation {
	e := Explanation{Rule: RuleID(format, f.Kind), Forward: f.Forward, Path: f.Path, Message: f.Message}
	switch f.Kind {
	case TypeChanged:
		e.Why = "Data of one format can't be read with a schema of another."
		e.Fix = "keep the format, or register the new schema under another subject"
		return e
	case NotComparable:
		e.Why = f.Message
		e.Fix = "make the schema simpler, so that it can be compared"
		return e
	}
	newDoc, oldDoc, reader := t.newDoc, t.oldDoc, t.reader()
	// A path belongs to the reader, but what it lacks has a name in the writer
	// only.
	trail := reader.Trail(f.Path)
	if e.Name = reader.Name(trail); e.Name == "" || !reader.Find(trail).Exact {
		other := t.writer()
		if there := other.Trail(f.Path); format == schema.Protobuf && other.Find(there).Exact {
			trail, e.Name = there, other.Name(there)
		}
	}
	e.New, e.Old = newDoc.Find(trail), oldDoc.Find(trail)
	rule, _ := c.rule(format, f.Kind)
	t.isRoot = len(trail) == 0
	blanks := t.blanks(f, format, trail, &e, &rule)
	why, fix, words := rule.Why, rule.Fix, [2]string{"new", "old"}
	if f.Forward {
		fix, words = rule.FixForward, [2]string{"old", "new"}
		if rule.WhyForward != "" {
			why = rule.WhyForward
		}
		if rule.Breaks {
			why += named(f.Kind)
		}
	}
	name, keyword, was, is := e.Name, "", orNothing(e.Old.Value), orNothing(e.New.Value)
	if len(trail) > 0 {
		keyword = trail[len(trail)-1].Key
	}
	switch {
	case name == "" && t.isRoot:
		name = "the schema"
	case name == "":
		name = "what is at " + f.Path
	}
	if f.Kind == jsondiff.TypeChanged && format == schema.JSON {
		was, is = typeOf(oldDoc, trail, was), typeOf(newDoc, trail, is)
	}
	elsewhere := !e.Old.Exact && !e.New.Exact
	if elsewhere {
		was, is = "another one", "a new one"
	}
	fill := strings.NewReplacer(append(blanks, "{name}", name, "{keyword}", keyword, "{old}", was, "{new}", is,
		"{info}", f.Info, "{reader}", words[0], "{writer}", words[1])...)
	e.Why, e.Fix = fill.Replace(why), fill.Replace(fix)
	if elsewhere {
		e.Why += " It is at " + f.Path + ", in a schema that this one refers to or as part of another rule."
	}
	return e
}

// blanks returns what is filled in by format. It may correct the places and
// replace the rule's words.
func (t *texts) blanks(f Finding, format schema.Type, trail []locate.Step, e *Explanation, rule *diff.Rule) []string {
	switch format {
	case schema.Avro:
		return t.avro(f, e, rule)
	case schema.JSON:
		return t.json(f, trail, e, rule)
	}
	return t.proto(f, e)
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func (c *Checker) rule(format schema.Type, kind diff.Kind) (diff.Rule, bool) {
	for _, r := range c.Rules(format) {
		if r.Kind == kind {
			return r, true
		}
	}
	return diff.Rule{}, false
}

// Difference is one change between two schemas, harmless ones included, for
// people.
type Difference struct {
	Explanation
	Breaks bool // the reader can't read all data of the writer
}

// Differences lists what differs between two schemas as far as it matters to
// who reads data of old with next or, forward, data of next with old. It is
// Changes, explained. The error is the context's.
func (c *Checker) Differences(ctx context.Context, policy Policy, next, old Text, forward bool) ([]Difference, error) {
	reader, writer, words := next.Schema, old.Schema, [2]string{"new", "old"}
	if forward {
		reader, writer, words = old.Schema, next.Schema, [2]string{"old", "new"}
	}
	changes, err := c.Changes(ctx, policy, reader, writer, words[0], words[1])
	if err != nil {
		return nil, err
	}
	findings := make([]Finding, 0, len(changes))
	for _, ch := range changes {
		findings = append(findings, Finding{Kind: ch.Kind, Path: ch.Path, Message: ch.Description, Info: ch.Info, Forward: forward})
	}
	out := make([]Difference, 0, len(changes))
	for i, e := range c.Explain(findings, next, old) {
		out = append(out, Difference{Explanation: e, Breaks: changes[i].Breaks})
	}
	return out, nil
}
