package state_test

import (
	"fmt"
	"slices"
	"testing"

	"milena/registry/state"
	"milena/registry/store"
)

func ptr[T any](v T) *T { return &v }

func put(subject string, version, id int, text string, more ...func(*store.Schema)) *store.Record {
	s := &store.Schema{Subject: subject, Version: version, ID: id, Type: "AVRO", Text: text}
	for _, m := range more {
		m(s)
	}
	return &store.Record{Kind: store.SchemaKind, Subject: subject, Version: version, Schema: s, TimestampMillis: int64(version)}
}

func soft(s *store.Schema) { s.Deleted = true }

func refers(subject string, version int) func(*store.Schema) {
	return func(s *store.Schema) {
		s.References = append(s.References, store.Reference{Name: "n", Subject: subject, Version: version})
	}
}

func drop(subject string, version int) *store.Record {
	return &store.Record{Kind: store.SchemaKind, Subject: subject, Version: version}
}

func deleteSubject(subject string, version int) *store.Record {
	return &store.Record{Kind: store.DeleteSubject, Subject: subject, Delete: &store.SubjectDelete{Subject: subject, Version: version}}
}

func clearSubject(subject string) *store.Record {
	return &store.Record{Kind: store.ClearSubject, Subject: subject, Exists: true}
}

func fold(records ...*store.Record) *state.View {
	v := &state.View{}
	for _, r := range records {
		v = v.Apply(r)
	}
	return v
}

// show prints what a view knows of subjects, ids and referrers.
func show(v *state.View) string {
	out := ""
	for s := range v.Subjects("") {
		out += fmt.Sprintf("%s(%d/%d):", s.Name, s.Live(), s.Len())
		for version := range s.Versions() {
			mark := ""
			if version.Deleted {
				mark = "-"
			}
			out += fmt.Sprintf(" %s%d=%d@%d", mark, version.Schema.Version, version.Schema.ID, version.TimestampMillis)
		}
		out += "; "
	}
	return out
}

