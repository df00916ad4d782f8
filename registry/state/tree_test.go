package state

import (
	"maps"
	"slices"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// checkTree verifies order, sizes and balance of every node.
func checkTree(t *rapid.T, n *node[number, int]) {
	if n == nil {
		return
	}
	l, r := n.left.count(), n.right.count()
	if n.size != l+r+1 {
		t.Fatalf("node %d has size %d over %d and %d", n.key, n.size, l, r)
	}
	if l+r > 1 && (l > weightDelta*r || r > weightDelta*l) {
		t.Fatalf("node %d is out of balance: %d and %d", n.key, l, r)
	}
	if n.left != nil && n.left.key >= n.key || n.right != nil && n.right.key <= n.key {
		t.Fatalf("node %d is out of order", n.key)
	}
	checkTree(t, n.left)
	checkTree(t, n.right)
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
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			k := rapid.IntRange(0, 80).Draw(t, "key")
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0, 1, 2:
				v := rapid.Int().Draw(t, "value")
				tr, model[k] = tr.set(number(k), v), v
			case 3, 4:
				tr = tr.remove(number(k))
				delete(model, k)
			default:
				snapshots = append(snapshots, old{tr, maps.Clone(model)})
			}
			checkTree(t, tr.root)
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
	from := rapid.IntRange(-1, 81).Draw(t, "from")
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
	for k := range 81 {
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
