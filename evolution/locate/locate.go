package locate

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"milena/serde/protobuf"
	"milena/serde/schema"
)

// Place is a place in a text.
type Place struct {
	Line   int    // 1-based; 0 if there is no place
	Column int    // 1-based, in bytes
	Value  string // what stands there, on one line, cut to valueMax bytes; empty if the place is not exact
	Exact  bool   // the whole path was found
}

// valueMax is how much of a value is shown, in bytes.
const valueMax = 80

// Step is one step of a path. Where the path has a position, Name is the name
// of what stands there, so that the same can be found elsewhere.
type Step struct {
	Key  string
	Name string
}

// Doc is the text of a schema, ready to find places in it.
type Doc struct {
	text   string
	lines  []int // offsets of line starts
	format schema.Type
	root   *node            // of JSON texts, nil if it can't be read
	types  map[string]*node // Avro's named types by full and by simple name
	file   *protobuf.File   // of Protobuf texts
}

// New returns the Doc of a text. Parsed is what the text was parsed to.
func New(text string, parsed schema.Parsed) *Doc {
	d := &Doc{text: text, format: parsed.Type(), lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	if p, ok := parsed.(*protobuf.Schema); ok {
		d.file = p.File()
		return d
	}
	d.root = readJSON(text)
	if d.format == schema.Avro && d.root != nil {
		d.types = map[string]*node{}
		d.collect(d.root, "")
	}
	return d
}

// Trail turns a path that was made for this schema into steps with names.
func (d *Doc) Trail(path string) []Step {
	path = strings.TrimPrefix(path, "#")
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		return nil
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	var steps []Step
	for part := range strings.SplitSeq(path, "/") {
		steps = append(steps, Step{Key: unescape.Replace(part)})
	}
	switch {
	case d.file != nil:
		d.nameProto(steps)
	case d.format == schema.Avro && d.root != nil:
		d.walkAvro(steps, true)
	}
	return steps
}

// Find returns the place that a trail leads to, in this text or the deepest one
// on the way.
func (d *Doc) Find(trail []Step) Place {
	switch {
	case d.file != nil:
		return d.findProto(trail)
	case d.root == nil:
		return Place{}
	case d.format == schema.Avro:
		n, exact := d.walkAvro(trail, false)
		return d.place(n, exact)
	}
	n, exact := d.walkJSON(trail)
	return d.place(n, exact)
}

// Name is what the last step with a name, or of a JSON Schema the last that is
// no keyword, is called; "" if there is none.
func (d *Doc) Name(trail []Step) string {
	if d.format == schema.JSON {
		for i := len(trail) - 1; i > 0; i-- {
			switch trail[i-1].Key {
			case "properties", "required", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "$defs", "definitions":
				return trail[i].Key
			}
		}
		if len(trail) > 0 {
			return trail[len(trail)-1].Key
		}
		return ""
	}
	for i := len(trail) - 1; i >= 0; i-- {
		if trail[i].Name != "" {
			return trail[i].Name
		}
	}
	return ""
}

// at returns the place of an offset.
func (d *Doc) at(offset int) Place {
	low, high := 0, len(d.lines)
	for high-low > 1 {
		if mid := (low + high) / 2; d.lines[mid] <= offset {
			low = mid
		} else {
			high = mid
		}
	}
	return Place{Line: low + 1, Column: offset - d.lines[low] + 1}
}

func (d *Doc) place(n *node, exact bool) Place {
	if n == nil {
		return Place{}
	}
	start := n.start
	if n.key > 0 {
		start = n.key
	}
	p := d.at(start)
	p.Exact = exact
	if exact {
		p.Value = Brief(d.text[n.start:n.end])
	}
	return p
}

// Brief puts a text on one line and cuts it to a length for messages.
func Brief(text string) string {
	out := strings.Join(strings.Fields(text), " ")
	if len(out) <= valueMax {
		return out
	}
	cut := valueMax - len("…")
	for cut > 0 && !utf8.RuneStart(out[cut]) {
		cut--
	}
	return out[:cut] + "…"
}

// walkJSON follows a pointer, through local references.
func (d *Doc) walkJSON(trail []Step) (*node, bool) {
	n := d.root
	for i, s := range trail {
		n = d.follow(n)
		next := n.child(s.Key)
		if i+1 < len(trail) {
			next = modern(n, next, s.Key, trail[i+1].Key)
		} else if next == nil {
			next = modern(n, next, s.Key, "")
		}
		if next == nil && n.kind == '[' && i > 0 && trail[i-1].Key == "required" {
			next = n.text(s.Key)
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

// modern returns what stands under a keyword of earlier drafts in a schema of a
// later one, which splits some keywords up: paths have the earlier ones.
func modern(n, found *node, key, next string) *node {
	for _, row := range []struct{ key, now string }{
		{"items", "prefixItems"}, {"additionalItems", "items"}, {"dependencies", "dependentRequired"}, {"dependencies", "dependentSchemas"},
	} {
		if row.key != key || found != nil && (next == "" || found.child(next) != nil) {
			continue
		}
		if now := n.child(row.now); now != nil && (next == "" || now.child(next) != nil || found == nil) {
			found = now
		}
	}
	return found
}

// follow goes through references into the same text, a bounded number of times.
func (d *Doc) follow(n *node) *node {
	for range depthMax {
		ref := n.child("$ref")
		if ref == nil || ref.kind != '"' || !strings.HasPrefix(ref.value, "#") {
			return n
		}
		target := d.root
		for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(ref.value, "#"), "/"), "/") {
			if part == "" {
				continue
			}
			if target = target.child(strings.NewReplacer("~1", "/", "~0", "~").Replace(part)); target == nil {
				return n
			}
		}
		if target == n {
			return n
		}
		n = target
	}
	return n
}

func index(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0
}
