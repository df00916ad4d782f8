package state

// build returns a tree of sorted keys without repetitions. The tree keeps the
// lists, which must not be changed any more.
func build[K ordered[K], V any](keys []K, values []V) tree[K, V] {
	if len(keys) == 0 {
		return tree[K, V]{}
	}
	var level []*node[K, V]
	for i := 0; i < len(keys); i += nodeKeysMax {
		end := min(i+nodeKeysMax, len(keys))
		level = append(level, &node[K, V]{keys: keys[i:end:end], values: values[i:end:end]})
	}
	for len(level) > 1 {
		var above []*node[K, V]
		for i := 0; i < len(level); i += nodeKeysMax {
			children := level[i:min(i+nodeKeysMax, len(level))]
			bounds := make([]K, len(children))
			for j, child := range children {
				bounds[j] = child.keys[0]
			}
			above = append(above, &node[K, V]{keys: bounds, children: children[:len(children):len(children)]})
		}
		level = above
	}
	return tree[K, V]{level[0], len(keys)}
}
