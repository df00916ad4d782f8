package registry

import (
	"maps"
	"slices"
	"strings"

	"milena/registry/errcode"
	"milena/registry/store"
)

// mergeMetadata returns a with b over it, key by key. Tags are replaced per
// path, sensitive names are united.
func mergeMetadata(a, b *store.Metadata) *store.Metadata {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	out := &store.Metadata{
		Tags:       mergeMap(a.Tags, b.Tags),
		Properties: mergeMap(a.Properties, b.Properties),
		Sensitive:  append(slices.Clone(a.Sensitive), b.Sensitive...),
	}
	slices.Sort(out.Sensitive)
	out.Sensitive = slices.Compact(out.Sensitive)
	return out
}

func mergeMap[V any](a, b map[string]V) map[string]V {
	if len(b) == 0 {
		return a
	}
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// withProperty returns m with a property set.
func withProperty(m *store.Metadata, key, value string) *store.Metadata {
	return mergeMetadata(m, &store.Metadata{Properties: map[string]string{key: value}})
}

// mergeRuleSets returns a with b over it, rule by rule of one name; rules of b
// come after those of a that stay.
func mergeRuleSets(a, b *store.RuleSet) *store.RuleSet {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	out := &store.RuleSet{
		MigrationRules: mergeRules(a.MigrationRules, b.MigrationRules),
		DomainRules:    mergeRules(a.DomainRules, b.DomainRules),
		EncodingRules:  mergeRules(a.EncodingRules, b.EncodingRules),
		EnableAt:       a.EnableAt,
	}
	if b.EnableAt != "" {
		out.EnableAt = b.EnableAt
	}
	return out
}

func mergeRules(a, b []store.Rule) []store.Rule {
	if len(b) == 0 {
		return a
	}
	replaced := make(map[string]bool, len(b))
	for _, rule := range b {
		replaced[rule.Name] = true
	}
	var out []store.Rule
	for _, rule := range a {
		if !replaced[rule.Name] {
			out = append(out, rule)
		}
	}
	return append(out, b...)
}

// checkRuleSet refuses rule sets that break the rules about rules.
func checkRuleSet(rs *store.RuleSet) error {
	if rs == nil {
		return nil
	}
	names := map[string]bool{}
	for _, phase := range []struct {
		rules   []store.Rule
		modes   []string
		message string
	}{
		{rs.MigrationRules, []string{"UPGRADE", "DOWNGRADE", "UPDOWN"}, "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"},
		{rs.DomainRules, []string{"WRITE", "READ", "WRITEREAD"}, "Domain rules can only be WRITE, READ, WRITEREAD"},
		{rs.EncodingRules, []string{"WRITE", "READ", "WRITEREAD"}, "Encoding rules can only be WRITE, READ, WRITEREAD"},
	} {
		for i := range phase.rules {
			rule := &phase.rules[i]
			if names[rule.Name] {
				return errcode.InvalidRuleSet.New("Found rule with duplicate name '" + rule.Name + "'")
			}
			names[rule.Name] = true
			if problem := checkRule(rule); problem != "" {
				return errcode.InvalidRuleSet.New(problem)
			}
			if !slices.Contains(phase.modes, rule.Mode) {
				return errcode.InvalidRuleSet.New(phase.message)
			}
		}
	}
	return nil
}

// ruleNameBytesMax is the length that rule names may have.
const ruleNameBytesMax = 256

func checkRule(rule *store.Rule) string {
	switch name := rule.Name; {
	case name == "":
		return "Missing rule name"
	case len(name) > ruleNameBytesMax:
		return "Rule name too long"
	case !isLetter(name[0]):
		return "Illegal initial character in rule name: " + name
	case strings.ContainsFunc(name, func(r rune) bool {
		return r > 0x7F || !isLetter(byte(r)) && (r < '0' || r > '9') && r != '-'
	}):
		return "Illegal character in rule name: " + name
	case rule.Type == "":
		return "Missing rule type"
	}
	twoWays := rule.Mode == "WRITEREAD" || rule.Mode == "UPDOWN"
	if !twoWays && (strings.Contains(rule.OnSuccess, ",") || strings.Contains(rule.OnFailure, ",")) {
		return "Multiple actions only valid with WRITEREAD and UPDOWN"
	}
	return ""
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
