package registry

import (
	"context"
	"slices"

	"milena/registry/api"
	"milena/registry/store"
)

// anyNextVersion is a version that asks for the next number and is recorded as
// such.
const anyNextVersion = -2

// ModifyTags registers the next version of a subject, made of one that is there
// with changed tags, metadata or rules. It makes a version also if nothing
// changes.
func (r *Registry) ModifyTags(ctx context.Context, subject, version string, req api.TagsRequest) (api.RegisterResponse, error) {
	for _, rs := range []*api.RuleSet{req.RuleSet, req.RulesToMerge} {
		if err := checkRuleSet(rs); err != nil {
			return api.RegisterResponse{}, err
		}
	}
	v := r.view.Load()
	found, err := r.version(v, subject, version, false)
	if err != nil {
		return api.RegisterResponse{}, err
	}
	s := found.Schema
	next := api.RegisterRequest{
		SchemaType:         &s.Type,
		Schema:             &s.Text,
		References:         apiReferences(s.References),
		Metadata:           apiMetadata(s.Metadata),
		RuleSet:            apiRuleSet(changeRules(s.RuleSet, &req)),
		SchemaTagsToAdd:    req.TagsToAdd,
		SchemaTagsToRemove: req.TagsToRemove,
		Version:            req.NewVersion,
	}
	if req.Metadata != nil {
		next.Metadata = req.Metadata
	}
	if next.Version == nil || *next.Version == 0 {
		number := anyNextVersion
		next.Version = &number
	}
	return r.Register(ctx, subject, next, RegisterOptions{})
}

// changeRules returns the rule set that a tags request makes of another.
func changeRules(rs *store.RuleSet, req *api.TagsRequest) *store.RuleSet {
	if req.RuleSet != nil {
		rs = storeRuleSet(req.RuleSet)
	}
	rs = mergeRuleSets(rs, storeRuleSet(req.RulesToMerge))
	if rs == nil || len(req.RulesToRemove) == 0 {
		return rs
	}
	keep := func(rules []store.Rule) []store.Rule {
		return slices.DeleteFunc(slices.Clone(rules), func(rule store.Rule) bool {
			return slices.Contains(req.RulesToRemove, rule.Name)
		})
	}
	return &store.RuleSet{
		MigrationRules: keep(rs.MigrationRules),
		DomainRules:    keep(rs.DomainRules),
		EncodingRules:  keep(rs.EncodingRules),
		EnableAt:       rs.EnableAt,
	}
}
