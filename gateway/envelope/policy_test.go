package envelope

import (
	"errors"
	"strings"
	"testing"
)

func TestModes(t *testing.T) {
	seen := map[string]bool{}
	for i, row := range modes() {
		if row.mode != Mode(i+1) || row.name == "" || row.doc == "" || seen[row.name] || row.rejects && !row.decodes {
			t.Errorf("row %d: %+v", i, row)
		}
		seen[row.name] = true
		m, err := ParseMode(row.name)
		if row.served != (err == nil) || err == nil && m != row.mode || row.mode.String() != row.name {
			t.Errorf("%s: %v, %v", row.name, m, err)
		}
	}
	for _, name := range []string{"", "STRICT", "none", "permissive "} {
		if _, err := ParseMode(name); !errors.Is(err, ErrMode) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if Mode(0).String() != "permissive" {
		t.Errorf("unset is %v", Mode(0))
	}
}

func TestPolicyOf(t *testing.T) {
	p, err := PolicyOf(map[string]string{ConfigKeyValidation: "off", ConfigValueValidation: "strict", ConfigSchemaContext: ".team", "cleanup.policy": "x"})
	if err != nil || p.Key != Off || p.Value != Strict || p.Context != ".team" {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = PolicyOf(nil)
	if d := p.withDefaults(Permissive, Strict); err != nil || d.Key != Permissive || d.Value != Strict || d.Context != "." {
		t.Errorf("%+v, %v", d, err)
	}
	for name, values := range map[string][]string{
		ConfigKeyValidation: {"quarantine", "x"}, ConfigValueValidation: {"mark", ""},
		ConfigSchemaContext: {"", "team", ".a:b", ".\n", "." + strings.Repeat("x", 300)},
	} {
		for _, v := range values {
			if _, err := PolicyOf(map[string]string{name: v}); err == nil || CheckConfig(name, v) == nil {
				t.Errorf("%s=%q is accepted", name, v)
			}
		}
	}
	for _, name := range ConfigNames() {
		if v := map[bool]string{true: ".", false: "strict"}[name == ConfigSchemaContext]; CheckConfig(name, v) != nil {
			t.Errorf("%s=%q is refused", name, v)
		}
	}
	if CheckConfig("other", "strict") == nil {
		t.Error("an unknown config is accepted")
	}
}

func TestOptions(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("an engine without anything")
	}
	r := newRig(t, nil)
	for _, m := range []Mode{Mark, Quarantine} {
		o := r.engine.opts
		o.ValueMode = m
		if _, err := New(o); !errors.Is(err, ErrMode) {
			t.Errorf("default mode %v: %v", m, err)
		}
	}
}
