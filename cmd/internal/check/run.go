package check

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"milena/cmd/internal/findings"
	"milena/evolution"
	"milena/evolution/locate"
	"milena/serde/format"
	"milena/serde/schema"
)

// Rules of findings that no table of evolution holds.
const (
	// RuleInvalid means that a schema can't be parsed.
	RuleInvalid = "schema/INVALID"
	// RuleOldInvalid means that the older version can't be parsed.
	RuleOldInvalid = "schema/OLD_INVALID"
	// RuleSubjectTwice means that two files are of one subject.
	RuleSubjectTwice = "schema/SUBJECT_TWICE"
)

// workers is how many subjects are checked at the same time.
const workers = 8

// Old is an older version of a schema.
type Old struct {
	Label  string // such as "version 3" or "main:orders.avsc"
	Schema schema.Resolved
}

// History has the older versions of subjects. Its methods are called
// concurrently.
type History interface {
	// Versions returns older versions, oldest first: all of them, or at least the
	// newest one. A subject that has none is not an error.
	Versions(ctx context.Context, subject string, all bool) ([]Old, error)
	// Settings returns level and policy of a subject, "" if it has none.
	Settings(ctx context.Context, subject string) (level, policy string, err error)
}

// Options say what is checked against what.
type Options struct {
	Project *Project
	Reading Reading
	New     *Tree
	// Prefix stands before the names of New's files in reports, so that they can
	// be found from where the caller is.
	Prefix string
	// Only are the files to check, nil for all of the tree.
	Only    []string
	History History // nil if there is none
	Level   string  // overrides all others, if not empty
	Policy  string
	Against string // what reports call the history
	Today   time.Time
}

// item is one file with what is known of it.
type item struct {
	file    string
	subject string
	rule    *SubjectRule
	format  schema.Type
}

// items lists the schemas of a tree: files whose format is told by settings,
// name or text. Plain JSON files count if they say that they are schemas.
func items(p *Project, r Reading, t *Tree, only []string) ([]item, error) {
	names := t.Names()
	if only != nil {
		names = only
	}
	var out []item
	for _, file := range names {
		if skip, err := p.ignored(file); err != nil || skip && only == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		subject, rule := p.Subject(file)
		i := item{file: file, subject: subject, rule: rule}
		switch told, err := r.Tell(file, t.Files[file]); {
		case rule != nil && rule.Format != "":
			i.format = schema.Type(strings.ToUpper(rule.Format))
		case err != nil && only == nil && rule == nil:
			continue
		case err != nil:
			return nil, err
		case rule == nil && only == nil && plainJSON(file) && !strings.Contains(t.Files[file], `"$schema"`):
			continue
		default:
			i.format = told
		}
		out = append(out, i)
	}
	return out, nil
}

func plainJSON(file string) bool {
	return strings.EqualFold(path.Ext(file), ".json") && !strings.HasSuffix(strings.ToLower(file), ".schema.json")
}

// runner is one run. Its fields don't change while it runs.
type runner struct {
	o       Options
	checker *evolution.Checker
	library *library
}

// slot is what comes of one item.
type slot struct {
	subject  findings.Subject
	findings []findings.Finding
}

