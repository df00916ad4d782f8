package locate

import (
	"encoding/json"
	"strings"
)

// depthMax bounds nesting of a JSON text and references that are followed.
const depthMax = 1000

// node is a value of a JSON text with where it stands.
type node struct {
	start, end int    // offsets of the value
	key        int    // offset of the key before it, 0 if there is none
	kind       byte   // { [ " or 0
	value      string // of strings
	keys       []string
	items      []*node // of arrays, and of objects beside keys
}

// child returns a member or an item; nil if there is none.
func (n *node) child(key string) *node {
	switch n.kind {
	case '{':
		for i, k := range n.keys {
			if k == key {
				return n.items[i]
			}
		}
	case '[':
		if i, ok := index(key); ok && i < len(n.items) {
			return n.items[i]
		}
	}
	return nil
}

// text returns the item of an array that is a string.
func (n *node) text(value string) *node {
	for _, item := range n.items {
		if item.kind == '"' && item.value == value {
			return item
		}
	}
	return nil
}

// reader reads a text by tokens, whose ends the decoder tells.
type reader struct {
	text string
	dec  *json.Decoder
}

// readJSON returns the tree of a text, nil if it is no JSON or nested too deep.
func readJSON(text string) *node {
	r := &reader{text: text, dec: json.NewDecoder(strings.NewReader(text))}
	r.dec.UseNumber()
	return r.read(0)
}

// start is where the next token starts.
func (r *reader) start() int {
	i := int(r.dec.InputOffset())
	for i < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[i]) >= 0 {
		i++
	}
	return i
}

func (r *reader) read(depth int) *node {
	if depth > depthMax {
		return nil
	}
	n := &node{start: r.start()}
	token, err := r.dec.Token()
	if err != nil {
		return nil
	}
	switch t := token.(type) {
	case string:
		n.kind, n.value = '"', t
	case json.Delim:
		n.kind = byte(t)
		for r.dec.More() {
			key := 0
			if n.kind == '{' {
				key = r.start()
				name, err := r.dec.Token()
				if err != nil {
					return nil
				}
				text, _ := name.(string) // keys are strings
				n.keys = append(n.keys, text)
			}
			item := r.read(depth + 1)
			if item == nil {
				return nil
			}
			item.key = key
			n.items = append(n.items, item)
		}
		if _, err := r.dec.Token(); err != nil {
			return nil
		}
	}
	n.end = int(r.dec.InputOffset())
	return n
}
