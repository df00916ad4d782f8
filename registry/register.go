package registry

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
	"milena/serde/schema"
)

func schemaType(version *state.Version) schema.Type { return schema.Type(version.Schema.Type) }

// Register gives a schema an id and a version of the subject, or finds those it
// has. What is checked, and in which order:
//
//  1. The rule set, in which the parameters of encryption that follow from
//     others are filled in, and the subject's name.
//  2. Whether the subject has the schema live already, before any mode: so
//     known schemas register in every mode.
//  3. The mode.
//  4. What the request left out is taken from the latest version and the
//     config, then the schema is read strictly.
//  5. Whether the subject has that schema live, by identity or by meaning.
//  6. Compatibility with older versions.
//
// Then the writer appends, if subject, references, config and mode are still as
// they were here.
func (r *Registry) Register(ctx context.Context, subject string, req api.RegisterRequest, o RegisterOptions) (api.RegisterResponse, error) {
	g, err := r.newRegistration(ctx, subject, req, o)
	if err != nil {
		return api.RegisterResponse{}, err
	}
	n, _ := resolve(r.view.Load(), subject)
	if err := r.write(ctx, n, g.attempt); err != nil {
		return api.RegisterResponse{}, err
	}
	r.opt.Observer.registered(g.created)
	if isFormat(schema.Type(g.answer.SchemaType), o.Format) {
		v := r.view.Load()
		if version := v.Subject(g.name).Version(g.answer.Version); version != nil {
			if g.answer.Schema, err = r.textOf(v, version, o.Format); err != nil {
				return api.RegisterResponse{}, err
			}
		}
	}
	return g.answer, nil
}

// registration is one Register on its way. Each attempt overwrites it; the
// writer sets answer and created through the plan.
type registration struct {
	r       *Registry
	ctx     context.Context
	subject string // as it came in
	req     *api.RegisterRequest
	o       RegisterOptions
	view    *state.View
	name    state.Name

	answer  api.RegisterResponse
	created bool
	used    []*state.Version // what the references of what is to be added stand for

	dryRun   bool     // incompatibility is no refusal
	problems []string // of a dry run
}

// newRegistration checks what needs no view.
func (r *Registry) newRegistration(ctx context.Context, subject string, req api.RegisterRequest, o RegisterOptions) (*registration, error) {
	if err := checkRuleSet(req.RuleSet); err != nil {
		return nil, err
	}
	if rs := storeRuleSet(req.RuleSet); rs != nil {
		req.RuleSet = apiRuleSet(withKeyParams(rs))
	}
	return &registration{r: r, ctx: ctx, subject: subject, req: &req, o: o}, nil
}

// attempt plans the registration against a view.
func (g *registration) attempt(v *state.View) (*plan, error) {
	g.view = v
	g.name, _ = resolve(v, g.subject) // the alias may have changed
	if err := g.r.checkName(g.name); err != nil {
		return nil, err
	}
	return g.decide()
}

func (g *registration) decide() (*plan, error) {
	r, v := g.r, g.view
	config := r.effective(v, g.name)
	c, err := r.newCandidate(v, g.name, g.req)
	if err != nil {
		return nil, err
	}
	how := reading{normalize: g.o.Normalize || config.normalize, lenient: !config.validateNewSchemas, live: true}
	var refused error // by the strict parser
	if c.schema.Text != "" && !g.changesContent(config) {
		known := *c
		if refused, err = g.readAny(&known, how); err != nil {
			return nil, err
		}
		if hit := r.known(v, &known, g.req, false); hit != nil && g.satisfiedBy(hit) {
			g.found(hit)
			return nil, nil
		}
	}
	mode := r.effectiveMode(v, g.name)
	if err := checkRegister(g.name, mode, g.id() >= 0); err != nil {
		return nil, err
	}
	if err := checkReferable(v, g.name, c.schema.References); err != nil {
		return nil, err
	}
	importing := mode == modeImport || mode == modeForward
	if refused != nil && !importing && !blank(c.schema.Text) {
		return nil, refused
	}
	version, err := g.complete(c, config, importing)
	if err != nil {
		return nil, err
	}
	if importing {
		how.lenient, how.normalize = true, false
	}
	if c.schema.Text != "" || !importing {
		if err := r.read(v, c, how); err != nil {
			return nil, err
		}
	}
	if err := g.tag(c, how); err != nil {
		return nil, err
	}
	return g.conclude(c, config, version, importing)
}

