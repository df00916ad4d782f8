package state

import (
	"iter"
	"slices"
)

// ordered is a key that compares itself.
type ordered[K any] interface{ compare(K) int }

// tree is a persistent map in key order: a B+ tree whose operations copy the
// nodes on the path that they change. The zero tree is empty.
//
// An operation that is given an edit changes nodes in place that it made
// itself under the same edit, so that building a large tree costs no copies.
type tree[K ordered[K], V any] struct {
	root *node[K, V]
	size int
}

// edit marks what one builder made, which nobody else has seen yet. A nil edit
// owns nothing.
type edit struct{ _ byte } // not of size zero: each has an address of its own

// node is a leaf, whose keys have values, or an inner node, whose keys are the
// lower bounds of its children; the first bound counts as below every key.
// Only the root may be without keys.
type node[K ordered[K], V any] struct {
	owner    *edit
	keys     []K
	values   []V
	children []*node[K, V]
}

const (
	nodeKeysMax = 16 // copied by every change, four to five nodes of them
	nodeKeysMin = 4  // below, a node is joined with a neighbour if both fit into one
)

func (t tree[K, V]) len() int { return t.size }

// get returns the value of key and whether there is one.
func (t tree[K, V]) get(key K) (value V, ok bool) {
	n := t.root
	if n == nil {
		return value, false
	}
	for n.children != nil {
		n = n.children[n.child(key)]
	}
	if i, found := n.search(key); found {
		return n.values[i], true
	}
	return value, false
}

// search returns where key is or belongs among the keys.
func (n *node[K, V]) search(key K) (int, bool) {
	low, high := 0, len(n.keys)
	for low < high {
		mid := int(uint(low+high) >> 1)
		switch c := n.keys[mid].compare(key); {
		case c < 0:
			low = mid + 1
		case c > 0:
			high = mid
		default:
			return mid, true
		}
	}
	return low, false
}

// child returns which child of an inner node key belongs to.
func (n *node[K, V]) child(key K) int {
	i, found := n.search(key)
	if found {
		return i
	}
	return max(i-1, 0)
}

// set returns the tree with key at value.
func (t tree[K, V]) set(key K, value V) tree[K, V] { return t.put(nil, key, value) }

// put is set within an edit.
func (t tree[K, V]) put(e *edit, key K, value V) tree[K, V] {
	if t.root == nil {
		return tree[K, V]{&node[K, V]{owner: e, keys: []K{key}, values: []V{value}}, 1}
	}
	root, right, added := t.root.put(e, key, value)
	if right != nil {
		root = &node[K, V]{owner: e, keys: []K{root.keys[0], right.keys[0]}, children: []*node[K, V]{root, right}}
	}
	if added {
		t.size++
	}
	return tree[K, V]{root, t.size}
}

// put returns the node with key at value, and what was split off to its right.
func (n *node[K, V]) put(e *edit, key K, value V) (left, right *node[K, V], added bool) {
	if n.children == nil {
		i, found := n.search(key)
		n = n.own(e)
		if found {
			n.values[i] = value
			return n, nil, false
		}
		n.keys, n.values = insert(n.keys, i, key), insert(n.values, i, value)
		return n, n.split(e, i), true
	}
	i := n.child(key)
	child, more, added := n.children[i].put(e, key, value)
	n = n.own(e)
	n.children[i] = child
	if more == nil {
		return n, nil, added
	}
	n.keys, n.children = insert(n.keys, i+1, more.keys[0]), insert(n.children, i+1, more)
	return n, n.split(e, i+1), added
}

// own returns the node if the edit made it, else a copy that it may change.
func (n *node[K, V]) own(e *edit) *node[K, V] {
	if e != nil && n.owner == e {
		return n
	}
	return &node[K, V]{owner: e, keys: clone(n.keys), values: clone(n.values), children: clone(n.children)}
}

// clone copies a list with room for one more element, which most copies get.
func clone[T any](list []T) []T {
	if list == nil {
		return nil
	}
	return append(make([]T, 0, len(list)+1), list...)
}

// insert is slices.Insert, but grows by little: nodes are short and many.
func insert[T any](list []T, i int, v T) []T {
	if len(list) == cap(list) {
		list = append(make([]T, 0, len(list)+4), list...)
	}
	return slices.Insert(list, i, v)
}

