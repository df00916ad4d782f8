package registry

import (
	"maps"
	"strings"

	"milena/registry/store"
)

// The parameters of rules that encrypt.
const (
	paramKmsKeyID = "encrypt.kms.key.id"
	paramKmsType  = "encrypt.kms.type"
	paramKekName  = "encrypt.kek.name"
)

// withKeyParams returns a rule set in which domain rules that name a key of a
// key management service have the parameters that follow from it: the name of
// the key in the DEK registry, and for keys of AWS the type of the service.
// Parameters that are there stay. It returns rs itself if nothing is missing.
func withKeyParams(rs *store.RuleSet) *store.RuleSet {
	if rs == nil {
		return nil
	}
	var rules []store.Rule // nil until one changes
	for i := range rs.DomainRules {
		params := keyParams(rs.DomainRules[i].Params)
		if params == nil {
			continue
		}
		if rules == nil {
			rules = append(rules, rs.DomainRules...)
		}
		rules[i].Params = params
	}
	if rules == nil {
		return rs
	}
	out := *rs
	out.DomainRules = rules
	return &out
}

// keyParams returns the parameters of a rule with those that follow, or nil if
// none does.
func keyParams(params map[string]string) map[string]string {
	id := params[paramKmsKeyID]
	if id == "" {
		return nil
	}
	arn, isAWS := strings.CutPrefix(id, "arn:")
	_, hasName := params[paramKekName]
	_, hasType := params[paramKmsType]
	if hasName && (hasType || !isAWS) {
		return nil
	}
	out := maps.Clone(params)
	if !hasName {
		out[paramKekName] = strings.Map(nameChar, arn)
	}
	if !hasType && isAWS {
		out[paramKmsType] = "aws-kms"
	}
	return out
}

// nameChar returns what stands for a character of a key's id in its name.
func nameChar(c rune) rune {
	if c < 0x80 && (isLetter(byte(c)) || c >= '0' && c <= '9' || c == '-') {
		return c
	}
	return '-'
}
