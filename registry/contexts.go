package registry

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
)

// ParseContextParam returns the context (".ctx") that a path segment after
// /contexts/ names: as ".ctx", "ctx" or ":.ctx:", where ":.:" and "." are the
// default context. A colon inside is an errcode.BadRequest.
func ParseContextParam(param string) (string, error) {
	name := strings.ToValidUTF8(param, "\uFFFD")
	if strings.HasPrefix(name, ":.") {
		name = strings.TrimSuffix(name[1:], ":")
	}
	if strings.Contains(name, ":") {
		return "", errcode.BadRequest.Text("Context name '" + name + "' cannot contain a colon")
	}
	if !strings.HasPrefix(name, ".") {
		name = "." + name
	}
	return name, nil
}

// QualifySubject returns subject as seen from below /contexts/{context}: a name
// that carries a context is left alone, also one with a wildcard.
func QualifySubject(context, subject string) string {
	if strings.HasPrefix(subject, ":.") || strings.HasPrefix(subject, wildcard) {
		return subject
	}
	return state.Name{Context: context, Local: subject}.String()
}

// wildcard is the prefix that stands for all contexts in searches.
const wildcard = ":*:"

// parseSubject reads a subject as it came in. Bytes that are no UTF-8 become
// replacement characters, as they would in the log.
func parseSubject(subject string) state.Name {
	return state.ParseName(strings.ToValidUTF8(subject, "\uFFFD"))
}

// resolve reads a subject and follows the alias in its config, one hop. The
// second result says that the name, or the alias' target, came without a
// context, so that some reads search for it in the others.
func resolve(v *state.View, subject string) (state.Name, bool) {
	n := parseSubject(subject)
	plain := !strings.HasPrefix(subject, ":.")
	if n.IsContext() {
		return n, false
	}
	if c := v.Config(n); c != nil && text(c.Alias) != "" {
		alias := text(c.Alias)
		return n.In(alias), plain && !strings.HasPrefix(alias, ":.")
	}
	return n, plain
}

// checkName refuses names that no schema may be registered under.
func (r *Registry) checkName(n state.Name) error {
	if err := checkSettingName(n); err != nil {
		return err
	}
	if n.Context == state.GlobalContext || n.IsContext() && (r.opt.RejectEmptySubject || n.Context == state.DefaultContext) {
		return errcode.InvalidSubject.New(n)
	}
	return nil
}

// checkSettingName refuses names that may have no config or mode.
func checkSettingName(n state.Name) error {
	if n.Local == "__GLOBAL" || n.Local == "__EMPTY" || strings.ContainsFunc(n.String(), unicode.IsControl) {
		return errcode.InvalidSubject.New(n)
	}
	return nil
}

// Contexts returns the names of the contexts that exist, "." first.
func (r *Registry) Contexts(ctx context.Context, q ContextsQuery) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names := []string{}
	for name := range r.view.Load().Contexts() {
		if strings.HasPrefix(name, q.Prefix) {
			names = append(names, name)
		}
	}
	return cut(names, q.Page, 0), nil
}

// DeleteContext takes an empty context (".ctx") off the list. Its config and
// mode stay, an unknown one is no error.
func (r *Registry) DeleteContext(ctx context.Context, name string) error {
	n := state.Name{Context: name}
	if name == state.DefaultContext {
		return errcode.MethodNotAllowed.New()
	}
	return r.write(ctx, n, func(v *state.View) (*plan, error) {
		c := v.Context(name)
		if !c.Empty() {
			return nil, errcode.ContextNotEmpty.New(n)
		}
		if !c.Declared() {
			return nil, nil
		}
		return &plan{
			relied: func(now *state.View) bool { return now.Context(name) == c },
			records: func(*state.View) ([]*store.Record, error) {
				return []*store.Record{{Kind: store.ContextKind, Context: name}}, nil
			},
		}, nil
	})
}

// others yields the names that a plain name may stand for in other contexts.
func others(v *state.View, n state.Name) iter.Seq[state.Name] {
	return func(yield func(state.Name) bool) {
		for context := range v.Contexts() {
			if context != n.Context && !yield(state.Name{Context: context, Local: n.Local}) {
				return
			}
		}
	}
}

// matches yields the subjects that a prefix selects: of all contexts after the
// wildcard, of one context if it names one, else of the default context.
func matches(v *state.View, prefix string) iter.Seq[*state.Subject] {
	return func(yield func(*state.Subject) bool) {
		prefix = strings.ToValidUTF8(prefix, "\uFFFD")
		local, all := strings.CutPrefix(prefix, wildcard)
		if all {
			for s := range v.Subjects("") {
				if strings.HasPrefix(s.Name.Local, local) && !yield(s) {
					return
				}
			}
			return
		}
		n := state.ParseName(prefix)
		for s := range v.Subjects(n.String()) {
			if s.Name.Context == n.Context && !yield(s) {
				return
			}
		}
	}
}

