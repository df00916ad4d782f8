package state

import (
	"maps"
	"math"
	"slices"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// checkTree verifies order, bounds, sizes and depth of a tree.
func checkTree(t *rapid.T, tr tree[number, int]) {
	depths := map[int]bool{}
	if n := checkNode(t, tr.root, 0, number(math.MinInt), number(math.MaxInt), depths); n != tr.len() {
		t.Fatalf("%d keys, but the tree says %d", n, tr.len())
	}
	if len(depths) > 1 {
		t.Fatalf("leaves at depths %v", depths)
	}
}

// checkNode verifies the nodes below n, whose keys are from low to below high,
// and returns how many pairs they have.
func checkNode(t *rapid.T, n *node[number, int], depth int, low, high number, depths map[int]bool) int {
	if n == nil {
		return 0
	}
	if len(n.keys) == 0 || len(n.keys) > nodeKeysMax || len(n.keys) != max(len(n.values), len(n.children)) {
		t.Fatalf("node with %d keys, %d values and %d children", len(n.keys), len(n.values), len(n.children))
	}
	if !slices.IsSorted(n.keys) || n.children == nil && (n.keys[0] < low || n.keys[len(n.keys)-1] >= high) {
		t.Fatalf("keys %v, not from %d to %d", n.keys, low, high)
	}
	if n.children == nil {
		depths[depth] = true
		return len(n.keys)
	}
	pairs := 0
	for i, child := range n.children {
		from, to := low, high
		if i > 0 {
			from = n.keys[i]
		}
		if i+1 < len(n.keys) {
			to = n.keys[i+1]
		}
		pairs += checkNode(t, child, depth+1, from, to, depths)
	}
	return pairs
}

func TestTreeIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr tree[number, int]
		model := map[int]int{}
		type old struct {
			tree  tree[number, int]
			model map[int]int
		}
		var snapshots []old
		var e *edit // nil: every operation copies
		keysMax := rapid.SampledFrom([]int{20, 80, 2000}).Draw(t, "keys")
		rising := rapid.Bool().Draw(t, "rising")
		for i := range rapid.IntRange(0, 400).Draw(t, "steps") {
			k := rapid.IntRange(0, keysMax).Draw(t, "key")
			switch rapid.IntRange(0, 7).Draw(t, "op") {
			case 0, 1, 2, 3:
				if rising {
					k = i
				}
				tr, model[k] = tr.put(e, number(k), i), i
			case 4, 5:
				tr = tr.drop(e, number(k))
				delete(model, k)
			case 6:
				e = &edit{} // what was made before is seen from now on
				snapshots = append(snapshots, old{tr, maps.Clone(model)})
			default:
				e = nil
				snapshots = append(snapshots, old{tr, maps.Clone(model)})
			}
			checkTree(t, tr)
		}
		for _, s := range append(snapshots, old{tr, model}) {
			compareWithModel(t, s.tree, s.model)
		}
	})
}

func compareWithModel(t *rapid.T, tr tree[number, int], model map[int]int) {
	keys := slices.Sorted(maps.Keys(model))
	if tr.len() != len(keys) {
		t.Fatalf("%d entries, want %d", tr.len(), len(keys))
	}
	i := 0
	for k, v := range tr.all() {
		if int(k) != keys[i] || v != model[keys[i]] {
			t.Fatalf("entry %d is %d=%d, want %d=%d", i, k, v, keys[i], model[keys[i]])
		}
		i++
	}
	for k := range tr.down() {
		if i--; int(k) != keys[i] {
			t.Fatalf("descending entry %d is %d, want %d", i, k, keys[i])
		}
	}
	from := rapid.IntRange(-1, 2001).Draw(t, "from")
	at, _ := slices.BinarySearch(keys, from)
	for k := range tr.from(number(from)) {
		if int(k) != keys[at] {
			t.Fatalf("from %d: %d, want %d", from, k, keys[at])
		}
		at++
	}
	if at != len(keys) {
		t.Fatalf("from %d: stopped at %d of %d", from, at, len(keys))
	}
	last, _, ok := tr.last()
	if ok != (len(keys) > 0) || ok && int(last) != keys[len(keys)-1] {
		t.Fatalf("last is %d, %t", last, ok)
	}
	for k := range 2001 {
		v, ok := tr.get(number(k))
		if want, there := model[k]; ok != there || v != want {
			t.Fatalf("get %d: %d, %t, want %d, %t", k, v, ok, want, there)
		}
	}
}

func TestTreeStopsEarly(t *testing.T) {
	var tr tree[number, int]
	for i := range 100 {
		tr = tr.set(number(i), i)
	}
	for name, seq := range map[string]func(func(number, int) bool){"all": tr.all(), "down": tr.down(), "from": tr.from(10)} {
		n := 0
		for range seq {
			if n++; n == 3 {
				break
			}
		}
		if n != 3 {
			t.Errorf("%s went on to %d", name, n)
		}
	}
}

func TestTextOrderIsThatOfCodeUnits(t *testing.T) {
	runes := rapid.SampledFrom([]rune{'a', 'Z', '_', 'é', 'ß', 0xD7FF, 0xE000, 0xFFEE, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF})
	rapid.Check(t, func(t *rapid.T) {
		a := string(rapid.SliceOfN(runes, 0, 4).Draw(t, "a"))
		b := string(rapid.SliceOfN(runes, 0, 4).Draw(t, "b"))
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := text(a).compare(text(b)); got != want {
			t.Fatalf("%q and %q compare as %d, want %d", a, b, got, want)
		}
	})
}