func TestApplySchemas(t *testing.T) {
	for _, c := range []struct {
		name    string
		records []*store.Record
		want    string
	}{
		{"nothing", nil, ""},
		{"two versions", []*store.Record{put("s", 1, 1, "a"), put("s", 2, 2, "b")}, "s(2/2): 1=1@1 2=2@2; "},
		{"a soft deletion takes the time of its record", []*store.Record{
			put("s", 1, 1, "a"), {Kind: store.SchemaKind, Subject: "s", Version: 1, TimestampMillis: 9, Schema: put("s", 1, 1, "a", soft).Schema},
		}, "s(0/1): -1=1@9; "},
		{"a subject's deletion does not", []*store.Record{put("s", 1, 1, "a"), put("s", 2, 2, "b"), deleteSubject("s", 1)}, "s(1/2): -1=1@1 2=2@2; "},
		{"and may come again", []*store.Record{put("s", 1, 1, "a"), deleteSubject("s", 5), deleteSubject("s", 5), deleteSubject("t", 1)}, "s(0/1): -1=1@1; "},
		{"undeleted", []*store.Record{put("s", 1, 1, "a", soft), put("s", 1, 1, "a")}, "s(1/1): 1=1@1; "},
		{"tombstones", []*store.Record{put("s", 1, 1, "a"), put("s", 2, 2, "b"), drop("s", 1), drop("s", 7), drop("t", 1)}, "s(1/1): 2=2@2; "},
		{"the last version takes the subject", []*store.Record{put("s", 1, 1, "a"), drop("s", 1)}, ""},
		{"a replacement", []*store.Record{put("s", 1, 1, "a"), put("s", 1, 9, "b")}, "s(1/1): 1=9@1; "},
		{"the key's version counts", []*store.Record{{Kind: store.SchemaKind, Subject: "s", Version: 3, Schema: &store.Schema{Version: 1, ID: 1}}}, "s(1/1): 3=1@0; "},
		{"clearing drops what is soft deleted in scope", []*store.Record{
			put(":.a:s", 1, 1, "a", soft), put(":.a:s", 2, 2, "b"), put(":.a:t", 1, 3, "c", soft), put(":.ab:s", 1, 1, "a", soft), put("s", 1, 1, "a", soft),
			clearSubject(":.a:"),
		}, ":.a:s(1/1): 2=2@2; :.ab:s(0/1): -1=1@1; s(0/1): -1=1@1; "},
		{"of one subject", []*store.Record{put("s", 1, 1, "a", soft), put("st", 1, 2, "b", soft), clearSubject("s")}, "st(0/1): -1=2@1; "},
		{"of everything", []*store.Record{put("s", 1, 1, "a", soft), put(":.c:s", 1, 1, "a", soft), clearSubject("")}, ""},
		{"what says nothing", []*store.Record{{Kind: store.Noop}, {Kind: "ASSOC", Subject: "s"}, {Kind: store.ClearSubject}, {Kind: store.DeleteSubject, Subject: "s"}}, ""},
		{"names are canonical", []*store.Record{put(":.:s", 1, 1, "a"), put(":.c", 1, 1, "a"), put(":x:s", 1, 2, "b")}, ":.c:(1/1): 1=1@1; :x:s(1/1): 1=2@1; s(1/1): 1=1@1; "},
	} {
		if got := show(fold(c.records...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestOldViewsStay(t *testing.T) {
	a := fold(put("s", 1, 1, "a"))
	before := show(a)
	b := a.Apply(put("s", 2, 2, "b"))
	c := b.Apply(deleteSubject("s", 2)).Apply(clearSubject(""))
	if show(a) != before || b.Subject(state.ParseName("s")).Live() != 2 || show(c) != "" {
		t.Errorf("views changed: %s, %s, %s", show(a), show(b), show(c))
	}
	d := b.Apply(put("t", 1, 2, "b"))
	if d.Subject(state.ParseName("s")) != b.Subject(state.ParseName("s")) {
		t.Error("a subject that did not change is another one")
	}
}

func TestIDs(t *testing.T) {
	guid := func(text string) state.GUID { return state.GUIDOf(&store.Schema{Text: text}) }
	v := fold(put("s", 1, 3, "a"), put("t", 1, 3, "a"), put("u", 1, 7, "a"), put(":.c:s", 1, 1, "a"))
	c := v.Context(state.DefaultContext)
	check := func(v *state.View, wantID int, wantKnown bool, users int) {
		t.Helper()
		c := v.Context(state.DefaultContext)
		id, ok := c.ID(guid("a"))
		if id != wantID || ok != wantKnown || len(slices.Collect(c.Users(id))) != users {
			t.Errorf("id %d, %t, %d users; want %d, %t, %d", id, ok, len(slices.Collect(c.Users(id))), wantID, wantKnown, users)
		}
	}
	check(v, 7, true, 1) // the one written last
	v = v.Apply(drop("u", 1))
	check(v, 3, true, 2)
	v = v.Apply(put("s", 1, 3, "a", soft))
	check(v, 3, true, 2)
	if first := v.Context(state.DefaultContext).First(3); first == nil || first.Name.Local != "t" {
		t.Errorf("%+v shown for id 3, want the live user", first)
	}
	v = v.Apply(drop("s", 1)).Apply(drop("t", 1))
	check(v, 0, false, 0)
	if c := v.Context(state.DefaultContext); c.MaxID() != 7 || c.First(3) != nil || !c.Empty() {
		t.Errorf("highest id %d, first %v", c.MaxID(), c.First(3))
	}
	if c.MaxID() != 7 || c.Empty() {
		t.Error("the older context changed")
	}
	var in []string
	for c := range v.HasGUID(guid("a")) {
		in = append(in, c.Name)
	}
	if !slices.Equal(in, []string{".c"}) {
		t.Errorf("the content is in %v", in)
	}
	var none *state.Context
	if _, ok := none.ID(guid("a")); ok || none.MaxID() != 0 || none.First(1) != nil || !none.Empty() || none.Declared() {
		t.Error("an unknown context knows something")
	}
}

func TestReferrers(t *testing.T) {
	v := fold(put("r", 1, 1, "r"), put("s", 1, 2, "s", refers("r", 1)), put(":.c:r", 1, 1, "r"), put(":.c:s", 1, 2, "s", refers("r", 1)), put(":.c:t", 1, 3, "t", refers(":.:r", 1)))
	names := func(v *state.View, subject string) string {
		out := ""
		for r := range v.Referrers(state.ParseName(subject), 1) {
			out += fmt.Sprintf("%s/%t ", r.Name, r.Deleted)
		}
		return out
	}
	if got := names(v, "r"); got != ":.c:t/false s/false " {
		t.Errorf("referrers of r: %s", got)
	}
	if got := names(v, ":.c:r"); got != ":.c:s/false " {
		t.Errorf("referrers of :.c:r: %s", got)
	}
	gone := v.Apply(deleteSubject("s", 1))
	if got := names(gone, "r"); got != ":.c:t/false s/true " {
		t.Errorf("referrers of r: %s", got)
	}
	if v.SameReferrers(gone, state.ParseName("r"), 1) || !v.SameReferrers(gone, state.ParseName(":.c:r"), 1) {
		t.Error("referrers compare wrongly")
	}
	gone = gone.Apply(drop("s", 1)).Apply(drop(":.c:t", 1))
	if got := names(gone, "r"); got != "" {
		t.Errorf("referrers of r: %s", got)
	}
}

func TestContextsAndSettings(t *testing.T) {
	declare := func(c string, exists bool) *store.Record {
		return &store.Record{Kind: store.ContextKind, Context: c, Exists: exists}
	}
	config := func(subject, alias string) *store.Record {
		return &store.Record{Kind: store.ConfigKind, Subject: subject, Config: &store.Config{Alias: ptr(alias)}}
	}
	mode := func(subject string) *store.Record {
		return &store.Record{Kind: store.ModeKind, Subject: subject, Mode: &store.Mode{Mode: "READONLY"}}
	}
	v := fold(declare(".b", true), declare(".a", true), put(":.c:s", 1, 1, "x"), declare(".a", false), config("", "g"), config("x1", "t"), config("x2", ""), config(":.x:x3", "t"), mode(":.c:"), mode(":.c:s"), mode("s"), mode(":.cc:s"))
	if got := slices.Collect(v.Contexts()); !slices.Equal(got, []string{".", ".b", ".c"}) {
		t.Errorf("contexts %v", got)
	}
	v = v.Apply(drop(":.c:s", 1))
	if got := slices.Collect(v.Contexts()); !slices.Equal(got, []string{".", ".b"}) {
		t.Errorf("contexts %v", got)
	}
	aliases := ""
	for from, to := range v.Aliases("") {
		aliases += from.String() + ">" + to + " "
	}
	if aliases != ":.x:x3>t x1>t " {
		t.Errorf("aliases %s", aliases)
	}
	if got := slices.Collect(v.ModesIn(".c")); len(got) != 2 || !got[0].IsContext() || got[1].Local != "s" {
		t.Errorf("modes %v", got)
	}
	if v.Config(state.ParseName(":.:")) == nil || v.Mode(state.ParseName(":.:s")) == nil {
		t.Error("names of settings are not canonical")
	}
	v = v.Apply(&store.Record{Kind: store.ConfigKind}).Apply(&store.Record{Kind: store.ModeKind, Subject: "s"})
	if v.Config(state.ParseName("")) != nil || v.Mode(state.ParseName("s")) != nil {
		t.Error("settings stayed")
	}
}

// TestGUID holds GUIDs that the reference gave.
func TestGUID(t *testing.T) {
	for _, c := range []struct {
		schema store.Schema
		want   string
	}{
		{store.Schema{Text: `"string"`}, "095d71cf-1255-6b9d-5e33-0ad575b3df5d"},
		{store.Schema{Text: `"string"`, Metadata: &store.Metadata{Properties: map[string]string{"team": "blue"}}}, "fcdf4d47-00aa-69fb-1694-7c2b1d8424e7"},
		{store.Schema{Text: `"string"`, Metadata: &store.Metadata{
			Tags: map[string][]string{"**.ssn": {"PII"}}, Properties: map[string]string{"b": "2", "a": "1"},
		}}, "d847e49d-33e0-ab46-a18a-de4ffc83cb57"},
		{store.Schema{Text: `"int"`, References: []store.Reference{{Name: "n.E", Subject: "z", Version: 1}}}, "d82d4943-d7c0-10ef-70b0-bc1ac7c6695b"},
		{store.Schema{Text: `"int"`}, "ef524ea1-b91e-7317-3d93-8ade36c1db32"},
		{store.Schema{Text: `"int"`, Metadata: &store.Metadata{}}, "1d1d1f70-2ee5-5e03-8ce5-4f3b6703c50f"},
		{store.Schema{Text: `"int"`, RuleSet: &store.RuleSet{}}, "1d1d1f70-2ee5-5e03-8ce5-4f3b6703c50f"},
		{store.Schema{
			Text: `{"type":"record","name":"Rhfvbjfodr","fields":[{"name":"a","type":"string"}]}`,
			RuleSet: &store.RuleSet{MigrationRules: []store.Rule{{
				Name: "m", Doc: "d", Kind: "TRANSFORM", Mode: "UPGRADE", Type: "JSONATA", Tags: []string{"A", "B"},
				Params: map[string]string{"p": "1"}, Expr: "$", OnSuccess: "NONE", OnFailure: "ERROR", Disabled: true,
			}}},
		}, "fbb989d6-1203-b605-2fa6-c69d74586730"},
	} {
		g := state.GUIDOf(&c.schema)
		if g.String() != c.want {
			t.Errorf("%s has GUID %s, want %s", c.schema.Text, g, c.want)
		}
		for _, spelled := range []string{c.want, c.want[:8] + c.want[9:13] + c.want[14:18] + c.want[19:23] + c.want[24:]} {
			if parsed, ok := state.ParseGUID(spelled); !ok || parsed != g {
				t.Errorf("%s parsed to %s, %t", spelled, parsed, ok)
			}
		}
	}
	for _, bad := range []string{"", "nonsense", "095d71cf-1255-6b9d-5e33-0ad575b3df5", "g95d71cf12556b9d5e330ad575b3df5d", "095d71cf12556b9d5e330ad575b3df5d00"} {
		if _, ok := state.ParseGUID(bad); ok {
			t.Errorf("%q is no GUID", bad)
		}
	}
}

func TestNames(t *testing.T) {
	for subject, want := range map[string]state.Name{
		"":           {Context: "."},
		"s":          {Context: ".", Local: "s"},
		":s":         {Context: ".", Local: ":s"},
		":c:s":       {Context: ".", Local: ":c:s"},
		":.c:s":      {Context: ".c", Local: "s"},
		":.c:s:t:":   {Context: ".c", Local: "s:t:"},
		":.c:":       {Context: ".c"},
		":.c":        {Context: ".c"},
		":.:s":       {Context: ".", Local: "s"},
		":.:":        {Context: "."},
		":*:s":       {Context: ".", Local: ":*:s"},
		":.__GLOBAL": {Context: state.GlobalContext},
	} {
		got := state.ParseName(subject)
		if got != want {
			t.Errorf("%q is %+v, want %+v", subject, got, want)
		}
		if again := state.ParseName(got.String()); again != got {
			t.Errorf("%q became %q, which is %+v", subject, got, again)
		}
	}
	in := state.Name{Context: ".c", Local: "s"}
	if in.In("r").String() != ":.c:r" || in.In(":.d:r").String() != ":.d:r" || in.In(":.:r").String() != "r" {
		t.Error("references resolve in the wrong context")
	}
}

// TestPublishingCostsTheChange registers into a large view and bounds what one
// more record allocates: a path in each index, not the registry.
func TestPublishingCostsTheChange(t *testing.T) {
	v := &state.View{}
	const subjects = 5_000
	for i := range subjects {
		v = v.Apply(put(fmt.Sprintf("s%d", i), 1, i+1, fmt.Sprint(i)))
	}
	one := put("one more", 1, subjects+1, "one more")
	if n := testing.AllocsPerRun(100, func() { v.Apply(one) }); n > 250 {
		t.Errorf("one record allocates %.0f times", n)
	}
}

func BenchmarkApply(b *testing.B) {
	v := &state.View{}
	i := 0
	for b.Loop() {
		v = v.Apply(put(fmt.Sprintf("s%d", i), 1, i+1, fmt.Sprint(i)))
		i++
	}
}
