package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/avro"
	"milena/serde/jsonschema"
	"milena/serde/protobuf"
	"milena/serde/schema"
)

// editTags returns the canonical text of a parsed schema with inline tags added
// to and removed from its records and fields. A path that leads nowhere is an
// error, unless lenient.
func editTags(p schema.Parsed, add, remove []api.SchemaTags, lenient bool) (string, error) {
	if s, ok := p.(*protobuf.Schema); ok {
		return editProtobufTags(s, add, remove, lenient)
	}
	root, err := readNode(p.Canonical())
	if err != nil {
		return "", errcode.Internal.New().Because(fmt.Errorf("read canonical text: %w", err))
	}
	var placeOf func(path string) *node
	switch p.(type) {
	case *avro.Schema:
		places := map[string]*node{}
		root.places("", places)
		placeOf = func(path string) *node { return places[path] }
	case *jsonschema.Schema:
		placeOf = root.jsonPlace
	default:
		return "", errcode.InvalidSchema.New(fmt.Sprintf("Schemas of type %s can't be tagged", p.Type()))
	}
	for i, list := range [][]api.SchemaTags{add, remove} {
		for _, t := range list {
			path := ""
			if t.SchemaEntity != nil {
				path = strings.TrimPrefix(t.SchemaEntity.EntityPath, ".")
			}
			place := placeOf(path)
			switch {
			case place == nil && lenient:
			case place == nil:
				return "", errcode.InvalidSchema.New(fmt.Sprintf(
					"java.lang.IllegalArgumentException: No matching path '%s' found in the schema", path))
			case i == 0:
				place.setTags(func(tags []string) []string { return union(tags, t.Tags) })
			default:
				place.setTags(func(tags []string) []string {
					return slices.DeleteFunc(tags, func(tag string) bool { return slices.Contains(t.Tags, tag) })
				})
			}
		}
	}
	return string(root.append(nil)), nil
}

// union returns a with the elements of b that it lacks.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// node is a JSON value that keeps the order of its members and the spelling of
// its scalars.
type node struct {
	open     byte // '{', '[' or 0 for a scalar
	keys     []string
	children []*node
	scalar   string // as written
}

// readNode reads a canonical text, whose depth the parser has bounded.
func readNode(text string) (*node, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return readValue(dec)
}

func readValue(dec *json.Decoder) (*node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return scalarNode(token)
	}
	n := &node{open: byte(delim)}
	for dec.More() {
		if n.open == '{' {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, key.(string)) // the decoder gives keys as strings only
		}
		child, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	_, err = dec.Token() // the closing one
	return n, err
}

func scalarNode(v any) (*node, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return &node{scalar: strings.TrimSuffix(buf.String(), "\n")}, nil
}

func (n *node) append(dst []byte) []byte {
	if n.open == 0 {
		return append(dst, n.scalar...)
	}
	dst = append(dst, n.open)
	for i, child := range n.children {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.open == '{' {
			key, err := scalarNode(n.keys[i])
			if err != nil {
				continue // a string always encodes
			}
			dst = append(append(dst, key.scalar...), ':')
		}
		dst = child.append(dst)
	}
	return append(dst, n.open+2) // ']' and '}' follow two after what they close
}

func (n *node) member(key string) *node {
	if i := slices.Index(n.keys, key); i >= 0 {
		return n.children[i]
	}
	return nil
}

func (n *node) string() string {
	var s string
	if n == nil || json.Unmarshal([]byte(n.scalar), &s) != nil {
		return ""
	}
	return s
}

// places notes the records and fields of a schema by their paths. Canonical
// texts spell names without dots, with the namespace beside them.
func (n *node) places(namespace string, to map[string]*node) {
	switch n.open {
	case '[':
		for _, branch := range n.children {
			branch.places(namespace, to)
		}
	case '{':
		if ns := n.member("namespace"); ns != nil {
			namespace = ns.string()
		}
		switch n.member("type").string() {
		case "record", "error":
			n.recordPlaces(namespace, to)
		case "array":
			n.member("items").placesIn(namespace, to)
		case "map":
			n.member("values").placesIn(namespace, to)
		}
	}
}

func (n *node) placesIn(namespace string, to map[string]*node) {
	if n != nil {
		n.places(namespace, to)
	}
}

func (n *node) recordPlaces(namespace string, to map[string]*node) {
	name := n.member("name").string()
	if namespace != "" {
		name = namespace + "." + name
	}
	to[name] = n
	fields := n.member("fields")
	if fields == nil {
		return
	}
	for _, field := range fields.children {
		to[name+"."+field.member("name").string()] = field
		field.member("type").placesIn(namespace, to)
	}
}

// setTags changes the tags of a record or field; without any left the attribute
// goes.
func (n *node) setTags(change func([]string) []string) {
	i := slices.Index(n.keys, tagsAttribute)
	var tags []string
	if i >= 0 {
		for _, child := range n.children[i].children {
			tags = append(tags, child.string())
		}
	}
	tags = change(tags)
	if len(tags) == 0 {
		if i >= 0 {
			n.keys = slices.Delete(n.keys, i, i+1)
			n.children = slices.Delete(n.children, i, i+1)
		}
		return
	}
	list := &node{open: '['}
	for _, tag := range tags {
		if child, err := scalarNode(tag); err == nil { // a string always encodes
			list.children = append(list.children, child)
		}
	}
	if i >= 0 {
		n.children[i] = list
		return
	}
	n.keys, n.children = append(n.keys, tagsAttribute), append(n.children, list)
}
