package registry

import (
	"context"
	"strings"

	"milena/evolution"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
)

// effectiveConfig is what applies to a subject.
type effectiveConfig struct {
	shown              store.Config // as GET with defaultToGlobal shows it, but for the level
	level              evolution.Level
	normalize          bool
	validateFields     bool
	validateNewSchemas bool
}

// scope returns the names whose settings may apply to n, in order: its own, its
// context's, the global one.
func scope(n state.Name) []state.Name {
	names := []state.Name{n}
	if !n.IsContext() {
		names = append(names, state.Name{Context: n.Context})
	}
	if n.Context != state.GlobalContext {
		names = append(names, state.Name{Context: state.GlobalContext})
	}
	return names
}

// sameSettings reports whether the configs and modes that may apply to n are
// the same in both views. The default context's config is one of them, since
// subjects of every context inherit from it.
func sameSettings(a, b *state.View, n state.Name) bool {
	for _, name := range append(scope(n), state.Name{Context: state.DefaultContext}) {
		if a.Config(name) != b.Config(name) || a.Mode(name) != b.Mode(name) {
			return false
		}
	}
	return true
}

// effective returns what applies to n: the first config in scope, as a whole.
// A subject's own config has what it leaves open filled in from the default
// context's, for some of the settings.
func (r *Registry) effective(v *state.View, n state.Name) effectiveConfig {
	var c store.Config
	for _, name := range scope(n) {
		if found := v.Config(name); found != nil {
			c = *found
			if !name.IsContext() {
				inheritOpen(&c, v.Config(state.Name{Context: state.DefaultContext}))
			}
			break
		}
	}
	e := effectiveConfig{
		shown:              c,
		level:              r.levelOf(&c),
		normalize:          c.Normalize != nil && *c.Normalize,
		validateFields:     r.opt.ValidateFields,
		validateNewSchemas: !r.opt.SkipNewSchemaValidation,
	}
	if c.ValidateFields != nil {
		e.validateFields = *c.ValidateFields
	}
	if c.ValidateNewSchemas != nil {
		e.validateNewSchemas = *c.ValidateNewSchemas
	}
	return e
}

// inheritOpen fills in the settings that a subject's config may leave to the
// default context's.
func inheritOpen(c, from *store.Config) {
	if from == nil {
		return
	}
	for _, f := range []struct{ to, from **bool }{
		{&c.Normalize, &from.Normalize},
		{&c.ValidateFields, &from.ValidateFields},
		{&c.ValidateNewSchemas, &from.ValidateNewSchemas},
		{&c.ValidateRules, &from.ValidateRules},
	} {
		if *f.to == nil {
			*f.to = *f.from
		}
	}
	if c.CompatibilityPolicy == "" {
		c.CompatibilityPolicy = from.CompatibilityPolicy
	}
	if c.CompatibilityGroup == nil {
		c.CompatibilityGroup = from.CompatibilityGroup
	}
}

// levelOf returns a config's level, the server's if it has none.
func (r *Registry) levelOf(c *store.Config) evolution.Level {
	if level, ok := evolution.ParseLevel(c.CompatibilityLevel); ok {
		return level
	}
	return r.level
}

// changesContent reports whether the config puts something into schemas.
func (e *effectiveConfig) changesContent() bool {
	return e.shown.DefaultMetadata != nil || e.shown.OverrideMetadata != nil ||
		e.shown.DefaultRuleSet != nil || e.shown.OverrideRuleSet != nil
}

// inherit gives a candidate the metadata and rules of the latest version if the
// request brought none, and puts the config's defaults below and overrides
// above.
func (e *effectiveConfig) inherit(c *candidate, req *api.RegisterRequest, latest *state.Version) {
	if latest != nil && req.Metadata == nil {
		c.schema.Metadata = latest.Schema.Metadata
	}
	if latest != nil && req.RuleSet == nil {
		c.schema.RuleSet = latest.Schema.RuleSet
	}
	c.schema.Metadata = mergeMetadata(mergeMetadata(e.shown.DefaultMetadata, c.schema.Metadata), e.shown.OverrideMetadata)
	c.schema.RuleSet = withKeyParams(mergeRuleSets(mergeRuleSets(e.shown.DefaultRuleSet, c.schema.RuleSet), e.shown.OverrideRuleSet))
}

