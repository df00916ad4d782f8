package protobuf

import "strings"

// WithoutExtensions returns the canonical text without extends, extension
// ranges and options in parentheses, but for those of confluent/meta.proto.
func (s *Schema) WithoutExtensions() string {
	text, _ := printFile(plain{}.file(s.file)) // shorter than the canonical text, which fits
	return text
}

// plain copies files without custom options.
type plain struct {
	keepExtends bool // keep extends and extension ranges
	dropMeta    bool // drop Confluent's options too
}

func (p plain) file(file *File) *File {
	f := *file
	f.Options = p.options(f.Options)
	f.Messages = p.messages(f.Messages)
	f.Enums = p.enums(f.Enums)
	f.Extends = p.extends(f.Extends)
	f.Services = nil
	for _, service := range file.Services {
		c := *service
		c.Options = p.options(c.Options)
		c.RPCs = nil
		for _, rpc := range service.RPCs {
			r := *rpc
			r.Options = p.options(r.Options)
			c.RPCs = append(c.RPCs, &r)
		}
		f.Services = append(f.Services, &c)
	}
	return &f
}

// options keeps those whose names, as they are written, mean no extension or
// one of Confluent's.
func (p plain) options(options []Option) []Option {
	var out []Option
	for _, o := range options {
		if !o.Paren || strings.HasPrefix(o.Name, "confluent.") && !p.dropMeta {
			out = append(out, o)
		}
	}
	return out
}

func (p plain) extends(list []*Extend) []*Extend {
	if !p.keepExtends {
		return nil
	}
	var out []*Extend
	for _, x := range list {
		c := *x
		c.Fields = p.fields(x.Fields)
		out = append(out, &c)
	}
	return out
}

func (p plain) extensions(list []Extensions) []Extensions {
	if !p.keepExtends {
		return nil
	}
	var out []Extensions
	for _, x := range list {
		x.Options = p.options(x.Options)
		out = append(out, x)
	}
	return out
}

func (p plain) messages(list []*Message) []*Message {
	var out []*Message
	for _, m := range list {
		c := *m
		c.Options = p.options(m.Options)
		c.Fields = p.fields(m.Fields)
		c.Oneofs, c.Groups = nil, p.groups(m.Groups)
		for _, o := range m.Oneofs {
			x := *o
			x.Options, x.Fields, x.Groups = p.options(o.Options), p.fields(o.Fields), p.groups(o.Groups)
			c.Oneofs = append(c.Oneofs, &x)
		}
		c.Extensions, c.Extends = p.extensions(m.Extensions), p.extends(m.Extends)
		c.Messages = p.messages(m.Messages)
		c.Enums = p.enums(m.Enums)
		out = append(out, &c)
	}
	return out
}

func (p plain) fields(list []*Field) []*Field {
	var out []*Field
	for _, f := range list {
		c := *f
		c.Options = p.options(f.Options)
		out = append(out, &c)
	}
	return out
}

func (p plain) groups(list []*Group) []*Group {
	var out []*Group
	for _, g := range list {
		c := *g
		c.Fields = p.fields(g.Fields)
		out = append(out, &c)
	}
	return out
}

func (p plain) enums(list []*Enum) []*Enum {
	var out []*Enum
	for _, e := range list {
		c := *e
		c.Options = p.options(e.Options)
		c.Values = nil
		for _, v := range e.Values {
			v.Options = p.options(v.Options)
			c.Values = append(c.Values, v)
		}
		out = append(out, &c)
	}
	return out
}
