package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"milena/cmd/internal/findings"
	"milena/evolution/locate"
	"milena/serde/avro"
	"milena/serde/format"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// LintRule is one row of the table of lint rules.
type LintRule struct {
	ID       string
	Severity string // off, warning or error, unless the project says otherwise
	Doc      string // what is wanted and why
	Fix      string // {name} is what the finding is about
}

// The ids of the lint rules.
const (
	lintTypeName   = "lint/TYPE_NAME"
	lintFieldName  = "lint/FIELD_NAME"
	lintNamespace  = "lint/NAMESPACE"
	lintDoc        = "lint/DOC"
	lintNullable   = "lint/NULLABLE_DEFAULT"
	lintEnumZero   = "lint/ENUM_DEFAULT"
	lintKeyType    = "lint/KEY_TYPE"
	lintKeyFrozen  = "lint/KEY_FROZEN"
	lintReserve    = "lint/RESERVE"
	lintUnreserved = "lint/UNRESERVED"
)

// LintRules returns the table of lint rules.
func LintRules() []LintRule {
	return []LintRule{
		{lintTypeName, "warning", "Names of types are in upper camel case, as generated code wants them.", "write {name} in upper camel case, before it is in use"},
		{lintFieldName, "warning", "Names of fields are in one style: lower snake case for Protobuf, that or lower camel case elsewhere.", "write {name} as the other fields are, before it is in use"},
		{lintNamespace, "warning", "Types have a namespace or package, so that those of two teams can't be taken for each other.", "add a namespace or package"},
		{lintDoc, "off", "Types and fields say what they mean.", "add a doc, description or comment to {name}"},
		{lintNullable, "warning", "A field that may be null has the default null, so that it may be left out later.", `put "null" first and add "default": null to {name}`},
		{lintEnumZero, "warning", "An enum has a symbol that stands for those that a reader doesn't know.", `give {name} a "default" symbol; in Protobuf, a first constant of number 0 that ends in UNSPECIFIED or UNKNOWN`},
		{lintKeyType, "error", "Keys have one way to be written: no maps, floating-point numbers or unions, or equal keys land on different partitions.", "use strings, whole numbers or records of them for {name}"},
		{lintKeyFrozen, "error", "Schemas of keys (subjects that end in -key) don't change: another schema id is another key, on another partition.", "undo the change, or use a new topic"},
		{lintReserve, "error", "The numbers of removed Protobuf fields are reserved, so that nobody uses them for something else.", "add reserved {name}; to the message"},
		{lintUnreserved, "error", "Reserved numbers of Protobuf fields are not used again.", "give {name} a new number, and keep the old one reserved"},
	}
}

// SetLint checks the settings of lint rules.
func (p *Project) SetLint() error {
	for id, severity := range p.Lint {
		full := id
		if !strings.HasPrefix(id, "lint/") {
			full = "lint/" + id
		}
		i := slices.IndexFunc(LintRules(), func(r LintRule) bool { return strings.EqualFold(r.ID, full) })
		if i < 0 {
			return fmt.Errorf("lint: there is no rule %s", id)
		}
		if !slices.Contains([]string{"off", "warning", "error"}, severity) {
			return fmt.Errorf("lint: %s: %q is none of off, warning and error", id, severity)
		}
	}
	return nil
}

// severity returns the severity of a rule in a project.
func (p *Project) severity(r LintRule) string {
	for id, severity := range p.Lint {
		if strings.EqualFold(strings.TrimPrefix(id, "lint/"), strings.TrimPrefix(r.ID, "lint/")) {
			return severity
		}
	}
	return r.Severity
}

// linter lints one schema.
type linter struct {
	project *Project
	item    item
	file    string
	text    string
	doc     *locate.Doc
	out     []findings.Finding
}

// add reports a breach of a rule at a path of this text.
func (l *linter) add(rule, path, name, why string) {
	at := l.doc.Find(l.doc.Trail(path))
	if !at.Exact && strings.Trim(path, "#/") != "" {
		return // it stands in a schema that this one refers to
	}
	l.addAt(rule, path, name, why, place(l.file, at))
}

func (l *linter) addAt(rule, path, name, why string, at findings.Place) {
	i := slices.IndexFunc(LintRules(), func(r LintRule) bool { return r.ID == rule })
	row := LintRules()[i]
	severity := l.project.severity(row)
	if severity == "off" {
		return
	}
	l.out = append(l.out, findings.Finding{
		Rule: rule, Severity: findings.Severity(severity), Subject: l.item.subject, Path: path, Name: name,
		New: at, NewText: l.text, Why: why + " " + row.Doc, Fix: strings.ReplaceAll(row.Fix, "{name}", name),
	})
}

// Lint looks for what is allowed and not wise: names, docs, defaults, keys. Of
// the history, if there is one, it looks at the newest version only.
func Lint(ctx context.Context, o Options) (*findings.Report, error) {
	if err := o.Project.SetLint(); err != nil {
		return nil, err
	}
	list, err := items(o.Project, o.Reading, o.New, o.Only)
	if err != nil {
		return nil, err
	}
	lib := newLibrary(o.New, o.Reading, o.Project.Roots)
	slots := make([]slot, len(list))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range list {
		group.Go(func() error {
			var err error
			slots[i], err = lintOne(groupCtx, o, lib, list[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	report := &findings.Report{Command: "lint", Against: o.Against, Subjects: []findings.Subject{}, Findings: []findings.Finding{}}
	for _, s := range slots {
		report.Subjects = append(report.Subjects, s.subject)
		report.Findings = append(report.Findings, s.findings...)
	}
	Waive(report, o.Project, o.Today)
	return report, nil
}

func lintOne(ctx context.Context, o Options, lib *library, i item) (slot, error) {
	s := slot{subject: findings.Subject{Name: i.subject, File: o.Prefix + i.file, Outcome: "ok"}}
	text := o.New.Files[i.file]
	_, parsed, why := lib.parse(i)
	if why != nil {
		s.subject.Outcome = "invalid"
		s.findings = []findings.Finding{invalid(i, o.Prefix+i.file, text, why)}
		return s, nil
	}
	l := &linter{project: o.Project, item: i, file: o.Prefix + i.file, text: text, doc: locate.New(text, parsed)}
	switch p := parsed.(type) {
	case *avro.Schema:
		l.avro(p)
	case *jsonschema.Schema:
		l.json(p)
	case *protobuf.Schema:
		l.proto(p)
	}
	if o.History != nil {
		olds, err := o.History.Versions(ctx, i.subject, false)
		if err != nil {
			return s, fmt.Errorf("%s: %w", i.subject, err)
		}
		if len(olds) > 0 {
			l.compare(parsed, olds[len(olds)-1])
		}
	}
	s.findings = l.out
	return s, nil
}

// compare looks at what became of the newest version. One that can't be read is
// for check to report.
func (l *linter) compare(next schema.Parsed, old Old) {
	before, err := format.Parse(old.Schema)
	if err != nil {
		return
	}
	if l.isKey() && before.Canonical() != next.Canonical() {
		l.add(lintKeyFrozen, "", l.item.subject, "It differs from "+old.Label+".")
	}
	n, isProto := next.(*protobuf.Schema)
	o, wasProto := before.(*protobuf.Schema)
	if isProto && wasProto {
		l.reserved("#", n.File().Messages, o.File().Messages)
	}
}

func (l *linter) isKey() bool { return strings.HasSuffix(l.item.subject, "-key") }
