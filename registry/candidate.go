package registry

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
	"milena/serde/schema"
)

// candidate is a schema that a request brought, on its way to be looked up,
// checked or registered.
type candidate struct {
	name   state.Name
	schema store.Schema // Text as sent until it is parsed, then as it is stored
	parsed schema.Parsed
	used   []*state.Version // what its references, direct or not, stand for

	meaning *uint64 // digest of parsed, once it is needed
}

// reading says how a candidate is read.
type reading struct {
	normalize bool
	lenient   bool // what is checked of new schemas only may be wrong
	live      bool // references must be live
}

// newCandidate takes the schema out of a request. It does not parse.
func (r *Registry) newCandidate(v *state.View, n state.Name, req *api.RegisterRequest) (*candidate, error) {
	c := &candidate{name: n, schema: store.Schema{
		Subject:    n.String(),
		Type:       string(schema.Avro),
		References: storeReferences(req.References),
		Metadata:   storeMetadata(req.Metadata),
		RuleSet:    storeRuleSet(req.RuleSet),
		Text:       text(req.Schema),
	}}
	if req.SchemaType != nil {
		c.schema.Type = *req.SchemaType
	}
	if !knownType(schema.Type(c.schema.Type)) {
		return nil, errcode.InvalidSchema.New("Invalid schema type " + c.schema.Type)
	}
	if len(c.schema.Text) > r.opt.Limits.SchemaBytesMax {
		return nil, errcode.SchemaTooLarge.New()
	}
	var err error
	if c.schema.References, err = r.pinned(v, n, c.schema.References); err != nil {
		return nil, err
	}
	return c, nil
}

// read parses the candidate's text and puts the text to store in its place.
func (r *Registry) read(v *state.View, c *candidate, m reading) error {
	s, used, err := r.resolved(v, &c.schema, c.name, m.live)
	if err != nil {
		return invalid(c, err)
	}
	parsed, err := r.parse(s, m.lenient && (lenientRequest(s.Type) || blank(s.Text)))
	if err != nil {
		return invalid(c, err)
	}
	if m.normalize {
		if parsed, err = r.normalize(v, c, parsed, m); err != nil {
			return err
		}
	}
	c.parsed, c.used, c.schema.Text, c.meaning = parsed, used, parsed.Canonical(), nil
	return nil
}

// normalize returns the normalized form and sorts the references.
func (r *Registry) normalize(v *state.View, c *candidate, p schema.Parsed, m reading) (schema.Parsed, error) {
	text, err := normalized(p)
	if err != nil {
		return nil, invalid(c, err)
	}
	c.schema.References = sortedReferences(c.schema.References)
	if normal := normalForm(p); normal != nil {
		return normal, nil
	}
	again := c.schema
	again.Text = text
	s, _, err := r.resolved(v, &again, c.name, m.live)
	if err != nil {
		return nil, invalid(c, err)
	}
	if p, err = r.parse(s, m.lenient); err != nil {
		return nil, invalid(c, err)
	}
	return p, nil
}

// sortedReferences sorts by subject and version and drops repetitions.
func sortedReferences(refs []store.Reference) []store.Reference {
	out := slices.Clone(refs)
	slices.SortStableFunc(out, func(a, b store.Reference) int {
		if c := strings.Compare(a.Subject, b.Subject); c != 0 {
			return c
		}
		return a.Version - b.Version
	})
	return slices.Compact(out)
}

// sameSchema reports whether two schemas have one identity: everything that
// makes a GUID, compared in full, because an MD5 proves nothing.
func sameSchema(a, b *store.Schema) bool {
	return a.Text == b.Text && slices.Equal(a.References, b.References) &&
		sameMetadata(a.Metadata, b.Metadata) && sameRuleSet(a.RuleSet, b.RuleSet)
}

// sameMetadata tells an empty metadata from none, but not an empty part.
func sameMetadata(a, b *store.Metadata) bool {
	if a == nil || b == nil {
		return a == b
	}
	return len(a.Tags) == len(b.Tags) && len(a.Properties) == len(b.Properties) &&
		slices.Equal(a.Sensitive, b.Sensitive) &&
		(len(a.Tags) == 0 || reflect.DeepEqual(a.Tags, b.Tags)) &&
		(len(a.Properties) == 0 || reflect.DeepEqual(a.Properties, b.Properties))
}

