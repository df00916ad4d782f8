package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"milena/registry/state"
	"milena/registry/store"
	"milena/registry/transfer"
)

// fold returns the view of schemas written "subject/version/id/text<subject/version,…".
func fold(schemas ...string) *state.View {
	v := &state.View{}
	for i, line := range schemas {
		line, refs, _ := strings.Cut(line, "<")
		part := strings.Split(line, "/")
		s := &store.Schema{Subject: part[0], Type: "AVRO", Text: part[3]}
		fmt.Sscan(part[1], &s.Version)
		fmt.Sscan(part[2], &s.ID)
		for ref := range strings.SplitSeq(refs, ",") {
			if subject, version, ok := strings.Cut(ref, "/"); ok {
				r := store.Reference{Name: ref, Subject: subject}
				fmt.Sscan(version, &r.Version)
				s.References = append(s.References, r)
			}
		}
		v = v.Apply(&store.Record{Kind: store.SchemaKind, Subject: s.Subject, Version: s.Version, Schema: s, TimestampMillis: int64(i + 1)})
	}
	return v
}

// TestOfOrder: a schema comes after what it refers to, wherever that is, and of
// a content with several ids the one that counts comes last. Circles end.
func TestOfOrder(t *testing.T) {
	for what, c := range map[string]struct {
		schemas []string
		want    string
	}{
		"names":             {[]string{"b/1/1/x", "a/2/3/z", "a/1/2/y"}, "a/1 a/2 b/1"},
		"a reference":       {[]string{"z/1/1/x", "a/1/2/y<z/1", "z/2/3/w"}, "z/1 a/1 z/2"},
		"a chain":           {[]string{"z/1/1/x", "m/1/2/y<z/1", "a/1/3/w<m/1,z/1"}, "z/1 m/1 a/1"},
		"other contexts":    {[]string{":.z:s/1/1/x", "a/1/2/y<:.z:s/1", ":.z:a/1/3/w<s/1"}, ":.z:s/1 :.z:a/1 a/1"},
		"what is not there": {[]string{"a/1/1/x<nowhere/1", "b/1/2/y"}, "a/1 b/1"},
		"a circle":          {[]string{"a/1/1/x<b/1", "b/1/2/y<a/1"}, "b/1 a/1"},
		"itself":            {[]string{"a/1/1/x<a/1"}, "a/1"},
		"several ids":       {[]string{"b/1/5/x", "a/1/7/x", "c/1/5/x", "d/1/9/y"}, "a/1 b/1 c/1 d/1"},
	} {
		var got []string
		for l := range transfer.Of(fold(c.schemas...), nil) {
			if l.Schema != nil {
				got = append(got, fmt.Sprintf("%s/%d", l.Schema.Subject, l.Schema.Version))
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", what, text, c.want)
		}
	}
}

// TestOfStops: whoever has enough gets no more, wherever that is.
func TestOfStops(t *testing.T) {
	v := fold("z/1/1/x", "a/1/2/y<z/1", ":.c:s/1/1/x")
	for _, r := range []*store.Record{
		{Kind: store.ConfigKind, Subject: "a", Config: &store.Config{}}, {Kind: store.ConfigKind, Config: &store.Config{}},
		{Kind: store.ModeKind, Subject: "a", Mode: &store.Mode{Mode: "IMPORT"}}, {Kind: store.ModeKind, Mode: &store.Mode{Mode: "IMPORT"}},
		store.KekRecord("k", &store.Kek{Name: "k"}), store.KekRecord("l", &store.Kek{Name: "l"}),
		store.DekRecord(&store.Dek{KekName: "k", Subject: "a", Algorithm: "AES256_GCM", Version: 1}),
		store.NewAssociation(store.Association{GUID: "g", ResourceName: "r", ResourceID: "i", ResourceType: "topic", AssociationType: "key", Subject: "a"}),
	} {
		v = v.Apply(r)
	}
	all := 0
	for range transfer.Of(v, nil) {
		all++
	}
	if all != 2+3+1+3+2+2 {
		t.Fatalf("%d lines", all)
	}
	for enough := 1; enough <= all; enough++ {
		got := 0
		for range transfer.Of(v, nil) {
			if got++; got == enough {
				break
			}
		}
	}
	some := 0
	for l := range transfer.Of(v, func(n state.Name) bool { return n.Context == ".c" }) {
		some++
		if l.Context == nil && l.Schema == nil {
			t.Errorf("%+v is not of the context", l)
		}
	}
	if some != 2 {
		t.Errorf("%d lines of the context", some)
	}
}