// split cuts a node that is too long and returns its right part, else nil. A
// node that grew at its end is cut near it: keys that arrive in order, as ids
// do, fill their nodes.
func (n *node[K, V]) split(e *edit, grownAt int) *node[K, V] {
	if len(n.keys) <= nodeKeysMax {
		return nil
	}
	at := len(n.keys) / 2
	if grownAt == len(n.keys)-1 {
		at = len(n.keys) - 1
	}
	right := &node[K, V]{owner: e, keys: cutOff(&n.keys, at)}
	if n.children != nil {
		right.children = cutOff(&n.children, at)
	} else {
		right.values = cutOff(&n.values, at)
	}
	return right
}

// cutOff takes the elements from at on out of list and returns them.
func cutOff[T any](list *[]T, at int) []T {
	right := slices.Clone((*list)[at:])
	*list = slices.Clip(append(make([]T, 0, at), (*list)[:at]...))
	return right
}

// remove returns the tree without key.
func (t tree[K, V]) remove(key K) tree[K, V] { return t.drop(nil, key) }

// drop is remove within an edit.
func (t tree[K, V]) drop(e *edit, key K) tree[K, V] {
	if _, ok := t.get(key); !ok {
		return t
	}
	if t.size == 1 {
		return tree[K, V]{}
	}
	root := t.root.drop(e, key)
	for len(root.children) == 1 {
		root = root.children[0]
	}
	return tree[K, V]{root, t.size - 1}
}

// drop returns the node without a key that is there; it may be empty then.
func (n *node[K, V]) drop(e *edit, key K) *node[K, V] {
	n = n.own(e)
	if n.children == nil {
		i, _ := n.search(key)
		n.keys, n.values = slices.Delete(n.keys, i, i+1), slices.Delete(n.values, i, i+1)
		return n
	}
	i := n.child(key)
	n.children[i] = n.children[i].drop(e, key)
	switch short := len(n.children[i].keys); {
	case short == 0:
		n.keys, n.children = slices.Delete(n.keys, i, i+1), slices.Delete(n.children, i, i+1)
	case short < nodeKeysMin && i > 0:
		n.join(e, i-1)
	case short < nodeKeysMin && i+1 < len(n.children):
		n.join(e, i)
	}
	return n
}

// join makes one node of child i and the next, if one holds both.
func (n *node[K, V]) join(e *edit, i int) {
	left, right := n.children[i], n.children[i+1]
	if len(left.keys)+len(right.keys) > nodeKeysMax {
		return
	}
	left = left.own(e)
	if left.children != nil {
		// The first bound of an inner node is never read, here it counts.
		left.keys = append(append(left.keys, n.keys[i+1]), right.keys[1:]...)
	} else {
		left.keys = append(left.keys, right.keys...)
	}
	left.values, left.children = append(left.values, right.values...), append(left.children, right.children...)
	n.children[i] = left
	n.keys, n.children = slices.Delete(n.keys, i+1, i+2), slices.Delete(n.children, i+1, i+2)
}

// last returns the greatest key with its value.
func (t tree[K, V]) last() (key K, value V, ok bool) {
	for k, v := range t.down() {
		return k, v, true
	}
	return key, value, false
}

// all yields every pair in ascending order.
func (t tree[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { t.root.ascend(yield) }
}

// from yields the pairs from key on in ascending order.
func (t tree[K, V]) from(key K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { t.root.ascendFrom(key, yield) }
}

// down yields every pair in descending order.
func (t tree[K, V]) down() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { t.root.descend(yield) }
}

func (n *node[K, V]) ascend(yield func(K, V) bool) bool {
	if n == nil {
		return true
	}
	for _, child := range n.children {
		if !child.ascend(yield) {
			return false
		}
	}
	for i := range n.values {
		if !yield(n.keys[i], n.values[i]) {
			return false
		}
	}
	return true
}

func (n *node[K, V]) descend(yield func(K, V) bool) bool {
	if n == nil {
		return true
	}
	for _, child := range slices.Backward(n.children) {
		if !child.descend(yield) {
			return false
		}
	}
	for i := range slices.Backward(n.values) {
		if !yield(n.keys[i], n.values[i]) {
			return false
		}
	}
	return true
}

func (n *node[K, V]) ascendFrom(key K, yield func(K, V) bool) bool {
	switch {
	case n == nil:
		return true
	case n.children != nil:
		i := n.child(key)
		if !n.children[i].ascendFrom(key, yield) {
			return false
		}
		for _, child := range n.children[i+1:] {
			if !child.ascend(yield) {
				return false
			}
		}
		return true
	}
	i, _ := n.search(key)
	for ; i < len(n.values); i++ {
		if !yield(n.keys[i], n.values[i]) {
			return false
		}
	}
	return true
}