func sameRuleSet(a, b *store.RuleSet) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := func(x, y store.Rule) bool {
		return x.Name == y.Name && x.Doc == y.Doc && x.Kind == y.Kind && x.Mode == y.Mode && x.Type == y.Type &&
			slices.Equal(x.Tags, y.Tags) && (len(x.Params) == 0 && len(y.Params) == 0 || reflect.DeepEqual(x.Params, y.Params)) &&
			x.Expr == y.Expr && x.OnSuccess == y.OnSuccess && x.OnFailure == y.OnFailure && x.Disabled == y.Disabled
	}
	return a.EnableAt == b.EnableAt && slices.EqualFunc(a.MigrationRules, b.MigrationRules, same) &&
		slices.EqualFunc(a.DomainRules, b.DomainRules, same) && slices.EqualFunc(a.EncodingRules, b.EncodingRules, same)
}

// match finds the version of a subject that a candidate is: first by identity,
// then by meaning, newest first. Versions that are soft deleted count only if
// wanted. It returns nil if there is none.
func (r *Registry) match(v *state.View, s *state.Subject, c *candidate, deleted bool) *state.Version {
	guid := state.GUIDOf(&c.schema)
	for version := range s.NewestFirst() {
		if version.GUID == guid && (deleted || !version.Deleted) && sameSchema(version.Schema, &c.schema) {
			return version
		}
	}
	for version := range s.NewestFirst() {
		if (deleted || !version.Deleted) && r.means(v, c, version) {
			return version
		}
	}
	return nil
}

// means reports whether a candidate and a version mean the same: equal texts in
// the format's own sense, with the same references (or the candidate has all
// types of them inlined), the same rules, and the same metadata, where a
// version number recorded in it counts only if the candidate brings one.
func (r *Registry) means(v *state.View, c *candidate, version *state.Version) bool {
	old := version.Schema
	if old.Type != c.schema.Type || !sameRuleSet(old.RuleSet, c.schema.RuleSet) {
		return false
	}
	if !sameMetadata(old.Metadata, c.schema.Metadata) && !sameMetadata(old.Metadata, withVersionOf(c.schema.Metadata, old.Metadata)) {
		return false
	}
	if !slices.Equal(old.References, c.schema.References) &&
		!(inlines(c.parsed.Type()) && len(c.schema.References) == 0 && len(old.References) > 0) {
		return false
	}
	if old.Text == c.schema.Text && slices.Equal(old.References, c.schema.References) {
		return true
	}
	if c.parsed.Type() == schema.Protobuf {
		return false // texts count as they are stored, and those were compared
	}
	read := func() (schema.Parsed, error) { return r.stored(v, version) }
	if c.meaning == nil {
		digest := r.meaning.digest(c.parsed)
		c.meaning = &digest
	}
	if digest, ok, err := r.meaning.of(version, read); err != nil || ok && digest != *c.meaning {
		return false // what can't be read is not the same as what can
	}
	parsed, err := read()
	return err == nil && sameMeaning(c.parsed, parsed)
}

// versionProperty is the metadata property that records an explicit version.
const versionProperty = "confluent:version"

// withVersionOf returns m with the version recorded in from, if m has none.
func withVersionOf(m, from *store.Metadata) *store.Metadata {
	if from == nil || from.Properties[versionProperty] == "" || m != nil && m.Properties[versionProperty] != "" {
		return m
	}
	return withProperty(m, versionProperty, from.Properties[versionProperty])
}

// describe prints a candidate in the form that error messages of the reference
// have.
func (c *candidate) describe() string {
	const textMax = 10 << 10
	text := c.schema.Text
	if len(text) > textMax {
		text = strings.ToValidUTF8(text[:textMax], "") + "..."
	}
	return fmt.Sprintf("{subject=%s,version=%s,id=%s,guid=null,schemaType=%s,references=%s,metadata=%s,ruleSet=%s,schema=%s,schemaTags=null,ts=null,deleted=null}",
		c.name, orNull(c.schema.Version), orNull(c.schema.ID), c.schema.Type, describeReferences(c.schema.References),
		given(c.schema.Metadata != nil), given(c.schema.RuleSet != nil), text)
}

func orNull(n int) string {
	if n == 0 {
		return "null"
	}
	return fmt.Sprint(n)
}

func given(yes bool) string {
	if yes {
		return "{...}"
	}
	return "null"
}