// Config returns the own config of a subject or context ("" is the default
// one), or with defaultToGlobal what applies to it.
func (r *Registry) Config(ctx context.Context, subject string, defaultToGlobal bool) (api.Config, error) {
	if err := ctx.Err(); err != nil {
		return api.Config{}, err
	}
	v, n := r.view.Load(), parseSubject(subject)
	if defaultToGlobal {
		e := r.effective(v, n)
		return r.apiConfig(&e.shown), nil
	}
	own := v.Config(n)
	if own == nil {
		if !alwaysSet(n) {
			return api.Config{}, errcode.CompatibilityNotSet.New(n)
		}
		own = &store.Config{}
	}
	return r.apiConfig(own), nil
}

// alwaysSet reports whether the settings of n have defaults, so that reading
// and deleting them never fails.
func alwaysSet(n state.Name) bool {
	return n.IsContext() && (n.Context == state.DefaultContext || n.Context == state.GlobalContext)
}

func (r *Registry) apiConfig(c *store.Config) api.Config {
	return api.Config{
		Alias:               text(c.Alias),
		AliasForDeks:        text(c.AliasForDeks),
		Normalize:           c.Normalize,
		ValidateFields:      c.ValidateFields,
		ValidateNewSchemas:  c.ValidateNewSchemas,
		ValidateRules:       c.ValidateRules,
		CompatibilityLevel:  r.levelOf(c).String(),
		CompatibilityPolicy: c.CompatibilityPolicy,
		CompatibilityGroup:  text(c.CompatibilityGroup),
		DefaultMetadata:     apiMetadata(c.DefaultMetadata),
		OverrideMetadata:    apiMetadata(c.OverrideMetadata),
		DefaultRuleSet:      apiRuleSet(c.DefaultRuleSet),
		OverrideRuleSet:     apiRuleSet(c.OverrideRuleSet),
	}
}

// SetConfig merges a request into the own config of a subject or context, which
// need not exist, and returns the result.
func (r *Registry) SetConfig(ctx context.Context, subject string, req api.ConfigRequest) (api.ConfigRequest, error) {
	n := parseSubject(subject)
	if level := req.Compatibility.Value; level != nil {
		if _, ok := evolution.ParseLevel(*level); !ok {
			return api.ConfigRequest{}, errcode.InvalidCompatibility.New()
		}
	}
	if err := checkSettingName(n); err != nil {
		return api.ConfigRequest{}, err
	}
	for _, rs := range []*api.RuleSet{req.DefaultRuleSet.Value, req.OverrideRuleSet.Value} {
		if err := checkRuleSet(rs); err != nil {
			return api.ConfigRequest{}, err
		}
	}
	var merged store.Config
	err := r.write(ctx, n, func(v *state.View) (*plan, error) {
		if err := checkChange(n, subject, r.effectiveMode(v, n)); err != nil {
			return nil, err
		}
		merged = store.Config{}
		if own := v.Config(n); own != nil {
			merged = *own
		}
		mergeConfig(&merged, &req)
		merged.Subject = n.String()
		return settingsPlan(v, n, &store.Record{Kind: store.ConfigKind, Subject: n.String(), Config: &merged}), nil
	})
	if err != nil {
		return api.ConfigRequest{}, err
	}
	return configRequest(&merged), nil
}

// settingsPlan appends records if the settings that apply to n are the same.
func settingsPlan(v *state.View, n state.Name, records ...*store.Record) *plan {
	return &plan{
		relied:  func(now *state.View) bool { return sameSettings(v, now, n) },
		records: func(*state.View) ([]*store.Record, error) { return records, nil },
	}
}

