package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"milena/registry/state"
	"milena/registry/store"
)

// tie returns the record of an association written "namespace/name/type=subject".
func tie(path, guid, id string, millis int64) *store.Record {
	resource, subject, _ := strings.Cut(path, "=")
	part := strings.Split(resource, "/")
	r := store.NewAssociation(store.Association{
		GUID: guid, ResourceNamespace: part[0], ResourceName: part[1], ResourceID: id,
		ResourceType: "topic", AssociationType: part[2], Subject: subject, Lifecycle: "WEAK",
	})
	r.TimestampMillis = millis
	return r
}

func untie(r *store.Record) *store.Record {
	dead := *r
	dead.Association = nil
	return &dead
}

func TestAssociations(t *testing.T) {
	v := &state.View{}
	for i, path := range []string{"n2/a/value=s", "n1/b/value=s", "n1/b/key=s", "n1/a/key=:.c:s", "n1/a/value=:.:s"} {
		v = v.Apply(tie(path, fmt.Sprint("g", i), "id-"+strings.SplitN(path, "/", 3)[1], int64(i)))
	}
	paths := func(list []*state.Association) string {
		var out []string
		for _, a := range list {
			out = append(out, a.ResourceNamespace+"/"+a.ResourceName+"/"+a.AssociationType+"="+a.Name.String())
		}
		return strings.Join(out, " ")
	}
	s := state.Name{Context: ".", Local: "s"}
	for _, c := range []struct {
		what string
		got  []*state.Association
		want string
	}{
		{"all", slices.Collect(v.Associations()), "n1/a/key=:.c:s n1/a/value=s n1/b/key=s n1/b/value=s n2/a/value=s"},
		{"of a subject", slices.Collect(v.AssociationsOf(s)), "n1/a/value=s n1/b/key=s n1/b/value=s n2/a/value=s"},
		{"by id", slices.Collect(v.AssociationsByID("id-b")), "n1/b/key=s n1/b/value=s"},
		{"by name", slices.Collect(v.AssociationsNamed("a")), "n1/a/key=:.c:s n1/a/value=s n2/a/value=s"},
		{"in a namespace", slices.Collect(v.AssociationsIn("n2")), "n2/a/value=s"},
		{"of nothing", slices.Collect(v.AssociationsByID("none")), ""},
	} {
		if got := paths(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}

	// A record of the same GUID changes the association, another GUID makes
	// another one; the id that it is found by may move.
	old := v
	v = v.Apply(tie("n2/a/value=s", "g0", "id-new", 50))
	v = v.Apply(tie("n1/b/key=s", "other", "id-b", 60))
	for a := range v.AssociationsOf(s) {
		create, update := int64(0), int64(50)
		switch {
		case a.AssociationType == "key":
			create, update = 60, 60
		case a.ResourceNamespace == "n2":
		default:
			continue
		}
		if a.CreateMillis != create || a.UpdateMillis != update {
			t.Errorf("%s %s has the times %d and %d", a.ResourceNamespace, a.AssociationType, a.CreateMillis, a.UpdateMillis)
		}
	}
	if n := len(slices.Collect(v.AssociationsByID("id-a"))); n != 2 {
		t.Errorf("%d associations have the old id", n)
	}
	if old.SameAssociations(v, s) || old.SameResource(v, "id-a", "x") || old.SameResource(v, "x", "b") {
		t.Error("a changed association goes unnoticed")
	}
	if !old.SameAssociations(v, state.Name{Context: ".c", Local: "s"}) || !old.SameResource(v, "x", "y") {
		t.Error("an association that is as it was counts as changed")
	}

	for _, path := range []string{"n2/a/value=s", "n1/b/value=s", "n1/b/key=s", "n1/a/key=:.c:s", "n1/a/value=s", "n1/a/value=s"} {
		v = v.Apply(untie(tie(path, "", "", 0)))
	}
	if left := slices.Collect(v.Associations()); len(left) != 0 || len(slices.Collect(v.AssociationsOf(s))) != 0 {
		t.Errorf("left are %d associations", len(left))
	}
	if len(slices.Collect(old.Associations())) != 5 {
		t.Error("an older view has changed")
	}
}

func TestKeyring(t *testing.T) {
	v := &state.View{}
	dek := func(kek, subject, algorithm string, version int) *store.Dek {
		return &store.Dek{KekName: kek, Subject: subject, Algorithm: algorithm, Version: version, EncryptedKeyMaterial: "AA=="}
	}
	for _, name := range []string{"k", "j"} {
		v = v.Apply(store.KekRecord(name, &store.Kek{Name: name, KmsType: "t", KmsKeyID: "i"}))
	}
	for _, d := range []*store.Dek{
		dek("k", "s", "B", 2), dek("k", "s", "B", -3), dek("k", "s", "A", 1), dek("k", ":.c:s", "B", 1), dek("k", "sx", "B", 1), dek("kk", "s", "B", 1),
	} {
		v = v.Apply(store.DekRecord(d))
	}
	s := state.Name{Context: ".", Local: "s"}
	var got []string
	for d := range v.Deks("k") {
		got = append(got, fmt.Sprint(d.Subject, d.Algorithm, d.Version))
	}
	if want := []string{":.c:sB1", "sA1", "sB-3", "sB2", "sxB1"}; !slices.Equal(got, want) {
		t.Errorf("the keys are %v, want %v", got, want)
	}
	got = nil
	for d := range v.DekVersions("k", s, "B") {
		got = append(got, fmt.Sprint(d.Version))
	}
	if want := []string{"-3", "2"}; !slices.Equal(got, want) {
		t.Errorf("the versions are %v, want %v", got, want)
	}
	if v.KeyCount() != 8 || v.Kek("k") == nil || v.Kek("kk") != nil || v.Dek("k", s, "B", 2) == nil || v.Dek("k", s, "B", 1) != nil {
		t.Error("keys are not what was written")
	}
	old := v
	v = v.Apply(store.DekTombstone(dek("k", "s", "B", 2))).Apply(store.KekRecord("k", nil))
	if v.KeyCount() != 6 || v.Kek("k") != nil || v.Dek("k", s, "B", 2) != nil || old.Kek("k") == nil {
		t.Error("removed keys are still there")
	}
	names := ""
	for k := range old.Keks() {
		names += k.Name
	}
	if names != "jk" {
		t.Errorf("key encryption keys are listed as %q", names)
	}
}