// Run checks all schemas. The error is one of files or the history; what is
// wrong with schemas is in the report.
func Run(ctx context.Context, o Options) (*findings.Report, error) {
	checker, err := evolution.New(evolution.Options{})
	if err != nil {
		return nil, err
	}
	list, err := items(o.Project, o.Reading, o.New, o.Only)
	if err != nil {
		return nil, err
	}
	r := &runner{o: o, checker: checker, library: newLibrary(o.New, o.Reading, o.Project.Roots)}
	slots := make([]slot, len(list))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range list {
		group.Go(func() error {
			var err error
			slots[i], err = r.check(groupCtx, list[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	report := &findings.Report{Command: "check", Against: o.Against, Subjects: []findings.Subject{}, Findings: []findings.Finding{}}
	first := map[string]string{}
	for i, s := range slots {
		if other, twice := first[list[i].subject]; twice {
			s.findings = append(s.findings, findings.Finding{
				Rule: RuleSubjectTwice, Severity: findings.Error, Subject: list[i].subject, New: findings.Place{File: o.Prefix + list[i].file},
				Why: fmt.Sprintf("%s is of subject %s as well.", o.Prefix+other, list[i].subject),
				Fix: "give the files subjects of their own in " + ProjectFile,
			})
		} else {
			first[list[i].subject] = list[i].file
		}
		report.Subjects = append(report.Subjects, s.subject)
		report.Findings = append(report.Findings, s.findings...)
	}
	Waive(report, o.Project, o.Today)
	return report, nil
}

// check checks one schema.
func (r *runner) check(ctx context.Context, i item) (slot, error) {
	s := slot{subject: findings.Subject{Name: i.subject, File: r.o.Prefix + i.file, Outcome: "compatible"}}
	text := r.o.New.Files[i.file]
	resolved, parsed, why := r.library.parse(i)
	if why != nil {
		s.subject.Outcome = "invalid"
		s.findings = []findings.Finding{invalid(i, r.o.Prefix+i.file, text, why)}
		return s, nil
	}
	level, policy, err := r.settings(ctx, i)
	if err != nil {
		return s, fmt.Errorf("%s: %w", i.subject, err)
	}
	s.subject.Level = level.String()
	if r.o.History == nil || level == evolution.None {
		return s, nil
	}
	olds, err := r.o.History.Versions(ctx, i.subject, level.Transitive())
	if err != nil {
		return s, fmt.Errorf("%s: %w", i.subject, err)
	}
	if len(olds) == 0 {
		s.subject.Outcome = "new"
		return s, nil
	}
	if !level.Transitive() {
		olds = olds[len(olds)-1:]
	}
	versions := make([]schema.Parsed, 0, len(olds))
	key := resolved.Key()
	for n, old := range olds {
		if old.Schema.Key() == key {
			s.subject.Versions = append(s.subject.Versions, old.Label)
			continue // nothing differs from itself
		}
		p, err := format.Parse(old.Schema)
		if err != nil {
			f := invalid(i, r.o.Prefix+i.file, text, err)
			f.Rule, f.Version, f.New.Line = RuleOldInvalid, old.Label, 0
			f.Why = fmt.Sprintf("%s can't be read, so nothing can be compared with it: %s.", old.Label, strings.TrimSuffix(err.Error(), "."))
			f.Fix = "compare with a version that can be read"
			s.subject.Outcome, s.findings = "invalid", append(s.findings, f)
			continue
		}
		olds[len(versions)] = olds[n]
		versions = append(versions, p)
		s.subject.Versions = append(s.subject.Versions, old.Label)
	}
	result, err := r.checker.CheckPolicy(ctx, level, policy, parsed, versions)
	if err != nil {
		return s, err
	}
	if !result.Compatible {
		s.subject.Outcome = "incompatible"
		old := olds[result.Old]
		all := r.checker.Explain(result.Findings, evolution.Text{Schema: parsed, Text: text}, evolution.Text{Schema: versions[result.Old], Text: old.Schema.Text})
		for _, e := range all {
			s.findings = append(s.findings, r.finding(i, e, level, old))
		}
	}
	return s, nil
}

func (r *runner) finding(i item, e evolution.Explanation, level evolution.Level, old Old) findings.Finding {
	direction := "BACKWARD"
	if e.Forward {
		direction = "FORWARD"
	}
	return findings.Finding{
		Rule: e.Rule, Severity: findings.Error, Subject: i.subject, Level: level.String(), Direction: direction,
		Version: old.Label, Path: e.Path, Name: e.Name, Why: e.Why, Fix: e.Fix, Message: e.Message,
		New: place(r.o.Prefix+i.file, e.New), Old: place(old.Label, e.Old),
		NewText: r.o.New.Files[i.file], OldText: old.Schema.Text,
	}
}

func place(file string, p locate.Place) findings.Place {
	return findings.Place{File: file, Line: p.Line, Column: p.Column, Value: p.Value}
}

// parse parses a file of the tree with what it refers to.
func (l *library) parse(i item) (schema.Resolved, schema.Parsed, error) {
	resolved, err := l.resolve(i.file, i.format)
	if err != nil {
		return resolved, nil, err
	}
	p, err := format.Parse(resolved)
	return resolved, p, err
}

func invalid(i item, file, text string, err error) findings.Finding {
	f := findings.Finding{
		Rule: RuleInvalid, Severity: findings.Error, Subject: i.subject, New: findings.Place{File: file}, NewText: text,
		Why: fmt.Sprintf("It is no %s schema: %s.", i.format, strings.TrimSuffix(err.Error(), ".")), Fix: "correct the schema",
	}
	var at *schema.ParseError
	if errors.As(err, &at) && at.Line > 0 && !strings.HasPrefix(at.Path, "reference ") {
		f.New.Line, f.New.Column, f.Path = at.Line, max(at.Column, 1), at.Path
		f.New.Value = "" // what stands there is in the frame
		if lines := strings.Split(text, "\n"); at.Line <= len(lines) {
			f.New.Value = locate.Brief(lines[at.Line-1])
		}
	}
	return f
}

// settings returns level and policy of a schema: of the command line, of the
// file's rule, of the history, of the project.
func (r *runner) settings(ctx context.Context, i item) (evolution.Level, evolution.Policy, error) {
	level, policy := r.o.Level, r.o.Policy
	if i.rule != nil {
		level, policy = first(level, i.rule.Level), first(policy, i.rule.Policy)
	}
	if r.o.History != nil && (level == "" || policy == "") {
		l, p, err := r.o.History.Settings(ctx, i.subject)
		if err != nil {
			return 0, 0, err
		}
		level, policy = first(level, l), first(policy, p)
	}
	level, policy = first(level, r.o.Project.Level, evolution.Backward.String()), first(policy, r.o.Project.Policy)
	l, ok := evolution.ParseLevel(level)
	if !ok {
		return 0, 0, fmt.Errorf("%q is no compatibility level", level)
	}
	p, ok := evolution.ParsePolicy(policy)
	if !ok {
		return 0, 0, fmt.Errorf("%q is neither STRICT nor LENIENT", policy)
	}
	return l, p, nil
}

func first(values ...string) string {
	i := slices.IndexFunc(values, func(v string) bool { return v != "" })
	if i < 0 {
		return ""
	}
	return values[i]
}

// Waive marks the findings that a project waives, and notes waivers that have
// ended or are no longer needed. Today is in UTC.
func Waive(report *findings.Report, p *Project, today time.Time) {
	used := map[*WaiverRule]bool{}
	for i := range report.Findings {
		f := &report.Findings[i]
		w, ended := p.waive(f.Subject, f.Rule, f.Path, today)
		if w == nil {
			continue
		}
		if !used[w] && ended {
			report.Notes = append(report.Notes, fmt.Sprintf("the waiver of %s for %s ended on %s (%s)", w.Rule, w.Subject, w.Expires, w.Reason))
		}
		used[w] = true
		if !ended {
			f.Waiver = &findings.Waiver{Reason: w.Reason, Expires: w.Expires}
		}
	}
	for i := range p.Waivers {
		if w := &p.Waivers[i]; !used[w] && (report.Command == "lint") == strings.HasPrefix(w.Rule, "lint/") {
			report.Notes = append(report.Notes, fmt.Sprintf("the waiver of %s for %s is not needed", w.Rule, w.Subject))
		}
	}
	for i := range report.Subjects {
		s := &report.Subjects[i]
		counts := slices.ContainsFunc(report.Findings, func(f findings.Finding) bool { return f.Subject == s.Name && f.Counts() })
		if s.Outcome == "incompatible" && !counts {
			s.Outcome = "waived"
		}
	}
}
