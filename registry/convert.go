package registry

import (
	"milena/registry/api"
	"milena/registry/store"
)

// The bodies of the API and the records of the log have parts of the same form,
// as two packages that must not know each other. Here one becomes the other.

func storeReferences(in []api.Reference) []store.Reference {
	if len(in) == 0 {
		return nil
	}
	out := make([]store.Reference, len(in))
	for i, r := range in {
		out[i] = store.Reference(r)
	}
	return out
}

func apiReferences(in []store.Reference) []api.Reference {
	if len(in) == 0 {
		return nil
	}
	out := make([]api.Reference, len(in))
	for i, r := range in {
		out[i] = api.Reference(r)
	}
	return out
}

func storeMetadata(m *api.Metadata) *store.Metadata { return (*store.Metadata)(m) }

func apiMetadata(m *store.Metadata) *api.Metadata { return (*api.Metadata)(m) }

func storeRules(in []api.Rule) []store.Rule {
	if len(in) == 0 {
		return nil
	}
	out := make([]store.Rule, len(in))
	for i, r := range in {
		out[i] = store.Rule{
			Name: r.Name, Doc: r.Doc, Kind: r.Kind, Mode: r.Mode, Type: r.Type, Tags: r.Tags, Params: r.Params,
			Expr: r.Expr, OnSuccess: r.OnSuccess, OnFailure: r.OnFailure, Disabled: r.Disabled,
		}
	}
	return out
}

func apiRules(in []store.Rule) []api.Rule {
	if len(in) == 0 {
		return nil
	}
	out := make([]api.Rule, len(in))
	for i, r := range in {
		out[i] = api.Rule{
			Name: r.Name, Doc: r.Doc, Kind: r.Kind, Mode: r.Mode, Type: r.Type, Tags: r.Tags, Params: r.Params,
			Expr: r.Expr, OnSuccess: r.OnSuccess, OnFailure: r.OnFailure, Disabled: r.Disabled,
			// What is stored was checked, or came with an import, which may be odd.
			EmptyType: r.Type == "",
		}
	}
	return out
}

func storeRuleSet(r *api.RuleSet) *store.RuleSet {
	if r == nil {
		return nil
	}
	return &store.RuleSet{
		MigrationRules: storeRules(r.MigrationRules),
		DomainRules:    storeRules(r.DomainRules),
		EncodingRules:  storeRules(r.EncodingRules),
		EnableAt:       r.EnableAt,
	}
}

func apiRuleSet(r *store.RuleSet) *api.RuleSet {
	if r == nil {
		return nil
	}
	return &api.RuleSet{
		MigrationRules: apiRules(r.MigrationRules),
		DomainRules:    apiRules(r.DomainRules),
		EncodingRules:  apiRules(r.EncodingRules),
		EnableAt:       r.EnableAt,
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
