package evolution_test

import (
	"strings"
	"testing"

	"milena/evolution"
	"milena/serde/schema"
)

// TestAdvice: each row says why, and each that breaks what would not, in both
// directions.
func TestAdvice(t *testing.T) {
	c, err := evolution.New(evolution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []schema.Type{schema.Avro, schema.JSON, schema.Protobuf} {
		rules := c.Rules(format)
		if len(rules) == 0 {
			t.Errorf("%s has no rules", format)
		}
		for _, r := range rules {
			if r.Why == "" || r.Breaks && (r.Fix == "" || r.FixForward == "") || !r.Breaks && r.Fix+r.FixForward != "" {
				t.Errorf("%s %s: why %q, fixes %q and %q", format, r.Kind, r.Why, r.Fix, r.FixForward)
			}
		}
	}
	if c.Rules("XML") != nil {
		t.Error("rules of no format")
	}
}

// TestExplain: names, values and places in both texts.
func TestExplain(t *testing.T) {
	c, err := evolution.New(evolution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range explainCases() {
		t.Run(tc.name, func(t *testing.T) {
			next, old := parseText(t, tc.format, tc.new), parseText(t, tc.format, tc.old)
			r, err := c.Check(t.Context(), tc.level, next, []schema.Parsed{old})
			if err != nil {
				t.Fatal(err)
			}
			all := c.Explain(r.Findings, evolution.Text{Schema: next, Text: tc.new}, evolution.Text{Schema: old, Text: tc.old})
			if len(all) == 0 {
				t.Fatal("no findings")
			}
			e := all[0]
			got := strings.Join([]string{e.Rule, e.Name, at(e.Old.Line, e.Old.Column), e.Old.Value, at(e.New.Line, e.New.Column), e.New.Value}, " | ")
			if got != tc.want || !strings.Contains(e.Fix, tc.fix) || e.Why == "" || e.Forward != (tc.level == evolution.Forward) {
				t.Errorf("got  %s\nwant %s\nwhy %s\nfix %s\nwant %s", got, tc.want, e.Why, e.Fix, tc.fix)
			}
			if again, err := c.Check(t.Context(), tc.level, parseText(t, tc.format, tc.mended), []schema.Parsed{old}); err != nil || !again.Compatible {
				t.Errorf("after the fix: %v %v", again.Findings, err)
			}
			for _, blank := range []string{"{name}", "{old}", "{new}", "{info}", "{reader}", "{writer}", "{keyword}"} {
				if strings.Contains(e.Why+e.Fix, blank) {
					t.Errorf("%s was not filled in: %s %s", blank, e.Why, e.Fix)
				}
			}
		})
	}
}
