package registry

import (
	"fmt"
	"strings"

	"milena/registry/errcode"
	"milena/registry/state"
	"milena/registry/store"
	"milena/serde/schema"
)

// refusal says why references can't be resolved, in the words that the client
// gets.
type refusal string

func (r refusal) Error() string { return string(r) }

// resolver collects the texts behind references, each after those it needs, in
// the reference's order: depth first, and of two references with one name the
// first one met counts.
type resolver struct {
	view   *state.View
	limits Limits
	live   bool // the direct references must be live: what new schemas need

	names map[string]bool
	bytes int // of the texts in deps
	deps  []schema.Dependency
	used  []*state.Version
}

// resolve collects the texts behind references of a schema in the context.
func (r *resolver) resolve(in state.Name, refs []store.Reference, depth int) error {
	if depth > r.limits.ReferenceDepthMax {
		return refusal(fmt.Sprintf("References are nested deeper than %d", r.limits.ReferenceDepthMax))
	}
	for _, ref := range refs {
		if ref.Name == "" || ref.Subject == "" || ref.Version == 0 {
			return refusal("Invalid reference: " + describeReference(ref))
		}
		if r.names[ref.Name] {
			continue
		}
		r.names[ref.Name] = true
		target := in.In(ref.Subject)
		version := find(r.view.Subject(target), ref.Version)
		if version == nil || r.live && depth == 1 && version.Deleted {
			return refusal(fmt.Sprintf("No schema reference found for subject \"%s\" and version %d", target, ref.Version))
		}
		if len(r.used) >= r.limits.ResolvedReferencesMax {
			return refusal(fmt.Sprintf("Schema has more than %d references", r.limits.ResolvedReferencesMax))
		}
		// One text under many names is cheap to send and is copied for each.
		if r.bytes += len(version.Schema.Text); r.bytes > r.limits.ResolvedBytesMax {
			return refusal(fmt.Sprintf("Schema has references to more than %d bytes", r.limits.ResolvedBytesMax))
		}
		if err := r.resolve(target, version.Schema.References, depth+1); err != nil {
			return err
		}
		r.used = append(r.used, version)
		r.deps = append(r.deps, schema.Dependency{Name: ref.Name, Text: version.Schema.Text})
	}
	return nil
}

// find returns a version by number, or the latest live one for -1; nil if there
// is none.
func find(s *state.Subject, version int) *state.Version {
	if version == latestVersion {
		return s.Latest()
	}
	return s.Version(version)
}

// pinned returns references with -1 replaced by the latest version.
func (r *Registry) pinned(v *state.View, in state.Name, refs []store.Reference) ([]store.Reference, error) {
	if len(refs) > r.opt.Limits.ReferencesMax {
		return nil, errcode.InvalidSchema.New(fmt.Sprintf("Schema has more than %d references", r.opt.Limits.ReferencesMax))
	}
	var out []store.Reference
	for _, ref := range refs {
		if ref.Version == latestVersion {
			if latest := v.Subject(in.In(ref.Subject)).Latest(); latest != nil {
				ref.Version = latest.Schema.Version
			}
		}
		out = append(out, ref)
	}
	return out, nil
}

// checkReferable refuses references to subjects that belong to a resource.
func checkReferable(v *state.View, in state.Name, refs []store.Reference) error {
	for _, ref := range refs {
		if isStrong(v, in.In(ref.Subject)) {
			return errcode.OperationNotPermitted.New("Subject '" + ref.Subject + "' has a strong association and cannot be referenced")
		}
	}
	return nil
}

// sameReferable reports whether the subjects that references name have the same
// associations in both views.
func sameReferable(v, now *state.View, in state.Name, refs []store.Reference) bool {
	for _, ref := range refs {
		if !v.SameAssociations(now, in.In(ref.Subject)) {
			return false
		}
	}
	return true
}

// resolved returns a schema with the texts behind its references, and the
// versions they come from.
func (r *Registry) resolved(v *state.View, s *store.Schema, in state.Name, live bool) (schema.Resolved, []*state.Version, error) {
	out := schema.Resolved{Type: schema.Type(s.Type), Text: s.Text}
	if len(s.References) == 0 {
		return out, nil, nil
	}
	c := resolver{view: v, limits: r.opt.Limits, live: live, names: map[string]bool{}}
	if err := c.resolve(in, s.References, 1); err != nil {
		return out, nil, err
	}
	out.Dependencies = c.deps
	return out, c.used, nil
}

// stored returns the parsed form of a stored version.
func (r *Registry) stored(v *state.View, version *state.Version) (schema.Parsed, error) {
	s, _, err := r.resolved(v, version.Schema, version.Name, false)
	if err != nil {
		return nil, fmt.Errorf("resolve %s version %d: %w", version.Name, version.Schema.Version, err)
	}
	p, err := r.parseStored(s)
	if err != nil {
		return nil, fmt.Errorf("parse %s version %d: %w", version.Name, version.Schema.Version, err)
	}
	return p, nil
}

func describeReference(ref store.Reference) string {
	return fmt.Sprintf("{name='%s', subject='%s', version=%d}", ref.Name, ref.Subject, ref.Version)
}

func describeReferences(refs []store.Reference) string {
	parts := make([]string, len(refs))
	for i, ref := range refs {
		parts[i] = describeReference(ref)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
