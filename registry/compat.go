package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"milena/evolution"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
	"milena/serde/schema"
)

// latestAndOlder returns the live versions, oldest first.
func latestAndOlder(s *state.Subject) []*state.Version {
	live := make([]*state.Version, 0, s.Live())
	for version := range s.Versions() {
		if !version.Deleted {
			live = append(live, version)
		}
	}
	return live
}

// incompatible is the answer to a registration that fails the check.
func incompatible(n state.Name, problems []string) error {
	return errcode.Incompatible.New(n.String(), strings.Join(problems, ", "))
}

// check compares a candidate with older versions, oldest first, at the config's
// level and returns the messages of what is wrong, none if it is compatible.
func (r *Registry) check(ctx context.Context, v *state.View, c *candidate, config effectiveConfig, old []*state.Version) ([]string, error) {
	if config.validateFields {
		if problems := reservedProblems(c, old); len(problems) > 0 {
			return append(problems, fmt.Sprintf("{validateFields: 'true', compatibility: '%s'}", config.level)), nil
		}
	}
	if group := text(config.shown.CompatibilityGroup); group != "" {
		want := property(c.schema.Metadata, group)
		old = slices.DeleteFunc(slices.Clone(old), func(version *state.Version) bool {
			return property(version.Schema.Metadata, group) != want
		})
	}
	if len(old) == 0 || config.level == evolution.None {
		return nil, nil
	}
	if !config.level.Transitive() {
		old = old[len(old)-1:]
	}
	policy, _ := evolution.ParsePolicy(config.shown.CompatibilityPolicy) // unknown ones are strict
	ctx, cancel := context.WithTimeout(ctx, r.opt.Limits.CompatibilityTimeout)
	defer cancel()
	start := time.Now()
	// Newest first and one by one, so that nothing is read beyond the first
	// version that fails.
	for _, version := range slices.Backward(old) {
		parsed, err := r.older(v, version, c)
		if err != nil {
			return nil, err
		}
		result, err := r.checker.CheckPolicy(ctx, config.level, policy, c.parsed, []schema.Parsed{parsed})
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return nil, errcode.OperationTimedOut.New("Compatibility check").Because(err)
		case err != nil:
			return nil, err
		}
		if !result.Compatible {
			r.opt.Observer.checked(config.level.String(), false, time.Since(start))
			return result.Messages(version.Schema.Version, config.validateFields), nil
		}
	}
	r.opt.Observer.checked(config.level.String(), true, time.Since(start))
	return nil, nil
}

// older returns a stored version to compare a candidate with. One of another
// format need not be readable.
func (r *Registry) older(v *state.View, version *state.Version, c *candidate) (schema.Parsed, error) {
	if t := schemaType(version); t != c.parsed.Type() {
		return foreign{schema.Resolved{Type: t, Text: version.Schema.Text}}, nil
	}
	parsed, err := r.stored(v, version)
	if err != nil {
		return nil, errcode.InvalidSchema.New(fmt.Sprintf("Invalid schema registered as version %d", version.Schema.Version)).Because(err)
	}
	return parsed, nil
}

// foreign is a schema that is compared only with schemas of other formats, and
// so only by its format.
type foreign struct{ source schema.Resolved }

func (f foreign) Type() schema.Type         { return f.source.Type }
func (f foreign) Canonical() string         { return f.source.Text }
func (f foreign) Normalized() string        { return f.source.Text }
func (f foreign) Resolved() schema.Resolved { return f.source }
func (f foreign) Name() string              { return "" }

// reservedProperty lists, separated by commas, the field names that must not be
// used.
const reservedProperty = "confluent:reserved"

// reservedProblems returns what a candidate does to reserved fields: names that
// the latest version reserves and it does not, fields with names that it
// reserves itself, and fields with names that nobody may use.
func reservedProblems(c *candidate, old []*state.Version) []string {
	var problems []string
	mine := reserved(c.schema.Metadata)
	if len(old) > 0 {
		for _, name := range reserved(old[len(old)-1].Schema.Metadata) {
			if !slices.Contains(mine, name) {
				problems = append(problems, fmt.Sprintf(
					"The new schema has reserved field %s removed from its metadata which is present in the old schema's metadata.", name))
			}
		}
	}
	for _, field := range fieldNames(c.parsed) {
		if forbiddenName(c.parsed.Type(), field) {
			problems = append(problems, fmt.Sprintf(
				"The new schema has field %s, whose name begins with the reserved characters $$.", field))
		}
		if slices.Contains(mine, field) {
			problems = append(problems, fmt.Sprintf(
				"The new schema has field that conflicts with the reserved field %s.", field))
		}
	}
	return problems
}

func reserved(m *store.Metadata) []string {
	var names []string
	for name := range strings.SplitSeq(property(m, reservedProperty), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func property(m *store.Metadata, key string) string {
	if m == nil {
		return ""
	}
	return m.Properties[key]
}

// Compatibility checks a schema against one version of a subject, or against
// all live ones as far as the level demands (version ""). With verbose, a
// schema that can't be read is an answer and no error.
func (r *Registry) Compatibility(ctx context.Context, subject, version string, req api.RegisterRequest, q CompatibilityQuery) (api.CompatibilityResponse, error) {
	v := r.view.Load()
	n, _ := resolve(v, subject)
	old, err := compareWith(v.Subject(n), version)
	if err != nil {
		return api.CompatibilityResponse{}, err
	}
	problems, err := r.compatible(ctx, v, n, &req, q, old)
	if q.Verbose && errors.Is(err, errcode.InvalidSchema) {
		problems, err = []string{err.Error()}, nil
	}
	if err != nil {
		return api.CompatibilityResponse{}, err
	}
	answer := api.CompatibilityResponse{IsCompatible: len(problems) == 0}
	if q.Verbose {
		if problems == nil {
			problems = []string{}
		}
		answer.Messages = &problems
	}
	return answer, nil
}

// compareWith returns the versions to compare with, oldest first. Only a number
// must be there.
func compareWith(s *state.Subject, version string) ([]*state.Version, error) {
	if version == "" {
		return latestAndOlder(s), nil
	}
	number, err := parseVersion(version)
	if err != nil {
		return nil, err
	}
	found := find(s, number)
	switch {
	case found != nil && !found.Deleted:
		return []*state.Version{found}, nil
	case number == latestVersion:
		return nil, nil
	}
	return nil, errcode.VersionNotFound.New(number)
}

// compatible reads the candidate as a registration would, so that the verdict
// is the one that a registration gets.
func (r *Registry) compatible(ctx context.Context, v *state.View, n state.Name, req *api.RegisterRequest, q CompatibilityQuery, old []*state.Version) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := r.newCandidate(v, n, req)
	if err != nil {
		return nil, err
	}
	if blank(c.schema.Text) {
		return nil, errcode.InvalidSchema.New("Empty schema")
	}
	config := r.effective(v, n)
	config.inherit(c, req, v.Subject(n).Latest())
	how := reading{normalize: q.Normalize || config.normalize, lenient: !config.validateNewSchemas, live: true}
	if err := r.read(v, c, how); err != nil {
		return nil, err
	}
	return r.check(ctx, v, c, config, old)
}
