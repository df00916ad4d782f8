package protobuf

import (
	"slices"
	"testing"
)

func TestTags(t *testing.T) {
	s := parse(t, `syntax = "proto3"; package p;
message M { option (confluent.message_meta).tags = "A"; string a = 1; oneof o { string b = 2 [deprecated = true, (confluent.field_meta) = {doc: "d"}]; }
 message N { int32 c = 3 [(confluent.field_meta).tags = "X", (confluent.field_meta).tags = "Y"]; } }`)
	tagged := map[Entity][]string{}
	var order []string
	for _, x := range s.Tags() {
		tagged[x.Entity] = x.Tags
		order = append(order, x.Path)
	}
	if want := []string{"M", "M.a", "M.b", "M.N", "M.N.c"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	for e, want := range map[Entity][]string{{"M", true}: {"A"}, {"M.a", false}: nil, {"M.b", false}: nil, {"M.N.c", false}: {"Y"}} {
		if !slices.Equal(tagged[e], want) {
			t.Errorf("%v: %q, want %q", e, tagged[e], want)
		}
	}
	const want = `syntax = "proto3";
package p;

message M {
  string a = 1 [(confluent.field_meta) = {
    tags: [
      "T1",
      "T2"
    ]
  }];

  oneof o {
    string b = 2 [
      deprecated = true,
      (confluent.field_meta) = {
        doc: "d",
        tags: [
          "B"
        ]
      }
    ];
  }

  message N {
    int32 c = 3 [
      (confluent.field_meta).tags = "X",
      (confluent.field_meta).tags = "Y"
    ];
  }
}
`
	before := s.Canonical()
	got := s.WithTags(map[Entity][]string{
		{"M", true}: nil, {"M.a", false}: {"T1", "T2"}, {"M.b", false}: {"B"}, {"M.N.c", false}: {"Y"}, {"nowhere", true}: {"Z"},
	})
	if got != want {
		t.Errorf("%s", got)
	}
	if text, _ := printFile(s.File()); text != before || parse(t, got).Canonical() != got {
		t.Error("the schema was changed, or the new text is not stable")
	}
}