// mergeConfig puts what a request says over a config: absent keeps, null
// clears.
func mergeConfig(c *store.Config, req *api.ConfigRequest) {
	put(&c.Alias, req.Alias)
	put(&c.AliasForDeks, req.AliasForDeks)
	put(&c.Normalize, req.Normalize)
	put(&c.ValidateFields, req.ValidateFields)
	put(&c.ValidateNewSchemas, req.ValidateNewSchemas)
	put(&c.ValidateRules, req.ValidateRules)
	put(&c.CompatibilityGroup, req.CompatibilityGroup)
	if req.Compatibility.Present {
		c.CompatibilityLevel = strings.ToUpper(text(req.Compatibility.Value))
	}
	if req.CompatibilityPolicy.Present {
		c.CompatibilityPolicy = policy(text(req.CompatibilityPolicy.Value))
	}
	if req.DefaultMetadata.Present {
		c.DefaultMetadata = storeMetadata(req.DefaultMetadata.Value)
	}
	if req.OverrideMetadata.Present {
		c.OverrideMetadata = storeMetadata(req.OverrideMetadata.Value)
	}
	if req.DefaultRuleSet.Present {
		c.DefaultRuleSet = storeRuleSet(req.DefaultRuleSet.Value)
	}
	if req.OverrideRuleSet.Present {
		c.OverrideRuleSet = storeRuleSet(req.OverrideRuleSet.Value)
	}
}

func put[T any](to **T, f api.Field[T]) {
	if f.Present {
		*to = f.Value
	}
}

// policy returns a policy as it is stored; unknown ones are none.
func policy(name string) string {
	switch upper := strings.ToUpper(name); upper {
	case "STRICT", "LENIENT", "LOGICAL":
		return upper
	default:
		return ""
	}
}

// configRequest shows a config in the form of a request. Empty texts and
// objects that were given are kept.
func configRequest(c *store.Config) api.ConfigRequest {
	var req api.ConfigRequest
	show(&req.Alias, c.Alias)
	show(&req.AliasForDeks, c.AliasForDeks)
	show(&req.Normalize, c.Normalize)
	show(&req.ValidateFields, c.ValidateFields)
	show(&req.ValidateNewSchemas, c.ValidateNewSchemas)
	show(&req.ValidateRules, c.ValidateRules)
	show(&req.CompatibilityGroup, c.CompatibilityGroup)
	if c.CompatibilityLevel != "" {
		req.Compatibility = api.Given(c.CompatibilityLevel)
	}
	if c.CompatibilityPolicy != "" {
		req.CompatibilityPolicy = api.Given(c.CompatibilityPolicy)
	}
	show(&req.DefaultMetadata, apiMetadata(c.DefaultMetadata))
	show(&req.OverrideMetadata, apiMetadata(c.OverrideMetadata))
	show(&req.DefaultRuleSet, apiRuleSet(c.DefaultRuleSet))
	show(&req.OverrideRuleSet, apiRuleSet(c.OverrideRuleSet))
	return req
}

func show[T any](f *api.Field[T], v *T) {
	if v != nil {
		*f = api.Field[T]{Present: true, Value: v}
	}
}

// DeleteConfig removes the own config of a subject or context and returns it.
func (r *Registry) DeleteConfig(ctx context.Context, subject string) (api.Config, error) {
	n := parseSubject(subject)
	var old store.Config
	err := r.write(ctx, n, func(v *state.View) (*plan, error) {
		own := v.Config(n)
		if own == nil && !alwaysSet(n) {
			return nil, errcode.SubjectNotFound.New(n)
		}
		if err := checkChange(n, subject, r.effectiveMode(v, n)); err != nil {
			return nil, err
		}
		if old = (store.Config{}); own == nil {
			return nil, nil
		}
		old = *own
		return settingsPlan(v, n, &store.Record{Kind: store.ConfigKind, Subject: n.String()}), nil
	})
	if err != nil {
		return api.Config{}, err
	}
	return r.apiConfig(&old), nil
}