// readAny reads strictly and, if that fails, leniently: a stored schema may be
// one that would not be taken today. refused is why the strict parser failed.
func (g *registration) readAny(c *candidate, how reading) (refused, err error) {
	refused = g.r.read(g.view, c, how)
	if refused == nil || how.lenient && !how.live {
		return nil, refused
	}
	// A lenient reading that succeeds may only find what is there.
	if g.r.read(g.view, c, reading{normalize: how.normalize, lenient: true}) != nil {
		return nil, refused
	}
	return refused, nil
}

// changesContent reports whether what is registered may differ from what was
// sent, so that looking for the latter says nothing.
func (g *registration) changesContent(c effectiveConfig) bool {
	return g.changesTags() || g.req.PropagateSchemaTags || c.changesContent()
}

func (g *registration) changesTags() bool {
	return len(g.req.SchemaTagsToAdd) > 0 || len(g.req.SchemaTagsToRemove) > 0
}

// tag puts the tags of the latest version and those of the request into a
// candidate's text.
func (g *registration) tag(c *candidate, how reading) error {
	var inherited []api.SchemaTags
	latest := g.view.Subject(g.name).Latest()
	if g.req.PropagateSchemaTags && latest != nil {
		inherited = g.r.tags(g.view, latest, []string{"*"})
	}
	if c.parsed == nil || len(inherited) == 0 && !g.changesTags() {
		return nil
	}
	for _, edit := range []struct {
		add, remove []api.SchemaTags
		lenient     bool
	}{
		{inherited, nil, true},
		{g.req.SchemaTagsToAdd, g.req.SchemaTagsToRemove, false},
	} {
		text, err := editTags(c.parsed, edit.add, edit.remove, edit.lenient)
		if err != nil {
			return err
		}
		if len(text) > g.r.opt.Limits.SchemaBytesMax {
			return errcode.SchemaTooLarge.New()
		}
		c.schema.Text = text
		if err := g.r.read(g.view, c, how); err != nil {
			return err
		}
	}
	return nil
}

// id returns the id that the request brought, or -1.
func (g *registration) id() int {
	if g.req.ID == nil || *g.req.ID < 0 {
		return -1
	}
	return *g.req.ID
}

// version returns the version that the request brought: 0 is none, negative
// means the next one.
func (g *registration) version() int {
	switch {
	case g.req.Version != nil && *g.req.Version != 0:
		return *g.req.Version
	case g.changesTags():
		return anyNextVersion
	default:
		return 0
	}
}

// satisfiedBy reports whether a version answers the request as it is.
func (g *registration) satisfiedBy(hit *state.Version) bool {
	if id := g.id(); id >= 0 && id != hit.Schema.ID {
		return false
	}
	switch version := g.version(); {
	case version == -1:
		return hit == g.view.Subject(g.name).Latest()
	case version < 0:
		return false
	default:
		return version == 0 || version == hit.Schema.Version
	}
}

// found answers with a version that is there. Only version -1 asks for a
// version, and so is answered like a reading of it.
func (g *registration) found(hit *state.Version) {
	s := foundSchema(hit)
	if g.version() == -1 {
		s = apiSchema(hit)
	}
	g.answer, g.created = responseOf(s), false
}

// complete puts in what the request left out, and returns the version to
// register.
func (g *registration) complete(c *candidate, config effectiveConfig, importing bool) (int, error) {
	s := g.view.Subject(g.name)
	next := 1
	if highest := s.Highest(); highest != nil {
		next = highest.Schema.Version + 1
	}
	version := g.version()
	if importing {
		if version > 0 {
			return version, nil
		}
		return next, g.checkNext(next)
	}
	if err := g.checkNext(next); err != nil {
		return 0, err
	}
	latest := s.Latest()
	if blank(c.schema.Text) {
		if latest == nil {
			return 0, errcode.InvalidSchema.New("Empty schema")
		}
		c.schema.Text, c.schema.Type, c.schema.References = latest.Schema.Text, latest.Schema.Type, latest.Schema.References
	}
	if version > 0 && version != next {
		return 0, errcode.InvalidSchema.New("Version is not one more than previous version")
	}
	config.inherit(c, g.req, latest)
	if version != 0 || c.schema.Metadata != nil && c.schema.Metadata.Properties[versionProperty] != "" {
		c.schema.Metadata = withProperty(c.schema.Metadata, versionProperty, strconv.Itoa(next))
	}
	return next, nil
}

// checkNext refuses a version that no client could ask for: only imports get
// near the end.
func (g *registration) checkNext(version int) error {
	if version > math.MaxInt32 {
		return errcode.OperationNotPermitted.New("No more versions of subject " + g.name.String())
	}
	return nil
}

