package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"milena/registry/state"
	"milena/registry/store"
)

// showAll prints everything that schemas' records change in a view.
func showAll(v *state.View) string {
	var b strings.Builder
	b.WriteString(show(v))
	fmt.Fprintf(&b, "contexts %v\n", slices.Collect(v.Contexts()))
	for _, name := range []string{state.DefaultContext, ".c", ".d"} {
		c := v.Context(name)
		fmt.Fprintf(&b, "%s: max %d, empty %t, declared %t, modes %v\n", name, c.MaxID(), c.Empty(), c.Declared(), slices.Collect(v.ModesIn(name)))
		for id := range 7 {
			for user := range c.Users(id) {
				fmt.Fprintf(&b, "  %d is used by %s/%d, deleted %t\n", id, user.Name, user.Schema.Version, user.Deleted)
			}
		}
	}
	for _, text := range []string{"a", "b", "c"} {
		g := state.GUIDOf(&store.Schema{Text: text})
		for c := range v.HasGUID(g) {
			id, known := c.ID(g)
			fmt.Fprintf(&b, "%s is %d in %s, %t\n", text, id, c.Name, known)
		}
	}
	for from, to := range v.Aliases("") {
		fmt.Fprintf(&b, "%s is an alias of %s\n", from, to)
	}
	for _, subject := range []string{"r", ":.c:r"} {
		for user := range v.Referrers(state.ParseName(subject), 1) {
			fmt.Fprintf(&b, "%s is referred to by %s/%d, deleted %t\n", subject, user.Name, user.Schema.Version, user.Deleted)
		}
	}
	return b.String()
}

// drawRecord draws a record of any kind that concerns schemas.
func drawRecord(t *rapid.T) *store.Record {
	subject := rapid.SampledFrom([]string{"r", "s", "t", ":.c:r", ":.c:s", ":.d:s"}).Draw(t, "subject")
	version := rapid.IntRange(1, 3).Draw(t, "version")
	switch rapid.IntRange(0, 14).Draw(t, "kind") {
	case 0:
		return deleteSubject(subject, version)
	case 1:
		return clearSubject(rapid.SampledFrom([]string{subject, "", ":.c:"}).Draw(t, "scope"))
	case 2, 3, 4:
		return drop(subject, version)
	case 5:
		return &store.Record{Kind: store.ContextKind, Context: ".c", Exists: rapid.Bool().Draw(t, "exists")}
	case 6:
		r := &store.Record{Kind: store.ConfigKind, Subject: subject}
		if rapid.Bool().Draw(t, "exists") {
			r.Config = &store.Config{Alias: ptr("t")}
		}
		return r
	case 7:
		r := &store.Record{Kind: store.ModeKind, Subject: subject}
		if rapid.Bool().Draw(t, "exists") {
			r.Mode = &store.Mode{Mode: "READONLY"}
		}
		return r
	}
	text := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "text")
	r := put(subject, version, rapid.IntRange(0, 6).Draw(t, "id"), text)
	r.Schema.Deleted = rapid.IntRange(0, 3).Draw(t, "deleted") == 0
	if rapid.IntRange(0, 3).Draw(t, "refers") == 0 {
		refers("r", 1)(r.Schema)
	}
	return r
}

// TestBuilderFoldsAsApply folds random histories in both ways, and keeps what
// the builder returned on the way to see that it does not change.
func TestBuilderFoldsAsApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &state.View{}
		b := state.NewBuilder(v)
		kept, want := []*state.View{v}, []string{showAll(v)}
		for range rapid.IntRange(0, 60).Draw(t, "records") {
			r := drawRecord(t)
			before := showAll(b.Current())
			if showAll(b.Current().Apply(r)); showAll(b.Current()) != before {
				t.Fatal("looking ahead from a builder changed it")
			}
			v = v.Apply(r)
			b.Apply(state.Prepare(r))
			switch rapid.IntRange(0, 9).Draw(t, "look") {
			case 0:
				kept, want = append(kept, b.View()), append(want, showAll(v))
			case 1:
				b = state.NewBuilder(b.View())
			}
		}
		kept, want = append(kept, b.View()), append(want, showAll(v))
		for i := range kept {
			if got := showAll(kept[i]); got != want[i] {
				t.Fatalf("view %d of %d is\n%s\nwant\n%s", i, len(kept), got, want[i])
			}
		}
	})
}
