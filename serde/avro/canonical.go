package avro

import (
	"fmt"
	"strconv"

	"milena/serde/schema"
)

// InlineText returns the text with every type of a reference in full where it
// is first used: what format=resolved shows. It is "" with an error if that
// text would break the limits.
func (s *Schema) InlineText() (string, error) {
	text, err := s.print(nil)
	if err != nil {
		return "", err
	}
	return text, nil
}

// print writes the canonical text. The types of known stay names.
func (s *Schema) print(known map[*Type]bool) (string, *schema.ParseError) {
	p := printer{written: make(map[*Type]bool, len(known)), depthMax: s.limits.DepthMax, bytesMax: s.limits.TextBytesMax}
	for t := range known {
		p.written[t] = true
	}
	p.typ(s.root, "")
	if p.tooDeep {
		return "", &schema.ParseError{Message: fmt.Sprintf("Types nest deeper than the maximum allowed (%d) where they are first used", s.limits.DepthMax)}
	}
	if depth := jsonDepth(p.dst); depth > jsonDepthMax {
		return "", &schema.ParseError{Message: fmt.Sprintf("Nesting depth (%d) exceeds the maximum allowed (%d) with types where they are first used", depth, jsonDepthMax)}
	}
	if len(p.dst) > p.bytesMax {
		return "", &schema.ParseError{Message: fmt.Sprintf("Schema exceeds the maximum of %d bytes when printed", p.bytesMax)}
	}
	return string(p.dst), nil
}

// typeText prints one type by itself, for messages. Nesting beyond the
// message's length is cut off.
func typeText(t *Type) string {
	p := printer{written: map[*Type]bool{}, depthMax: 64, bytesMax: 1 << 16}
	p.typ(t, "")
	return string(p.dst)
}

// jsonDepth returns how deeply a text that we printed nests.
func jsonDepth(text []byte) int {
	depth, most := 0, 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

// printer writes types as the reference prints them. A named type is written
// in full the first time and by name from then on.
type printer struct {
	dst      []byte
	written  map[*Type]bool
	depth    int
	depthMax int
	bytesMax int
	tooDeep  bool
}

func (p *printer) str(key, value string) {
	p.dst = append(p.dst, ',', '"')
	p.dst = append(p.dst, key...)
	p.dst = append(p.dst, '"', ':')
	p.dst = appendString(p.dst, value)
}

func (p *printer) lit(s string) { p.dst = append(p.dst, s...) }

// typ writes t inside namespace ns.
func (p *printer) typ(t *Type, ns string) {
	if t.Kind.IsNamed() && p.written[t] {
		p.dst = appendString(p.dst, t.Name.relative(ns))
		return
	}
	if p.depth >= p.depthMax || len(p.dst) > p.bytesMax {
		p.tooDeep = p.tooDeep || p.depth >= p.depthMax
		return
	}
	p.depth++
	defer func() { p.depth-- }()
	switch {
	case t.Kind.IsNamed():
		p.written[t] = true
		p.named(t, ns)
	case t.Kind == KindUnion:
		p.lit("[")
		for i, b := range t.Branches {
			if i > 0 {
				p.lit(",")
			}
			p.typ(b, ns)
		}
		p.lit("]")
	case t.Kind == KindArray, t.Kind == KindMap:
		p.lit(`{"type":"` + t.Kind.String())
		if t.Kind == KindArray {
			p.lit(`","items":`)
		} else {
			p.lit(`","values":`)
		}
		p.typ(t.Items, ns)
		p.props(t.Props)
		p.lit("}")
	case len(t.Props) == 0:
		p.dst = appendString(p.dst, t.Kind.String())
	default:
		p.lit(`{"type":"` + t.Kind.String() + `"`)
		p.props(t.Props)
		p.lit("}")
	}
}

func (p *printer) named(t *Type, ns string) {
	word := t.Kind.String()
	if t.IsError {
		word = "error"
	}
	p.lit(`{"type":"` + word + `"`)
	p.str("name", t.Name.Simple)
	if t.Name.Namespace != ns {
		p.str("namespace", t.Name.Namespace)
	}
	if t.Doc != nil {
		p.str("doc", *t.Doc)
	}
	switch t.Kind {
	case KindRecord:
		p.lit(`,"fields":[`)
		for i := range t.Fields {
			if i > 0 {
				p.lit(",")
			}
			p.field(&t.Fields[i], t.Name.Namespace)
		}
		p.lit("]")
	case KindEnum:
		p.lit(`,"symbols":`)
		p.strings(t.Symbols)
		if t.EnumDefault != nil {
			p.str("default", *t.EnumDefault)
		}
	default:
		p.lit(`,"size":` + strconv.Itoa(t.Size))
	}
	p.props(t.Props)
	if len(t.Aliases) > 0 {
		texts := make([]string, len(t.Aliases))
		for i, a := range t.Aliases {
			texts[i] = a.relative(t.Name.Namespace)
		}
		p.lit(`,"aliases":`)
		p.strings(texts)
	}
	p.lit("}")
}

func (p *printer) field(f *Field, ns string) {
	p.lit(`{"name":`)
	p.dst = appendString(p.dst, f.Name)
	p.lit(`,"type":`)
	p.typ(f.Type, ns)
	if f.Doc != nil {
		p.str("doc", *f.Doc)
	}
	if f.Default != nil {
		p.lit(`,"default":`)
		p.dst = f.Default.append(p.dst)
	}
	if f.Order != OrderAscending {
		p.str("order", f.Order.String())
	}
	if len(f.Aliases) > 0 {
		p.lit(`,"aliases":`)
		p.strings(f.Aliases)
	}
	p.props(f.Props)
	p.lit("}")
}

func (p *printer) strings(list []string) {
	p.lit("[")
	for i, s := range list {
		if i > 0 {
			p.lit(",")
		}
		p.dst = appendString(p.dst, s)
	}
	p.lit("]")
}

func (p *printer) props(props []Prop) {
	for i := range props {
		p.lit(",")
		p.dst = appendString(p.dst, props[i].Key)
		p.lit(":")
		p.dst = props[i].Value.append(p.dst)
	}
}