// conclude finds the schema under the subject after all, or plans to add it.
func (g *registration) conclude(c *candidate, config effectiveConfig, version int, importing bool) (*plan, error) {
	r, v := g.r, g.view
	s := v.Subject(g.name)
	if c.parsed != nil {
		if hit := r.match(v, s, c, false); hit != nil && g.concludesWith(hit, importing) {
			g.found(hit)
			return nil, nil
		}
	}
	if !importing && !g.o.Force {
		problems, err := r.check(g.ctx, v, c, config, latestAndOlder(s))
		if err != nil {
			return nil, err
		}
		if len(problems) > 0 && !g.dryRun {
			return nil, incompatible(g.name, problems)
		}
		g.problems = problems
	}
	c.schema.Version = version
	g.used = c.used
	used, subject := c.used, g.subject
	return &plan{
		relied: func(now *state.View) bool {
			name, _ := resolve(now, subject)
			return name == g.name && now.Subject(g.name) == s && sameSettings(v, now, g.name) && sameVersions(now, used) &&
				sameReferable(v, now, g.name, c.schema.References)
		},
		records: func(now *state.View) ([]*store.Record, error) { return g.records(now, c, s, importing) },
	}, nil
}

// concludesWith reports whether a hit by content ends a registration. Imports
// write what they are told to, unless it is there in every respect.
func (g *registration) concludesWith(hit *state.Version, importing bool) bool {
	if !importing {
		return true
	}
	return hit.Schema.ID == g.id() && (g.version() <= 0 || g.version() == hit.Schema.Version)
}

// records chooses the id, in the writer.
func (g *registration) records(now *state.View, c *candidate, s *state.Subject, importing bool) ([]*store.Record, error) {
	context := now.Context(g.name.Context)
	next := c.schema
	id, err := chooseID(g.name, context, &next, g.id())
	if err != nil {
		return nil, err
	}
	next.ID = id
	var records []*store.Record
	if g.name.Context != state.DefaultContext && !context.Declared() {
		records = append(records, &store.Record{Kind: store.ContextKind, Context: g.name.Context, Exists: true})
	}
	records = append(records, &store.Record{
		Kind: store.SchemaKind, Subject: next.Subject, Version: next.Version, Schema: &next,
	})
	if !importing {
		records = append(records, replaced(now, s, &next)...)
	}
	g.answer, g.created = responseOf(foundSchema(&state.Version{Name: g.name, Schema: &next, GUID: state.GUIDOf(&next)})), true
	return records, nil
}

// chooseID returns the id for a schema: the wanted one, the one that the
// context knows for it, or the next. An id never means two schemas.
func chooseID(n state.Name, context *state.Context, s *store.Schema, wanted int) (int, error) {
	taken := func(id int) error {
		return errcode.OperationNotPermitted.New(fmt.Sprintf(
			"Overwrite new schema with id %d in context %s is not permitted.", id, n.Prefix()))
	}
	if wanted >= 0 {
		for user := range context.Users(wanted) {
			replacesItself := user.Name == n && user.Schema.Version == s.Version
			if !replacesItself && !sameSchema(user.Schema, s) {
				return 0, taken(wanted)
			}
		}
		return wanted, nil
	}
	if id, ok := context.ID(state.GUIDOf(s)); ok {
		if user := context.First(id); user != nil && !sameSchema(user.Schema, s) {
			return 0, taken(id) // two contents of one GUID
		}
		return id, nil
	}
	if context.MaxID() >= math.MaxInt32 {
		return 0, errcode.OperationNotPermitted.New("No more ids in context " + n.Prefix())
	}
	return context.MaxID() + 1, nil
}

// replaced returns the tombstones of soft deleted versions that a new version
// with their id takes the place of. Referenced ones stay.
func replaced(now *state.View, s *state.Subject, next *store.Schema) []*store.Record {
	var records []*store.Record
	for version := range s.Versions() {
		if !version.Deleted || version.Schema.ID != next.ID || version.Schema.Version == next.Version {
			continue
		}
		if !hasReferrer(now, version, func(*state.Version) bool { return true }) {
			records = append(records, tombstone(version))
		}
	}
	return records
}

func tombstone(version *state.Version) *store.Record {
	return &store.Record{Kind: store.SchemaKind, Subject: version.Name.String(), Version: version.Schema.Version}
}

// hasReferrer reports whether a schema for which counts refers to version.
func hasReferrer(v *state.View, version *state.Version, counts func(*state.Version) bool) bool {
	for referrer := range v.Referrers(version.Name, version.Schema.Version) {
		if counts(referrer) {
			return true
		}
	}
	return false
}

// sameVersions reports whether versions are as they were.
func sameVersions(now *state.View, versions []*state.Version) bool {
	for _, version := range versions {
		if now.Subject(version.Name).Version(version.Schema.Version) != version {
			return false
		}
	}
	return true
}
