package evolution

import (
	"slices"
	"strings"
	"testing"

	"milena/evolution/diff"
	"milena/serde/jsonschema"
	"milena/serde/schema"
)

func parseJSON(t testing.TB, text string) schema.Parsed {
	t.Helper()
	s, err := jsonschema.Parser{}.Parse(schema.Resolved{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestJSONMessages: the form that clients read, with the reference's mismatched
// quotes, and the two sides by their names.
func TestJSONMessages(t *testing.T) {
	checker := newChecker(t, Options{})
	old, next := `{"properties":{"a":{"type":"string"}}}`, `{"title":"T","properties":{"a":{"type":"number"}}}`
	changed := func(reader, writer string) string {
		return `{errorType:"TYPE_CHANGED", description:"The type in the ` + reader + ` schema differs from the one in the ` + writer + ` schema (path '#/properties/a')'}`
	}
	for level, want := range map[Level][]string{
		Backward: {changed("new", "old"), "{oldSchemaVersion: 3}", "{oldSchema: '" + old + "'}", "{validateFields: 'true', compatibility: 'BACKWARD'}"},
		Forward:  {changed("old", "new"), "{oldSchemaVersion: 3}", "{oldSchema: '" + old + "'}", "{validateFields: 'true', compatibility: 'FORWARD'}"},
		Full: {changed("old", "new"), changed("new", "old"), "{oldSchemaVersion: 3}", "{oldSchema: '" + old + "'}",
			"{validateFields: 'true', compatibility: 'FULL'}"},
		None: nil,
	} {
		res, err := checker.Check(t.Context(), level, parseJSON(t, next), []schema.Parsed{parseJSON(t, old)})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Messages(3, true); !slices.Equal(got, want) {
			t.Errorf("%s\n  got  %q\n  want %q", level, got, want)
		}
	}
}

func TestPolicies(t *testing.T) {
	checker := newChecker(t, Options{})
	old, next := parseJSON(t, `{"properties":{"a":{}}}`), parseJSON(t, `{"properties":{"a":{},"b":{"type":"string"}}}`)
	for name, want := range map[string]bool{"": false, "strict": false, "LOGICAL": false, "Lenient": true} {
		policy, ok := ParsePolicy(name)
		res, err := checker.CheckPolicy(t.Context(), Backward, policy, next, []schema.Parsed{old})
		if !ok || err != nil || res.Compatible != want {
			t.Errorf("%q: %v %v %v", name, ok, err, res)
		}
	}
	if _, ok := ParsePolicy("LAX"); ok {
		t.Error("parsed LAX")
	}
}

// TestJSONLimits: a pair that is too complex is a finding that says so.
func TestJSONLimits(t *testing.T) {
	s := parseJSON(t, `{"properties":{"a":{},"b":{}}}`)
	res, err := newChecker(t, Options{Limits: diff.Limits{StepsMax: 1}}).Check(t.Context(), Backward, s, []schema.Parsed{s})
	if err != nil || res.Compatible || res.Findings[0].Kind != NotComparable || !strings.Contains(res.Findings[0].Message, "too complex") {
		t.Errorf("%+v %v", res, err)
	}
	other := parse(t, `"int"`)
	if res, err = newChecker(t, Options{}).Check(t.Context(), Backward, s, []schema.Parsed{other}); err != nil || res.Compatible || res.Findings[0].Kind != TypeChanged {
		t.Errorf("%+v %v", res, err)
	}
}
