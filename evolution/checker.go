package evolution

import (
	"context"
	"errors"
	"fmt"

	"milena/evolution/avrodiff"
	"milena/evolution/diff"
	"milena/evolution/jsondiff"
	"milena/evolution/protodiff"
	"milena/serde/schema"
)

// Kinds of findings that no format's table holds.
const (
	// TypeChanged means that an older version has another format.
	TypeChanged diff.Kind = "SCHEMA_TYPE_CHANGED"
	// NotComparable means that the comparison could not be done.
	NotComparable diff.Kind = "NOT_COMPARABLE"
)

// Options set up a Checker. The zero value is usable.
type Options struct {
	Limits diff.Limits // of each comparison of two schemas
}

// Checker checks schemas against older versions.
type Checker struct {
	limits diff.Limits
	avro   *diff.Table
	json   *diff.Table
	proto  *diff.Table
}

// New returns a Checker. It fails only if a table of rules is not sound.
func New(o Options) (*Checker, error) {
	c := &Checker{limits: o.Limits}
	var err error
	if c.avro, err = diff.NewTable(avrodiff.Rules()); err != nil {
		return nil, fmt.Errorf("avro rules: %w", err)
	}
	if c.json, err = diff.NewTable(jsondiff.Rules()); err != nil {
		return nil, fmt.Errorf("json rules: %w", err)
	}
	if c.proto, err = diff.NewTable(protodiff.Rules()); err != nil {
		return nil, fmt.Errorf("protobuf rules: %w", err)
	}
	return c, nil
}

// Finding is one reason why schemas are incompatible.
type Finding struct {
	Kind    diff.Kind
	Path    string // into the reading schema; empty if the finding has no place
	Message string // as the reference words it in verbose answers
	Info    string // the rest of what is known of it, by kind
	Forward bool   // the old schema is the reader
}

// Result is the answer of a check.
type Result struct {
	// Compatible is the verdict; then the rest is empty.
	Compatible bool
	// Findings are the reasons, in the reference's order. A check stops at the
	// first version that fails, newest first.
	Findings []Finding
	// Old is the index of the version that failed, in the list that Check was
	// given.
	Old int
	// NamesOld says that the reference names the failing version and its text
	// after the findings.
	NamesOld bool
	// OldText is the canonical text of that version.
	OldText string
	// Level is the level that was checked.
	Level Level
}

// oldTextMax is from which length on messages cut the older schema's text, in
// bytes; the reference counts characters.
const oldTextMax = 10 << 10

// Messages returns the list of messages of a verbose answer: the findings,
// then version and text of the older schema where the reference names them
// (version only if it is above zero), and the settings. It is empty if
// compatible.
func (r Result) Messages(version int, validateFields bool) []string {
	if r.Compatible {
		return nil
	}
	out := make([]string, 0, len(r.Findings)+3)
	for _, f := range r.Findings {
		out = append(out, f.Message)
	}
	if r.NamesOld {
		if version > 0 {
			out = append(out, fmt.Sprintf("{oldSchemaVersion: %d}", version))
		}
		out = append(out, oldSchemaMessage(r.OldText))
	}
	return append(out, fmt.Sprintf("{validateFields: '%t', compatibility: '%s'}", validateFields, r.Level))
}

func oldSchemaMessage(text string) string {
	if len(text) <= oldTextMax {
		return "{oldSchema: '" + text + "'}"
	}
	chars := 0
	for i := range text {
		if chars == oldTextMax {
			return "{oldSchema: <truncated> '" + text[:i] + "...'}"
		}
		chars++
	}
	return "{oldSchema: '" + text + "'}"
}

// Check reports whether next may follow old at the level under the strict
// policy. Old holds the versions to compare with, oldest first; levels that are
// not transitive look at the last one only. The error is the context's,
// wrapped.
func (c *Checker) Check(ctx context.Context, level Level, next schema.Parsed, old []schema.Parsed) (Result, error) {
	return c.CheckPolicy(ctx, level, Strict, next, old)
}

// CheckPolicy is Check under a policy.
func (c *Checker) CheckPolicy(ctx context.Context, level Level, policy Policy, next schema.Parsed, old []schema.Parsed) (Result, error) {
	level = level.valid()
	l := levels[level]
	first := len(old) - 1
	if l.all {
		first = 0
	}
	if !l.back && !l.fore {
		first = len(old)
	}
	for i := len(old) - 1; i >= max(first, 0); i-- {
		findings, names, err := c.pair(ctx, level, policy, next, old[i])
		if err != nil {
			return Result{}, fmt.Errorf("check compatibility: %w", err)
		}
		if len(findings) > 0 {
			return Result{Findings: findings, Old: i, NamesOld: names, OldText: old[i].Canonical(), Level: level}, nil
		}
	}
	return Result{Compatible: true, Level: level}, nil
}

// pair compares with one version in the directions that the level asks for.
// The forward list comes first; the version is named after the last list if
// that one is not empty.
func (c *Checker) pair(ctx context.Context, level Level, policy Policy, next, old schema.Parsed) ([]Finding, bool, error) {
	if next.Type() != old.Type() {
		return []Finding{{Kind: TypeChanged, Message: "Incompatible because of different schema type"}}, false, nil
	}
	l := levels[level]
	var findings []Finding
	names := false
	if l.fore {
		f, err := c.reads(ctx, policy, old, next, "old", "new")
		if err != nil {
			return nil, false, err
		}
		for i := range f {
			f[i].Forward = true
		}
		findings, names = f, len(f) > 0
	}
	if l.back {
		f, err := c.reads(ctx, policy, next, old, "new", "old")
		if err != nil {
			return nil, false, err
		}
		findings, names = append(findings, f...), len(f) > 0
	}
	return findings, names, nil
}

// messagesBytesMax bounds the messages about one pair of schemas together: each
// may quote a name or symbols of the length of a whole text. What comes later is
// dropped; one message is always told.
const messagesBytesMax = 8 << 20

// reads lists what keeps reader from reading data of writer; the words are
// what messages call the two.
func (c *Checker) reads(ctx context.Context, policy Policy, reader, writer schema.Parsed, readerWord, writerWord string) ([]Finding, error) {
	cmp, err := c.compare(ctx, policy, reader, writer)
	var cannot *notComparableError
	switch {
	case errors.As(err, &cannot):
		return []Finding{{Kind: NotComparable, Message: cannot.message}}, nil
	case err != nil:
		return nil, err
	}
	var out []Finding
	bytes := 0
	for _, ch := range cmp.changes {
		if !cmp.table.Breaks(ch.Kind, cmp.lenient) {
			continue
		}
		if bytes += len(ch.Path) + len(ch.Info); bytes > messagesBytesMax && len(out) > 0 {
			break
		}
		out = append(out, Finding{
			Kind: ch.Kind, Path: ch.Path, Info: ch.Info,
			Message: cmp.message(ch.Kind, cmp.table.Describe(ch, readerWord, writerWord), ch.Info),
		})
	}
	return out, nil
}
