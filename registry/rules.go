package registry

import (
	"maps"
	"slices"

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