// Subjects returns the names of subjects.
func (r *Registry) Subjects(ctx context.Context, q SubjectsQuery) ([]string, error) {
	seq, err := r.SubjectNames(ctx, q)
	if err != nil {
		return nil, err
	}
	names := []string{}
	return slices.AppendSeq(names, seq), nil
}

// SubjectNames yields what Subjects returns, all as of the time of the call.
func (r *Registry) SubjectNames(ctx context.Context, q SubjectsQuery) (iter.Seq[string], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	prefix := wildcard
	if q.Prefix != nil {
		prefix = *q.Prefix
	}
	v := r.view.Load()
	return func(yield func(string) bool) {
		skip, left := max(q.Page.Offset, 0), q.Page.Limit
		for s := range matches(v, prefix) {
			live := s.Live() > 0
			if q.DeletedOnly && live || !q.DeletedOnly && !live && !q.Deleted {
				continue
			}
			if skip > 0 {
				skip--
				continue
			}
			if !yield(s.Name.String()) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}, nil
}

// aliasesIn returns, for each subject that an alias under the prefix redirects
// to, the aliases.
func aliasesIn(v *state.View, prefix string) map[state.Name][]string {
	found := map[state.Name][]string{}
	local, all := strings.CutPrefix(prefix, wildcard)
	n := state.ParseName(prefix)
	search := n.String()
	if all {
		search = ""
	}
	for from, target := range v.Aliases(search) {
		if all && !strings.HasPrefix(from.Local, local) || !all && from.Context != n.Context {
			continue
		}
		to := from.In(target)
		found[to] = append(found[to], from.String())
	}
	return found
}

// Schemas returns versions across subjects, by subject and version.
func (r *Registry) Schemas(ctx context.Context, q SchemasQuery) ([]api.Schema, error) {
	ties := AssociationsQuery{ResourceType: q.ResourceType, AssociationTypes: q.AssociationType, Lifecycle: q.Lifecycle}
	if err := ties.check(); err != nil {
		return nil, err
	}
	v := r.view.Load()
	subjects := matches(v, q.Prefix)
	var aliases map[state.Name][]string
	if q.Aliases {
		aliases = aliasesIn(v, q.Prefix)
		subjects = slices.Values(withTargets(v, slices.Collect(subjects), aliases))
	}
	limit := q.Page.Limit
	if limit <= 0 || limit > r.opt.Limits.SchemasPageMax {
		limit = r.opt.Limits.SchemasPageMax
	}
	skip := max(q.Page.Offset, 0)
	list := []api.Schema{}
	for s := range subjects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		associations := ties.ofSubject(v, s.Name)
		if ties.given() && len(associations) == 0 {
			continue
		}
		for version := range listed(s, q) {
			if skip > 0 {
				skip--
				continue
			}
			entry := apiSchema(version)
			entry.Aliases, entry.Associations = aliases[s.Name], associations
			if list = append(list, entry); len(list) == limit {
				return list, nil
			}
		}
	}
	return list, nil
}

// withTargets adds the subjects that aliases lead to, in order.
func withTargets(v *state.View, subjects []*state.Subject, aliases map[state.Name][]string) []*state.Subject {
	in := make(map[state.Name]bool, len(subjects))
	for _, s := range subjects {
		in[s.Name] = true
	}
	added := false
	for target := range aliases {
		if s := v.Subject(target); s != nil && !in[target] {
			subjects, added = append(subjects, s), true
		}
	}
	if added {
		slices.SortFunc(subjects, func(a, b *state.Subject) int { return state.CompareNames(a.Name, b.Name) })
	}
	return subjects
}

// listed yields the versions of a subject that a query selects, ascending.
func listed(s *state.Subject, q SchemasQuery) iter.Seq[*state.Version] {
	return func(yield func(*state.Version) bool) {
		if q.LatestOnly {
			latest := s.Latest()
			if q.Deleted {
				latest = s.Highest()
			}
			if latest != nil && hasRuleType(latest.Schema.RuleSet, q.RuleType) {
				yield(latest)
			}
			return
		}
		for version := range s.Versions() {
			if version.Deleted && !q.Deleted || !hasRuleType(version.Schema.RuleSet, q.RuleType) {
				continue
			}
			if !yield(version) {
				return
			}
		}
	}
}

// hasRuleType reports whether a rule set has a rule of the type; every one has
// the empty type.
func hasRuleType(rs *store.RuleSet, ruleType string) bool {
	if ruleType == "" {
		return true
	}
	if rs == nil {
		return false
	}
	is := func(rule store.Rule) bool { return rule.Type == ruleType }
	return slices.ContainsFunc(rs.MigrationRules, is) || slices.ContainsFunc(rs.DomainRules, is) ||
		slices.ContainsFunc(rs.EncodingRules, is)
}
