package state

import "iter"

// ordered is a key that compares itself.
type ordered[K any] interface{ compare(K) int }

// tree is a persistent map in key order: a weight-balanced tree (Adams 1992,
// with the parameters 3 and 2 of Hirai and Yamamoto 2011) whose operations copy
// the path they change. The zero tree is empty.
type tree[K ordered[K], V any] struct{ root *node[K, V] }

type node[K ordered[K], V any] struct {
	key         K
	value       V
	size        int
	left, right *node[K, V]
}

const (
	weightDelta = 3
	weightRatio = 2
)

func (t tree[K, V]) len() int { return t.root.count() }

// get returns the value of key and whether there is one.
func (t tree[K, V]) get(key K) (V, bool) {
	for n := t.root; n != nil; {
		switch c := key.compare(n.key); {
		case c < 0:
			n = n.left
		case c > 0:
			n = n.right
		default:
			return n.value, true
		}
	}
	var none V
	return none, false
}

// set returns the tree with key at value.
func (t tree[K, V]) set(key K, value V) tree[K, V] {
	return tree[K, V]{t.root.set(key, value)}
}

// remove returns the tree without key.
func (t tree[K, V]) remove(key K) tree[K, V] {
	if _, ok := t.get(key); !ok {
		return t
	}
	return tree[K, V]{t.root.remove(key)}
}

// last returns the greatest key with its value.
func (t tree[K, V]) last() (key K, value V, ok bool) {
	n := t.root
	if n == nil {
		return key, value, false
	}
	for n.right != nil {
		n = n.right
	}
	return n.key, n.value, true
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

func (n *node[K, V]) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

func (n *node[K, V]) ascend(yield func(K, V) bool) bool {
	return n == nil || n.left.ascend(yield) && yield(n.key, n.value) && n.right.ascend(yield)
}

func (n *node[K, V]) descend(yield func(K, V) bool) bool {
	return n == nil || n.right.descend(yield) && yield(n.key, n.value) && n.left.descend(yield)
}

func (n *node[K, V]) ascendFrom(key K, yield func(K, V) bool) bool {
	if n == nil {
		return true
	}
	switch c := key.compare(n.key); {
	case c > 0:
		return n.right.ascendFrom(key, yield)
	case c < 0 && !n.left.ascendFrom(key, yield):
		return false
	}
	return yield(n.key, n.value) && n.right.ascend(yield)
}

func (n *node[K, V]) set(key K, value V) *node[K, V] {
	if n == nil {
		return &node[K, V]{key: key, value: value, size: 1}
	}
	switch c := key.compare(n.key); {
	case c < 0:
		return balance(n, n.left.set(key, value), n.right)
	case c > 0:
		return balance(n, n.left, n.right.set(key, value))
	default:
		return &node[K, V]{key: key, value: value, size: n.size, left: n.left, right: n.right}
	}
}

// remove takes out a key that is there.
func (n *node[K, V]) remove(key K) *node[K, V] {
	switch c := key.compare(n.key); {
	case c < 0:
		return balance(n, n.left.remove(key), n.right)
	case c > 0:
		return balance(n, n.left, n.right.remove(key))
	case n.left == nil:
		return n.right
	case n.right == nil:
		return n.left
	case n.left.size > n.right.size:
		top := n.left
		for top.right != nil {
			top = top.right
		}
		return balance(top, n.left.remove(top.key), n.right)
	default:
		top := n.right
		for top.left != nil {
			top = top.left
		}
		return balance(top, n.left, n.right.remove(top.key))
	}
}

// join makes a node of pair's key and value.
func join[K ordered[K], V any](pair, left, right *node[K, V]) *node[K, V] {
	return &node[K, V]{
		key: pair.key, value: pair.value, size: left.count() + right.count() + 1,
		left: left, right: right,
	}
}

// balance is join for subtrees of which one may have changed by one element.
func balance[K ordered[K], V any](pair, left, right *node[K, V]) *node[K, V] {
	l, r := left.count(), right.count()
	switch {
	case l+r <= 1:
	case r > weightDelta*l:
		if right.left.count() < weightRatio*right.right.count() {
			return join(right, join(pair, left, right.left), right.right)
		}
		mid := right.left
		return join(mid, join(pair, left, mid.left), join(right, mid.right, right.right))
	case l > weightDelta*r:
		if left.right.count() < weightRatio*left.left.count() {
			return join(left, left.left, join(pair, left.right, right))
		}
		mid := left.right
		return join(mid, join(left, left.left, mid.left), join(pair, mid.right, right))
	}
	return join(pair, left, right)
}
