package state_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"milena/registry/state"
	"milena/registry/store"
)

func heap(b []byte) string { return string(b) }

// through writes a view and reads it back.
func through(t interface{ Fatal(...any) }, v *state.View) *state.View {
	var buf bytes.Buffer
	if err := v.WriteSnapshot(&buf); err != nil {
		t.Fatal(err)
	}
	read, err := state.ReadSnapshot(buf.Bytes(), heap)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// showRest prints what showAll does not: everything beyond schemas.
func showRest(v *state.View) string {
	out := showAll(v)
	for a := range v.Associations() {
		out += fmt.Sprintf("%+v\n", *a)
	}
	for k := range v.Keks() {
		out += fmt.Sprintf("%+v\n", *k)
		for d := range v.Deks(k.Name) {
			out += fmt.Sprintf("%+v\n", *d)
		}
	}
	for n, c := range v.Configs() {
		out += fmt.Sprintf("%s %s\n", n, asJSON(c))
	}
	for n, m := range v.Modes() {
		out += fmt.Sprintf("%s %+v\n", n, *m)
	}
	for s := range v.Subjects("") {
		for version := range s.Versions() {
			out += fmt.Sprintf("%+v %s %s\n", version.Name, asJSON(version.Schema), version.GUID)
		}
	}
	return out
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	return fmt.Sprint(string(b), err)
}

// drawAny draws a record of any kind.
func drawAny(t *rapid.T) *store.Record {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	r := drawRecord(t)
	switch rapid.IntRange(0, 9).Draw(t, "sort") {
	case 0:
		r = store.NewAssociation(store.Association{
			GUID: pick("guid", "g", "h"), ResourceName: pick("resource", "t", "u"), ResourceNamespace: "n", ResourceID: pick("id", "i", "j"),
			ResourceType: "topic", AssociationType: pick("type", "key", "value"), Subject: pick("subject", "r", ":.c:s"), Lifecycle: "WEAK",
		})
		if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
			r.Association = nil
		}
	case 1:
		r = store.KekRecord("k", &store.Kek{Name: "k", KmsType: "t", KmsProps: map[string]string{"a": "b"}, Deleted: rapid.Bool().Draw(t, "deleted")})
		if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
			r.Kek = nil
		}
	case 2:
		r = store.DekRecord(&store.Dek{KekName: "k", Subject: pick("subject", "r", ":.c:s"), Algorithm: "A", Version: rapid.IntRange(-1, 2).Draw(t, "version")})
		if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
			r.Dek = nil
		}
	case 3:
		if r.Schema != nil {
			r.Schema.Type = pick("type", "JSON", "PROTOBUF", "OTHER")
			r.Schema.Metadata = &store.Metadata{Properties: map[string]string{"p": "1"}}
			r.Schema.Subject = pick("own subject", "x", ":.:s", "")
		}
	}
	r.TimestampMillis = int64(rapid.IntRange(-1, 1<<40).Draw(t, "time"))
	return r
}

// TestSnapshotIsTheView compares a view with its snapshot, and what both become
// when the history goes on.
func TestSnapshotIsTheView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &state.View{}
		for range rapid.IntRange(0, 50).Draw(t, "before") {
			v = v.Apply(drawAny(t))
		}
		read := through(t, v)
		if got, want := showRest(read), showRest(v); got != want {
			t.Fatalf("the snapshot is\n%s\nwant\n%s", got, want)
		}
		for range rapid.IntRange(0, 20).Draw(t, "after") {
			r := drawAny(t)
			v, read = v.Apply(r), read.Apply(r)
		}
		if got, want := showRest(read), showRest(v); got != want {
			t.Fatalf("the snapshot went on to\n%s\nwant\n%s", got, want)
		}
	})
}

// TestSnapshotOfManyVersions has nodes of several levels in every index.
func TestSnapshotOfManyVersions(t *testing.T) {
	b := state.NewBuilder(&state.View{})
	for i := range 3_000 {
		b.Apply(state.Prepare(put(fmt.Sprintf("s%d", i%700), i/700+1, i%1_100+1, fmt.Sprint(i%1_100), refers("s0", 1))))
	}
	v := b.View()
	read := through(t, v)
	if got, want := showRest(read), showRest(v); got != want {
		t.Error("the snapshot of a large view is another one")
	}
	for i := range 700 {
		r := drop(fmt.Sprintf("s%d", i), 2)
		v, read = v.Apply(r), read.Apply(r)
	}
	if got, want := showRest(read), showRest(v); got != want {
		t.Error("the snapshot of a large view goes on otherwise")
	}
}

// TestSnapshotHoldsEveryField fails when a view gets a part that snapshots
// don't know: write it in WriteSnapshot, then add it here.
func TestSnapshotHoldsEveryField(t *testing.T) {
	for _, c := range []struct {
		of   any
		want []string
	}{
		{state.View{}, []string{"subjects", "contexts", "guids", "referrers", "configs", "modes", "edit", "associations", "keyring"}},
		{state.Version{}, []string{"Name", "Schema", "GUID", "TimestampMillis", "Deleted"}},
		{state.Context{}, []string{"Name", "declared", "rows", "maxID", "ids", "contents", "owner"}},
		{state.Association{}, []string{"Association", "Name", "CreateMillis", "UpdateMillis"}},
		{state.Kek{}, []string{"Kek", "TimestampMillis"}},
		{state.Dek{}, []string{"Dek", "TimestampMillis"}},
		{store.Schema{}, []string{"Subject", "Version", "ID", "Type", "References", "Metadata", "RuleSet", "Text", "Deleted"}},
	} {
		typ := reflect.TypeOf(c.of)
		var names []string
		for i := range typ.NumField() {
			names = append(names, typ.Field(i).Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%s has %v, snapshots hold %v", typ, names, c.want)
		}
	}
}

func snapshotSeed(t interface{ Fatal(...any) }) []byte {
	v := fold(put("r", 1, 1, "a"), put("s", 1, 2, "b", refers("r", 1)), put("s", 2, 7, "b", soft), put(":.c:s", 1, 1, "a"),
		&store.Record{Kind: store.ContextKind, Context: ".c", Exists: true}, &store.Record{Kind: store.ModeKind, Subject: "s", Mode: &store.Mode{Mode: "IMPORT"}})
	var buf bytes.Buffer
	if err := v.WriteSnapshot(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestSnapshotCutShort(t *testing.T) {
	whole := snapshotSeed(t)
	for n := range whole {
		if _, err := state.ReadSnapshot(whole[:n], heap); err == nil {
			t.Errorf("%d of %d bytes are a snapshot", n, len(whole))
		}
	}
	if _, err := state.ReadSnapshot(append(slices.Clone(whole), 0), heap); err == nil {
		t.Error("a snapshot with a byte more is one")
	}
}

// FuzzSnapshot reads whatever a disk may hold. What is taken must be a view that
// can be used and written again.
func FuzzSnapshot(f *testing.F) {
	f.Add(snapshotSeed(f))
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := state.ReadSnapshot(data, heap)
		if err != nil {
			return
		}
		want := showRest(v)
		if got := showRest(through(t, v)); got != want {
			t.Fatalf("written again it is\n%s\nwant\n%s", got, want)
		}
		v.Apply(deleteSubject("s", 5)).Apply(clearSubject("")).Apply(put("s", 1, 1, "a"))
	})
}
