package registry

import (
	"strings"

	"milena/registry/api"
	"milena/registry/state"
)

// apiSchema shows a stored version.
func apiSchema(version *state.Version) api.Schema {
	s := foundSchema(version)
	s.Timestamp, s.Deleted = stamps(version)
	return s
}

// foundSchema shows a version that was found by content: without time and
// deletion, as the reference does.
func foundSchema(version *state.Version) api.Schema {
	old := version.Schema
	return api.Schema{
		Subject:    version.Name.String(),
		Version:    old.Version,
		ID:         old.ID,
		GUID:       version.GUID.String(),
		SchemaType: old.Type,
		References: apiReferences(old.References),
		Metadata:   apiMetadata(old.Metadata),
		RuleSet:    apiRuleSet(old.RuleSet),
		Schema:     old.Text,
	}
}

// stamps returns time and deletion of a version, to be shown.
func stamps(version *state.Version) (*int64, *bool) {
	ts, deleted := version.TimestampMillis, version.Deleted
	return &ts, &deleted
}

// responseOf shows what a registration found or made.
func responseOf(s api.Schema) api.RegisterResponse {
	return api.RegisterResponse{
		ID:         s.ID,
		Version:    s.Version,
		GUID:       s.GUID,
		SchemaType: s.SchemaType,
		References: s.References,
		Metadata:   s.Metadata,
		RuleSet:    s.RuleSet,
		Schema:     s.Schema,
		Timestamp:  s.Timestamp,
		Deleted:    s.Deleted,
	}
}

// qualified returns references with the subjects as seen from outside, and
// whether that is wanted and changes any.
func qualified(in state.Name, refs []api.Reference, wanted string) ([]api.Reference, bool) {
	if !strings.EqualFold(wanted, "qualified") || len(refs) == 0 {
		return refs, false
	}
	out := make([]api.Reference, len(refs))
	changed := false
	for i, ref := range refs {
		out[i] = ref
		out[i].Subject = in.In(ref.Subject).String()
		changed = changed || out[i].Subject != ref.Subject
	}
	return out, changed
}
