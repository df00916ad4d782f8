package protobuf

import "strings"

// WithoutExtensions returns the canonical text without extends, extension
// ranges and options in parentheses, but for those of confluent/meta.proto.
func (s *Schema) WithoutExtensions() string {
	f := *s.file
	f.Options = withoutCustom(f.Options)
	f.Messages = plainMessages(f.Messages)
	f.Enums = plainEnums(f.Enums)
	f.Extends = nil
	f.Services = nil
	for _, service := range s.file.Services {
		c := *service
		c.Options = withoutCustom(c.Options)
		c.RPCs = nil
		for _, rpc := range service.RPCs {
			r := *rpc
			r.Options = withoutCustom(r.Options)
			c.RPCs = append(c.RPCs, &r)
		}
		f.Services = append(f.Services, &c)
	}
	text, _ := printFile(&f) // shorter than the canonical text, which fits
	return text
}

// withoutCustom keeps the options whose names, as they are written, mean no
// extension or one of Confluent's.
func withoutCustom(options []Option) []Option {
	var out []Option
	for _, o := range options {
		if !o.Paren || strings.HasPrefix(o.Name, "confluent.") {
			out = append(out, o)
		}
	}
	return out
}

func plainMessages(list []*Message) []*Message {
	var out []*Message
	for _, m := range list {
		c := *m
		c.Options = withoutCustom(m.Options)
		c.Fields = plainFields(m.Fields)
		c.Oneofs, c.Groups = nil, plainGroups(m.Groups)
		for _, o := range m.Oneofs {
			x := *o
			x.Options, x.Fields, x.Groups = withoutCustom(o.Options), plainFields(o.Fields), plainGroups(o.Groups)
			c.Oneofs = append(c.Oneofs, &x)
		}
		c.Extensions, c.Extends = nil, nil
		c.Messages = plainMessages(m.Messages)
		c.Enums = plainEnums(m.Enums)
		out = append(out, &c)
	}
	return out
}

func plainFields(list []*Field) []*Field {
	var out []*Field
	for _, f := range list {
		c := *f
		c.Options = withoutCustom(f.Options)
		out = append(out, &c)
	}
	return out
}

func plainGroups(list []*Group) []*Group {
	var out []*Group
	for _, g := range list {
		c := *g
		c.Fields = plainFields(g.Fields)
		out = append(out, &c)
	}
	return out
}

func plainEnums(list []*Enum) []*Enum {
	var out []*Enum
	for _, e := range list {
		c := *e
		c.Options = withoutCustom(e.Options)
		c.Values = nil
		for _, v := range e.Values {
			v.Options = withoutCustom(v.Options)
			c.Values = append(c.Values, v)
		}
		out = append(out, &c)
	}
	return out
}
