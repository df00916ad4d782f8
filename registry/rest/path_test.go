package rest

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestCleanPath(t *testing.T) {
	for _, c := range []struct{ path, want string }{ // "" means refused
		{"/", "/"},
		{"/subjects", "/subjects"},
		{"/subjects/", "/subjects"},
		{"/subjects/a%2Fb/versions", "/subjects/a%2Fb/versions"},
		{"/subjects/a%25/", "/subjects/a%25"},
		{"/subjects/%2F/", "/subjects/%2F"},
		{"/subjects/a;b=c/versions;x", "/subjects/a/versions"},
		{"/subjects/a%3Bb", "/subjects/a%3Bb"},
		{"/contexts/./subjects", "/contexts/./subjects"},
		{"/subjects/.../x", "/subjects/.../x"},
		{"/subjects/%C3%BC", "/subjects/%C3%BC"},
		{"/subjects/a+b", "/subjects/a+b"},
		{"//", ""},
		{"/subjects//", ""},
		{"/subjects//versions", ""},
		{"/subjects/;x/versions", ""},
		{"/subjects/../config", ""},
		{"/subjects/%2E%2E/config", ""},
		{"/subjects/.%2e", ""},
		{"/subjects/a%0Ab", ""},
		{"/subjects/%00", ""},
		{"/subjects/%7F", ""},
		{"/subjects/%5C", ""},
		{"/subjects/gr%F6%DFe", ""},
		{"/subjects/gr%C3%B6%C3%9Fe", "/subjects/gr%C3%B6%C3%9Fe"},
		{"/subjects/a\\b", ""},
		{"/subjects/%zz", ""},
		{"", ""},
		{"subjects", ""},
	} {
		got, ok := cleanPath(c.path)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.path, got, ok, c.want)
		}
	}
}

// FuzzCleanPath: a clean path stays clean, has no parameters, and its segments
// are those of the path up to parameters.
func FuzzCleanPath(f *testing.F) {
	for _, s := range []string{"/", "/subjects/a%2Fb;c/versions/", "/a/%2e%2e", "/%", "//", "/;/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		clean, ok := cleanPath(path)
		if !ok {
			return
		}
		if again, ok := cleanPath(clean); !ok || again != clean {
			t.Fatalf("%q: %q, then %q, %v", path, clean, again, ok)
		}
		if strings.Contains(clean, ";") || !strings.HasPrefix(clean, "/") {
			t.Fatalf("%q: %q", path, clean)
		}
		if _, err := url.PathUnescape(clean); err != nil {
			t.Fatalf("%q: %q: %v", path, clean, err)
		}
		if path != "/" && strings.Count(strings.TrimSuffix(path, "/"), "/") != strings.Count(clean, "/") {
			t.Fatalf("%q: %q has other segments", path, clean)
		}
	})
}

func TestParseQuery(t *testing.T) {
	names := []string{"a", "b", "deleted"}
	q, err := parseQuery("a=1&b&a=2&other=%zz2&deleted=True&b=x%2By+z&&=&a=", []string{"a", "b", "deleted"})
	if err != nil {
		t.Fatal(err)
	}
	if q.text("a") != "1" || !slices.Equal(q.all("a"), []string{"1", "2", ""}) || !slices.Equal(q.list("a"), []string{"1", "2"}) {
		t.Errorf("a: %q", q.all("a"))
	}
	if !slices.Equal(q.all("b"), []string{"", "x+y z"}) {
		t.Errorf("b: %q", q.all("b"))
	}
	if _, given := q.given("other"); given {
		t.Error("a parameter that the route does not list counts")
	}
	if !q.flag("deleted") || q.flag("a") || q.flag("none") {
		t.Error("flags")
	}
	for _, bad := range []string{"a=%z", "%=1", "a=%"} {
		if _, err := parseQuery(bad, names); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if q, err := parseQuery("%61=1", names); err != nil || q.text("a") != "1" {
		t.Errorf("escaped name: %v, %v", q, err)
	}
}

func TestPage(t *testing.T) {
	for _, c := range []struct {
		raw           string
		offset, limit int
		ok            bool
	}{
		{"", 0, 0, true},
		{"offset=&limit=", 0, 0, true},
		{"offset=3&limit=-1", 3, -1, true},
		{"limit=%2B7", 0, 7, true},
		{"limit=2147483647", 0, 2147483647, true},
		{"limit=2147483648", 0, 0, false},
		{"offset=1.5", 0, 0, false},
		{"offset=x", 0, 0, false},
		{"limit=+1", 0, 0, false},
	} {
		q, err := parseQuery(c.raw, []string{"offset", "limit"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := q.page()
		if (err == nil) != c.ok || c.ok && (p.Offset != c.offset || p.Limit != c.limit) {
			t.Errorf("%q: %+v, %v", c.raw, p, err)
		}
	}
}
