package diff

import (
	"errors"
	"testing"
)

func rule(k Kind, breaks, lenient bool) Rule {
	return Rule{Kind: k, Breaks: breaks, Lenient: lenient, Where: "w", Message: "{reader} {writer} {path} {info}", Source: "s"}
}

func TestTable(t *testing.T) {
	tab, err := NewTable([]Rule{rule("A", true, true), rule("B", true, false), rule("C", false, false)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind            Kind
		strict, lenient bool
	}{{"A", true, true}, {"B", true, false}, {"C", false, false}, {"D", true, true}} {
		if tab.Breaks(c.kind, false) != c.strict || tab.Breaks(c.kind, true) != c.lenient {
			t.Errorf("%s", c.kind)
		}
	}
	if tab.AnyBreaks([]Change{{Kind: "C"}}, false) || !tab.AnyBreaks([]Change{{Kind: "C"}, {Kind: "B"}}, false) {
		t.Error("any breaks")
	}
	ch := Change{Kind: "A", Path: "/{info}", Info: "i"}
	if got := tab.Describe(ch, "new", "old"); got != "new old /{info} i" {
		t.Errorf("%q", got)
	}
	if got := tab.Describe(Change{Kind: "D"}, "new", "old"); got != "" {
		t.Errorf("%q", got)
	}
	if len(tab.Rules()) != 3 {
		t.Error("rules")
	}
	for name, rules := range map[string][]Rule{
		"twice":    {rule("A", true, true), rule("A", true, true)},
		"stricter": {rule("A", false, true)},
		"no text":  {{Kind: "A", Where: "w", Source: "s"}},
	} {
		if _, err := NewTable(rules); err == nil {
			t.Errorf("%s accepted", name)
		}
	}
}

func TestPath(t *testing.T) {
	tab, err := NewTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := NewContext(t.Context(), tab, Limits{})
	if c.Path() != "/" || c.Path("name") != "/name" {
		t.Errorf("%s %s", c.Path(), c.Path("name"))
	}
	c.Push("fields", "a/b~c")
	if c.Path("type") != "/fields/a~1b~0c/type" {
		t.Error(c.Path("type"))
	}
	c.Pop(2)
	if c.Path() != "/" {
		t.Error(c.Path())
	}
}

func TestBounds(t *testing.T) {
	tab, err := NewTable([]Rule{rule("A", true, true), rule("C", false, false)})
	if err != nil {
		t.Fatal(err)
	}
	c := NewContext(t.Context(), tab, Limits{StepsMax: 10, DepthMax: 2, ChangesMax: 3})
	if got := c.Merge([]Change{{Kind: "A"}, {Kind: "A"}}, []Change{{Kind: "C"}, {Kind: "A"}}); len(got) != 3 || got[2].Kind != "C" {
		t.Errorf("merged %v", got)
	}
	if c.Fits([]Change{{Kind: "A"}}) || !c.Fits([]Change{{Kind: "C"}}) || !c.Fits(nil) {
		t.Error("fits")
	}
	if !c.Step(10) || c.Step(1) || !errors.Is(c.Err(), ErrTooComplex) {
		t.Errorf("steps: %v", c.Err())
	}
	c = NewContext(t.Context(), tab, Limits{DepthMax: 2})
	entered := 0
	for c.Enter() {
		entered++
	}
	if entered != 2 || !errors.Is(c.Err(), ErrTooComplex) {
		t.Errorf("depth: %v", c.Err())
	}
	first := c.Err()
	c.Fail(errors.New("second"))
	if c.Err() != first {
		t.Error("the first error was not kept")
	}
}

func TestPairs(t *testing.T) {
	tab, err := NewTable([]Rule{rule("A", true, true)})
	if err != nil {
		t.Fatal(err)
	}
	c := NewContext(t.Context(), tab, Limits{})
	var p Pairs[int]
	calls := 0
	var compare func() []Change
	compare = func() []Change {
		calls++
		if inner := p.Visit(c, 1, 2, compare); inner != nil {
			t.Errorf("a pair inside itself: %v", inner)
		}
		return []Change{{Kind: "A", Path: c.Path()}}
	}
	c.Push("x")
	first := p.Visit(c, 1, 2, compare)
	c.Push("y")
	again := p.Visit(c, 1, 2, compare)
	if calls != 1 || len(first) != 1 || len(again) != 1 || again[0].Path != "/x" {
		t.Errorf("%d calls, %v, %v", calls, first, again)
	}
	if other := p.Visit(c, 2, 1, func() []Change { return nil }); other != nil {
		t.Errorf("the pair exchanged: %v", other)
	}
}
