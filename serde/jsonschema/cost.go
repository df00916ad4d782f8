package jsonschema

import (
	"fmt"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// The library takes no budget and no context, so a keyword of our own that
// every schema object has counts what it does.

// meter counts the checks of one document and stops them with a panic, which
// Validator.run catches, when there are too many.
type meter struct{ steps, most int }

// stopped is what a meter panics with.
type stopped struct{}

// vocabulary returns the counting keyword.
func (m *meter) vocabulary() *santhosh.Vocabulary {
	return &santhosh.Vocabulary{
		URL: "http://schema.invalid/meter",
		Compile: func(_ *santhosh.CompilerContext, obj map[string]any) (santhosh.SchemaExt, error) {
			c := counter{meter: m, cost: 1}
			for _, v := range obj {
				if list, ok := v.([]any); ok {
					c.cost += len(list)
				}
			}
			return c, nil
		},
	}
}

// counter adds up what the check of one value against one schema object costs:
// the object itself and the entries of its lists.
type counter struct {
	meter *meter
	cost  int
}

// Validate counts a check. It is called behind the other keywords, which is
// soon enough: what they apply was counted by then.
func (c counter) Validate(*santhosh.ValidatorContext, any) {
	c.meter.steps += c.cost
	if c.meter.steps > c.meter.most {
		panic(stopped{})
	}
}

// chainMax bounds how many schemas may be applied to one value inside each
// other: each takes a piece of the stack.
const chainMax = 200

// graph is a compiled schema as what applies what to the same value.
type graph struct {
	index   map[*santhosh.Schema]int
	schemas []*santhosh.Schema
	here    [][]int
	dynamic bool // there are references whose targets depend on the way to them
}

// shape is what bounds the cost of a document before it is checked.
type shape struct {
	chain    int // schemas applied to one value inside each other
	patterns int // patterns that one schema tries on each property
}

// shapeOf looks through a compiled schema. One that applies itself to the same
// value never ends, and is an error; so is too long a chain.
func shapeOf(root *santhosh.Schema) (shape, error) {
	g := &graph{index: map[*santhosh.Schema]int{}}
	g.add(root)
	var s shape
	for i := 0; i < len(g.schemas); i++ {
		if i > nodesMax {
			return s, fmt.Errorf("%w: more than %d subschemas", ErrNoValidator, nodesMax)
		}
		g.here = append(g.here, nil)
		g.read(i)
		s.patterns = max(s.patterns, len(g.schemas[i].PatternProperties))
	}
	var err error
	s.chain, err = g.longest()
	if err == nil && s.chain > chainMax {
		err = fmt.Errorf("%w: more than %d schemas apply to one value inside each other", ErrNoValidator, chainMax)
	}
	return s, err
}

func (g *graph) add(s *santhosh.Schema) int {
	i, ok := g.index[s]
	if !ok {
		i = len(g.schemas)
		g.index[s] = i
		g.schemas = append(g.schemas, s)
	}
	return i
}

// read notes what schema i applies to the same value, and which schemas it
// applies to others.
func (g *graph) read(i int) {
	s := g.schemas[i]
	here := func(list ...*santhosh.Schema) {
		for _, t := range list {
			if t != nil {
				g.here[i] = append(g.here[i], g.add(t))
			}
		}
	}
	here(s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	here(s.AllOf...)
	here(s.AnyOf...)
	here(s.OneOf...)
	for _, t := range s.DependentSchemas {
		here(t)
	}
	for _, t := range s.Dependencies {
		if t, ok := t.(*santhosh.Schema); ok {
			here(t)
		}
	}
	if s.DynamicRef != nil {
		here(s.DynamicRef.Ref)
	}
	g.dynamic = g.dynamic || s.DynamicRef != nil || s.RecursiveRef != nil
	g.readBelow(s)
}

func (g *graph) readBelow(s *santhosh.Schema) {
	below := func(t any) {
		if t, ok := t.(*santhosh.Schema); ok && t != nil {
			g.add(t)
		}
	}
	for _, t := range s.Properties {
		below(t)
	}
	for _, t := range s.PatternProperties {
		below(t)
	}
	for _, t := range s.PrefixItems {
		below(t)
	}
	if list, ok := s.Items.([]*santhosh.Schema); ok {
		for _, t := range list {
			below(t)
		}
	}
	for _, t := range []any{
		s.PropertyNames, s.AdditionalProperties, s.UnevaluatedProperties, s.Items, s.Items2020, s.AdditionalItems,
		s.Contains, s.UnevaluatedItems, s.ContentSchema,
	} {
		below(t)
	}
}

// longest returns the length of the longest way through what applies what. Of
// circles, only those through dynamic references may end, and are cut there.
func (g *graph) longest() (int, error) {
	const open = -1
	length := make([]int, len(g.schemas)) // 0: not looked at yet
	type frame struct{ node, next, most int }
	longest := 0
	for start := range g.schemas {
		if length[start] != 0 {
			continue
		}
		stack := []frame{{node: start}}
		length[start] = open
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == len(g.here[f.node]) {
				length[f.node] = f.most + 1
				longest = max(longest, f.most+1)
				stack = stack[:len(stack)-1]
				continue
			}
			switch to := g.here[f.node][f.next]; length[to] {
			case 0:
				length[to] = open
				stack = append(stack, frame{node: to})
			case open:
				if !g.dynamic {
					return 0, fmt.Errorf("%w: it refers to itself without going deeper", ErrNoValidator)
				}
				f.next++
			default:
				f.most = max(f.most, length[to])
				f.next++
			}
		}
	}
	return longest, nil
}
