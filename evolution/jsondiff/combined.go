package jsondiff

import (
	"strconv"

	"milena/serde/jsonschema"
)

// alikeFrom is how many pairs of parts there must be before parts that are
// written alike are matched without a look at all others. In a matching of the
// most parts that is always possible, because reading is transitive.
const alikeFrom = 1024

// lifted compares a schema with one that combines several: with its only part,
// or with the first part that fits where one is enough. It reports false if the
// two are still to be compared as they are.
func (w *walker) lifted(p pair) (result, bool) {
	original, update := p.original, p.update
	was, is := original.Kind == jsonschema.KindCombined, update.Kind == jsonschema.KindCombined
	switch {
	case was == is:
	case is && len(update.Parts) == 1:
		if w.fits(original, update.Parts[0]) {
			return w.schemas(original, update.Parts[0]), true
		}
	case is && update.Criterion != jsonschema.AllOf:
		for _, part := range update.Parts {
			if w.fits(original, part) {
				r := w.schemas(original, part)
				w.emit(&r, SumTypeExtended)
				return r, true
			}
		}
	case was && len(original.Parts) == 1:
		if w.fits(original.Parts[0], update) {
			return w.schemas(original.Parts[0], update), true
		}
	case was && original.Criterion == jsonschema.AllOf:
		for _, part := range original.Parts {
			if w.fits(part, update) {
				r := w.schemas(part, update)
				w.emit(&r, ProductTypeNarrowed)
				return r, true
			}
		}
	}
	return result{}, false
}

// combined compares two combined schemas: how they combine, how many parts they
// have, and whether each part finds one of its own on the other side.
func (w *walker) combined(r *result, original, update *jsonschema.Node) {
	if original.Criterion != update.Criterion {
		if !extendsCriterion(original, update) {
			w.emit(r, CombinedTypeChanged)
			return
		}
		w.emit(r, CombinedTypeExtended)
	}
	was, is := w.distinct(original.Parts), w.distinct(update.Parts)
	if w.c.Err() != nil {
		return
	}
	switch {
	case len(is) > len(was) && update.Criterion == jsonschema.AllOf:
		w.emit(r, ProductTypeExtended)
	case len(is) > len(was):
		w.emit(r, SumTypeExtended)
	case len(is) < len(was) && original.Criterion == jsonschema.AllOf:
		w.emit(r, ProductTypeNarrowed)
	case len(is) < len(was):
		w.emit(r, SumTypeNarrowed)
	}
	if w.enough(r) {
		return
	}
	matched := w.match(was, is)
	pairs := 0
	for i, j := range matched {
		if j < 0 {
			continue
		}
		pairs++
		w.at(r, was[i], is[j], original.Criterion.String(), strconv.Itoa(i))
	}
	if pairs < min(len(was), len(is)) {
		w.emit(r, CombinedTypeSubschemasChanged)
	}
}

// extendsCriterion reports whether another criterion lets everything through
// that the first one did.
func extendsCriterion(original, update *jsonschema.Node) bool {
	one, other := len(original.Parts) == 1, len(update.Parts) == 1
	return update.Criterion == jsonschema.AnyOf ||
		one && other ||
		one && update.Criterion == jsonschema.OneOf ||
		other && original.Criterion == jsonschema.AllOf
}

// distinct returns the parts without those that are written like an earlier
// one.
func (w *walker) distinct(parts []*jsonschema.Node) []*jsonschema.Node {
	if len(parts) < 2 {
		return parts
	}
	seen := make(map[string]bool, len(parts))
	out := make([]*jsonschema.Node, 0, len(parts))
	for _, p := range parts {
		key := w.key(p)
		if !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

// keyBytesPerStep is how many bytes of a part's text count as one step.
const keyBytesPerStep = 64

func (w *walker) key(n *jsonschema.Node) string {
	key, ok := w.keys[n]
	if !ok && w.c.Err() == nil {
		key = string(n.AppendKey(nil))
		w.keys[n] = key
		w.c.Step(1 + len(key)/keyBytesPerStep)
	}
	return key
}

// match pairs as many parts as it can with parts that read them, each with one,
// and returns for each part of the writer the reader's, or -1. Where several
// could be paired with one, it is the first, or if there are too many the last:
// so the reference mostly does, whose order is that of a hash set.
func (w *walker) match(was, is []*jsonschema.Node) []int {
	m := matching{of: make([]int, len(was)), by: make([]int, len(is)), edges: make([][]int, len(was))}
	for i := range m.of {
		m.of[i] = -1
	}
	for j := range m.by {
		m.by[j] = -1
	}
	if len(was)*len(is) >= alikeFrom {
		at := make(map[string]int, len(is))
		for j, p := range is {
			at[w.key(p)] = j
		}
		for i, p := range was {
			if j, ok := at[w.key(p)]; ok && w.fits(p, is[j]) {
				m.of[i], m.by[j] = j, i
			}
		}
	}
	for i, p := range was {
		if m.of[i] >= 0 {
			continue
		}
		for j, q := range is {
			if m.by[j] >= 0 {
				continue // taken by one that is written alike
			}
			if !w.c.Step(1) {
				return m.of
			}
			if w.fits(p, q) {
				m.edges[i] = append(m.edges[i], j)
			}
		}
	}
	for i := range was {
		if len(was) > len(is) {
			i = len(was) - 1 - i
		}
		if m.of[i] < 0 {
			if !w.c.Step(1 + len(is)) {
				break
			}
			m.augment(i, make([]bool, len(is)))
		}
	}
	return m.of
}

// matching is a bipartite matching that grows by augmenting paths.
type matching struct {
	of    []int   // by part of the writer
	by    []int   // by part of the reader
	edges [][]int // what each part of the writer is read by
}

// augment finds a partner for i, if need be by moving others, and reports
// whether there is one. Its depth is bounded by the number of parts.
func (m *matching) augment(i int, tried []bool) bool {
	for _, j := range m.edges[i] {
		if tried[j] {
			continue
		}
		tried[j] = true
		if m.by[j] < 0 || m.augment(m.by[j], tried) {
			m.of[i], m.by[j] = j, i
			return true
		}
	}
	return false
}
