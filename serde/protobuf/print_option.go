package protobuf

import (
	"fmt"
	"strings"
)

// statements writes options one a statement.
func (p *printer) statements(indent string, options []Option) {
	for i := range options {
		p.write(indent, "option ")
		p.option(indent, &options[i])
		p.write(";\n")
	}
}

// options writes a list in brackets behind something that stands at indent.
func (p *printer) options(indent string, options []Option) {
	switch len(options) {
	case 0:
	case 1:
		p.write(" [")
		p.option(indent, &options[0])
		p.write("]")
	default:
		p.write(" [\n")
		inner := indent + "  "
		for i := range options {
			p.write(inner)
			p.option(inner, &options[i])
			p.write(comma(i, len(options)))
		}
		p.write(indent, "]")
	}
}

// comma ends the line of element i of n.
func comma(i, n int) string {
	if i < n-1 {
		return ",\n"
	}
	return "\n"
}

func (p *printer) option(indent string, o *Option) {
	if o.Paren {
		p.write("(", o.Name, ")")
	} else {
		p.write(o.Name)
	}
	for _, s := range o.Sub {
		p.write(".", s)
	}
	p.write(" = ")
	if o.Value.Kind == ListValue && len(o.Value.List) == 1 {
		p.write("[")
		p.value(indent, &o.Value.List[0])
		p.write("]")
		return
	}
	p.value(indent, &o.Value)
}

// value writes a value whose first line stands at indent.
func (p *printer) value(indent string, v *Value) {
	inner := indent + "  "
	switch v.Kind {
	case StringValue:
		p.write(p.quote(v.Text))
	case NumberValue, WordValue:
		p.write(v.Text)
	case ListValue:
		p.write("[\n")
		for i := range v.List {
			p.write(inner)
			p.value(inner, &v.List[i])
			p.write(comma(i, len(v.List)))
		}
		p.write(indent, "]")
	case MapValue:
		p.write("{\n")
		for i := range v.Map {
			p.write(inner, v.Map[i].Key, ": ")
			p.value(inner, &v.Map[i].Value)
			p.write(comma(i, len(v.Map)))
		}
		p.write(indent, "}")
	}
}

var quoteEscapes = strings.NewReplacer(
	"\a", `\a`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`,
	`\`, `\\`, "'", `\'`, `"`, `\"`,
)

// quote returns a string as it is printed: everything but what must be escaped
// stands for itself.
func (p *printer) quote(s string) string {
	s = quoteEscapes.Replace(s)
	if p.strict {
		s = escapeControls(s)
	}
	return `"` + s + `"`
}

// bareQuote is quote for what the reference forgets to escape: import paths and
// reserved names.
func (p *printer) bareQuote(s string) string {
	if p.strict {
		return p.quote(s)
	}
	return `"` + s + `"`
}

func escapeControls(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == 0x7f {
			fmt.Fprintf(&b, "\\%03o", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
