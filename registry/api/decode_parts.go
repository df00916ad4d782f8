package api

import (
	"fmt"
	"slices"
	"strings"
)

// The enumerations, case sensitive, in the order in which messages list them.
func ruleKinds() []string { return []string{"CONDITION", "TRANSFORM"} }

func ruleModes() []string {
	return []string{"DOWNGRADE", "READ", "UPGRADE", "UPDOWN", "WRITE", "WRITEREAD"}
}

func enableAts() []string { return []string{"NONE", "ALL", "SERVER", "GATEWAY", "CLIENT"} }

func entityTypes() []string { return []string{"sr_record", "sr_field"} }

// enum reads a word out of a fixed set; absent and null give fallback.
func (d *decoder) enum(v any, fallback, what string, words []string) string {
	s := d.text(v)
	if s == nil {
		return fallback
	}
	if !slices.Contains(words, *s) {
		d.fail(&DecodeError{fmt.Sprintf("Cannot deserialize value of type `%s` from String %q: not one of the values accepted for Enum class: [%s]",
			what, *s, strings.Join(words, ", "))})
	}
	return *s
}

func (d *decoder) references(v any) []Reference {
	return list(d, v, func(e any) Reference {
		o, ok := d.members(e)
		if !ok {
			d.fail(&DecodeError{"null is not a reference"})
			return Reference{}
		}
		r := Reference{Name: d.textOr(o["name"]), Subject: d.textOr(o["subject"])}
		if n := d.integer(o["version"]); n != nil {
			r.Version = *n
		}
		return r
	})
}

func (d *decoder) metadata(v any) *Metadata {
	o, ok := d.members(v)
	if !ok {
		return nil
	}
	m := &Metadata{
		Properties: d.stringMap(o["properties"], "properties"),
		Sensitive:  d.set(o["sensitive"]),
	}
	if tags, ok := d.members(o["tags"]); ok && len(tags) > 0 {
		m.Tags = make(map[string][]string, len(tags))
		for path, e := range tags {
			m.Tags[path] = d.set(e)
		}
	}
	return m
}

// set reads a list of texts as the reference keeps them: sorted, each once.
func (d *decoder) set(v any) []string {
	s := list(d, v, d.textOr)
	slices.Sort(s)
	return slices.Compact(s)
}

func (d *decoder) ruleSet(v any) *RuleSet {
	o, ok := d.members(v)
	if !ok {
		return nil
	}
	return &RuleSet{
		MigrationRules: list(d, o["migrationRules"], d.rule),
		DomainRules:    list(d, o["domainRules"], d.rule),
		EncodingRules:  list(d, o["encodingRules"], d.rule),
		EnableAt:       d.enum(o["enableAt"], "", "ExecutionEnvironment", enableAts()),
	}
}

func (d *decoder) rule(v any) Rule {
	o, ok := d.members(v)
	if !ok {
		d.fail(&DecodeError{"null is not a rule"})
		return Rule{}
	}
	r := Rule{
		Name:      d.textOr(o["name"]),
		Doc:       d.textOr(o["doc"]),
		Kind:      d.enum(o["kind"], "TRANSFORM", "RuleKind", ruleKinds()),
		Mode:      d.enum(o["mode"], "WRITEREAD", "RuleMode", ruleModes()),
		Type:      d.textOr(o["type"]),
		Tags:      d.set(o["tags"]),
		Params:    d.stringMap(o["params"], "params"),
		Expr:      d.textOr(o["expr"]),
		OnSuccess: d.textOr(o["onSuccess"]),
		OnFailure: d.textOr(o["onFailure"]),
	}
	if b := d.boolean(o["disabled"]); b != nil {
		r.Disabled = *b
	}
	r.EmptyName = r.Name == "" && o["name"] != nil
	r.EmptyType = r.Type == "" && o["type"] != nil
	return r
}

func (d *decoder) schemaTags(v any) []SchemaTags {
	return list(d, v, func(e any) SchemaTags {
		o, ok := d.members(e)
		if !ok {
			d.fail(&DecodeError{"null is not a schema tag"})
			return SchemaTags{}
		}
		t := SchemaTags{Tags: list(d, o["tags"], d.textOr)}
		if entity, ok := d.members(o["schemaEntity"]); ok {
			t.SchemaEntity = &SchemaEntity{
				EntityPath: d.textOr(entity["entityPath"]),
				EntityType: d.enum(entity["entityType"], "", "EntityType", entityTypes()),
			}
		}
		return t
	})
}
