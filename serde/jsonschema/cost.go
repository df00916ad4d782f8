package jsonschema

import (
	"fmt"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// The library takes no budget, so what a document may cost is bounded before it
// is validated: by how many checks one of its values can meet at each depth.
// Schemas that apply twice to the same value on two ways double it, and in a
// recursive schema they double it at every level.

// applies are the schemas that one schema applies.
type applies struct {
	here  []int   // to the same value
	below []int   // to each value inside it, at most once for each entry
	cost  float64 // of its own keywords for one value
}

// graph is a compiled schema as what applies what.
type graph struct {
	index   map[*santhosh.Schema]int
	nodes   []applies
	schemas []*santhosh.Schema
	anchors map[string][]int // schemas by their dynamic anchor
	dynamic map[int][]string // anchors that a schema's dynamic references may mean
	order   []int            // what applies comes before what it applies
}

// costsByDepth returns for each depth of a document, the root's being 0, how
// many checks one of its values may meet, up to the depth at which the steps
// would not be enough for a single value.
func costsByDepth(root *santhosh.Schema, depthMax int, stepsMax float64) ([]float64, error) {
	g := &graph{index: map[*santhosh.Schema]int{}, anchors: map[string][]int{}, dynamic: map[int][]string{}}
	g.add(root)
	for i := 0; i < len(g.schemas); i++ {
		if i > nodesMax {
			return nil, fmt.Errorf("%w: more than %d subschemas", ErrNoValidator, nodesMax)
		}
		g.read(i)
	}
	for i, names := range g.dynamic {
		for _, name := range names {
			g.nodes[i].here = append(g.nodes[i].here, g.anchors[name]...)
		}
	}
	if err := g.sort(); err != nil {
		return nil, err
	}
	visits := make([]float64, len(g.nodes))
	visits[0] = 1
	var costs []float64
	most := 0.0
	for range depthMax + 1 {
		total := 0.0
		below := make([]float64, len(g.nodes))
		for _, i := range g.order {
			n := visits[i]
			if n == 0 {
				continue
			}
			total += n * g.nodes[i].cost
			for _, j := range g.nodes[i].here {
				visits[j] += n
			}
			for _, j := range g.nodes[i].below {
				below[j] += n
			}
		}
		most = max(most, total)
		if most > stepsMax {
			break
		}
		costs = append(costs, most)
		visits = below
	}
	return costs, nil
}

func (g *graph) add(s *santhosh.Schema) int {
	if i, ok := g.index[s]; ok {
		return i
	}
	i := len(g.schemas)
	g.index[s] = i
	g.schemas = append(g.schemas, s)
	g.nodes = append(g.nodes, applies{cost: 1})
	return i
}

// read fills in what schema i applies.
func (g *graph) read(i int) {
	s := g.schemas[i]
	n := applies{cost: 1 + float64(len(s.Required))}
	here := func(list ...*santhosh.Schema) {
		for _, t := range list {
			if t != nil {
				n.here = append(n.here, g.add(t))
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
	if s.Enum != nil {
		n.cost += float64(len(s.Enum.Values))
	}
	if s.RecursiveRef != nil {
		g.dynamic[i] = append(g.dynamic[i], "")
	}
	if s.RecursiveAnchor {
		g.anchors[""] = append(g.anchors[""], i)
	}
	if s.DynamicAnchor != "" {
		g.anchors[s.DynamicAnchor] = append(g.anchors[s.DynamicAnchor], i)
	}
	if d := s.DynamicRef; d != nil {
		here(d.Ref)
		if d.Anchor != "" {
			g.dynamic[i] = append(g.dynamic[i], d.Anchor)
		}
	}
	g.readBelow(s, &n)
	g.nodes[i] = n
}

// readBelow collects what a schema applies to the values inside of one. Schemas
// of different properties, or of different positions, never meet the same
// value, so of each such group a schema counts once.
func (g *graph) readBelow(s *santhosh.Schema, n *applies) {
	below := func(t any) {
		if t, ok := t.(*santhosh.Schema); ok && t != nil {
			n.below = append(n.below, g.add(t))
		}
	}
	apart := map[*santhosh.Schema]bool{}
	for _, t := range s.Properties {
		apart[t] = true
	}
	for t := range apart {
		below(t)
	}
	clear(apart)
	if list, ok := s.Items.([]*santhosh.Schema); ok {
		for _, t := range list {
			apart[t] = true
		}
	}
	for _, t := range s.PrefixItems {
		apart[t] = true
	}
	for t := range apart {
		below(t)
	}
	for _, t := range s.PatternProperties {
		below(t)
	}
	n.cost += float64(len(s.PatternProperties))
	for _, t := range []any{
		s.PropertyNames, s.AdditionalProperties, s.UnevaluatedProperties, s.Items, s.Items2020, s.AdditionalItems,
		s.Contains, s.UnevaluatedItems, s.ContentSchema,
	} {
		below(t)
	}
}

// sort orders the schemas so that each comes before those that it applies to
// the same value. A schema that so applies itself never ends; dynamic
// references only may do so, and are then left out.
func (g *graph) sort() error {
	const (
		fresh = iota
		open
		done
	)
	state := make([]uint8, len(g.nodes))
	type frame struct{ node, next int }
	var after []int
	for start := range g.nodes {
		if state[start] != fresh {
			continue
		}
		stack := []frame{{start, 0}}
		state[start] = open
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			here := g.nodes[f.node].here
			if f.next == len(here) {
				state[f.node] = done
				after = append(after, f.node)
				stack = stack[:len(stack)-1]
				continue
			}
			to := here[f.next]
			switch state[to] {
			case fresh:
				f.next++
				state[to] = open
				stack = append(stack, frame{to, 0})
			case open:
				if len(g.dynamic) == 0 {
					return fmt.Errorf("%w: it refers to itself without going deeper", ErrNoValidator)
				}
				g.nodes[f.node].here = append(here[:f.next:f.next], here[f.next+1:]...)
			default:
				f.next++
			}
		}
	}
	g.order = make([]int, len(after))
	for i, n := range after {
		g.order[len(after)-1-i] = n
	}
	return nil
}
