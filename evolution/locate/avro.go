package locate

import "strings"

// collect notes the named types of an Avro schema.
func (d *Doc) collect(n *node, namespace string) {
	if n.kind == '{' {
		if ns := n.child("namespace"); ns != nil && ns.kind == '"' {
			namespace = ns.value
		}
		name := n.child("name")
		if name != nil && name.kind == '"' && (n.child("fields") != nil || n.child("symbols") != nil || n.child("size") != nil) {
			full := name.value
			if !strings.Contains(full, ".") && namespace != "" {
				full = namespace + "." + full
			}
			simple := full[strings.LastIndexByte(full, '.')+1:]
			namespace = strings.TrimSuffix(strings.TrimSuffix(full, simple), ".")
			for _, key := range []string{full, simple} {
				if d.types[key] == nil {
					d.types[key] = n
				}
			}
		}
	}
	for i, item := range n.items {
		if n.kind == '{' && (n.keys[i] == "default" || n.keys[i] == "symbols" || n.keys[i] == "aliases") {
			continue
		}
		d.collect(item, namespace)
	}
}

// resolve returns the definition that a node means: of a name its type, of a
// wrapped type the type inside.
func (d *Doc) resolve(n *node) *node {
	for range depthMax {
		switch {
		case n.kind == '"':
			t := d.types[n.value]
			if t == nil {
				t = d.types[n.value[strings.LastIndexByte(n.value, '.')+1:]]
			}
			if t == nil {
				return n
			}
			return t
		case n.kind == '{':
			inner := n.child("type")
			if inner == nil || inner.kind == '"' && n.child("name") == nil && d.types[inner.value] == nil || inner.kind == '"' && n.child("name") != nil {
				return n
			}
			n = inner
		default:
			return n
		}
	}
	return n
}

// walkAvro follows a trail. Naming, it goes by position and notes the names of
// fields; otherwise it finds fields by name.
func (d *Doc) walkAvro(trail []Step, naming bool) (*node, bool) {
	n := d.root
	for i := range trail {
		s := &trail[i]
		var next *node
		if i > 0 && trail[i-1].Key == "fields" {
			next = field(n, s, naming)
		} else {
			if s.Key != "type" || i == 0 || i > 1 && trail[i-2].Key != "fields" {
				n = d.resolve(n)
			}
			next = n.child(s.Key)
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	if naming && len(trail) > 0 {
		d.nameLast(&trail[len(trail)-1], n)
	}
	return n, true
}

// nameLast names a trail's end that is itself a named type's part.
func (d *Doc) nameLast(s *Step, n *node) {
	if s.Key == "name" && s.Name == "" && n.kind == '"' {
		s.Name = n.value
	}
}

func field(fields *node, s *Step, naming bool) *node {
	if naming || s.Name == "" {
		f := fields.child(s.Key)
		if f == nil {
			return nil
		}
		if name := f.child("name"); naming && name != nil {
			s.Name = name.value
		}
		return f
	}
	for _, f := range fields.items {
		if name := f.child("name"); name != nil && name.value == s.Name {
			return f
		}
	}
	return nil
}
