package registry

import (
	"slices"
	"strconv"
	"strings"

	"milena/registry/api"
	"milena/serde/jsonschema"
)

// Places in a JSON Schema are named by what they are and not by titles: the
// object itself is "object", its property a is "object.a", a property b of an
// object there is "object.a.object.b", and so on, with "array" for the items of
// an array and "allof.0" for the first part of a combination. References are
// not followed.

// tagPathsBytesMax bounds the paths that one answer spells out: a long name
// comes back with every place below it.
const tagPathsBytesMax = 4 << 20

// jsonSteps yields the schemas right below n with the word of the path for
// each, and whether they are properties of an object.
func (n *node) jsonSteps(yield func(word string, child *node, property bool) bool) {
	if n == nil || n.open != '{' {
		return
	}
	if properties := n.member("properties"); properties != nil && properties.open == '{' {
		for i, name := range properties.keys {
			if !yield("object."+name, properties.children[i], true) {
				return
			}
		}
	}
	if items := n.member("items"); items != nil {
		if items.open == '[' {
			for i, item := range items.children {
				if !yield("array."+strconv.Itoa(i), item, false) {
					return
				}
			}
		} else if !yield("array", items, false) {
			return
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		parts := n.member(keyword)
		if parts == nil || parts.open != '[' {
			continue
		}
		for i, part := range parts.children {
			if !yield(strings.ToLower(keyword)+"."+strconv.Itoa(i), part, false) {
				return
			}
		}
	}
	for _, keyword := range []string{"definitions", "$defs"} {
		named := n.member(keyword)
		if named == nil || named.open != '{' {
			continue
		}
		for i, name := range named.keys {
			if !yield(keyword+"."+name, named.children[i], false) {
				return
			}
		}
	}
}

// isObject reports whether a schema is one of objects.
func (n *node) isObject() bool {
	return n.open == '{' && (n.member("properties") != nil || n.member("type").string() == "object")
}

// jsonPlace returns the schema that a path leads to, or nil. Every schema has
// one path, so none is looked at twice.
func (n *node) jsonPlace(path string) *node {
	if n == nil || n.open != '{' {
		return nil
	}
	if path == "object" && n.isObject() {
		return n
	}
	var found *node
	n.jsonSteps(func(word string, child *node, _ bool) bool {
		rest, ok := strings.CutPrefix(path, word)
		switch {
		case !ok:
		case rest == "" && child.open == '{':
			found = child
		case strings.HasPrefix(rest, "."):
			found = child.jsonPlace(rest[1:])
		}
		return found == nil
	})
	return found
}

// jsonSchemaTags finds the objects and properties of a JSON Schema that have one of
// the wanted tags.
func jsonSchemaTags(s *jsonschema.Schema, wanted []string) ([]api.SchemaTags, error) {
	root, err := readNode(s.Canonical())
	if err != nil {
		return nil, err
	}
	f := jsonTagFinder{wanted: wanted, left: tagPathsBytesMax}
	if tags := root.tagsOf(); len(tags) > 0 && root.isObject() {
		f.add(nil, "object", entityRecord, tags)
	}
	f.walk(root, nil)
	return f.found, nil
}

type jsonTagFinder struct {
	wanted []string
	left   int // bytes of paths that may still be spelled out
	found  []api.SchemaTags
}

func (f *jsonTagFinder) walk(n *node, path []string) {
	n.jsonSteps(func(word string, child *node, property bool) bool {
		if tags := child.tagsOf(); len(tags) > 0 {
			switch {
			case property:
				f.add(path, word, entityField, tags)
			case child.isObject():
				f.add(append(path, word), "object", entityRecord, tags)
			}
		}
		f.walk(child, append(path, word))
		return f.left > 0
	})
}

func (f *jsonTagFinder) add(path []string, last, kind string, tags []string) {
	if !slices.ContainsFunc(f.wanted, func(w string) bool { return w == "*" || slices.Contains(tags, w) }) {
		return
	}
	whole := strings.Join(append(slices.Clone(path), last), ".")
	if f.left -= len(whole); f.left < 0 {
		return
	}
	f.found = append(f.found, api.SchemaTags{SchemaEntity: &api.SchemaEntity{EntityPath: whole, EntityType: kind}, Tags: tags})
}

// tagsOf returns the inline tags of a place.
func (n *node) tagsOf() []string {
	list := n.member(tagsAttribute)
	if n.open != '{' || list == nil || list.open != '[' {
		return nil
	}
	var tags []string
	for _, child := range list.children {
		if tag := child.string(); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}
