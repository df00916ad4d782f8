package registry

import (
	"slices"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
)

// checkRuleSet refuses rule sets that break the rules about rules.
func checkRuleSet(rs *api.RuleSet) error {
	if rs == nil {
		return nil
	}
	names := map[string]bool{}
	for _, phase := range []struct {
		rules   []api.Rule
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

func checkRule(rule *api.Rule) string {
	switch name := rule.Name; {
	case name == "" && rule.EmptyName:
		return "Empty rule name"
	case name == "":
		return "Missing rule name"
	case len(name) > ruleNameBytesMax:
		return "Rule name too long"
	case !isLetter(name[0]):
		return "Illegal initial character in rule name: " + name
	case !isName(name):
		return "Illegal character in rule name: " + name
	case rule.Type == "" && !rule.EmptyType:
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

// isName reports whether a name of a rule or key has letters, digits, "_" and
// "-" only, and begins with a letter or "_".
func isName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return name != ""
}
