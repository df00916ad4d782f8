package protobuf

import (
	"fmt"

	"milena/serde/schema"
)

// nameBytesMax bounds the full names of all that one text declares, together.
// A name is as long as those of everything around it, so that a long package
// or message name around many fields would come to gigabytes.
const nameBytesMax = 32 << 20

// checkNameBytes refuses a file whose full names take too much room.
func checkNameBytes(f *File) *schema.ParseError {
	c := &nameCounter{}
	scope := len(f.Package) + 1
	c.types(scope, f.Messages, f.Enums)
	c.extends(scope, f.Extends)
	for _, s := range f.Services {
		inner := c.count(scope, s.Name)
		for _, r := range s.RPCs {
			c.count(inner, r.Name)
		}
	}
	if c.bytes <= nameBytesMax {
		return nil
	}
	return &schema.ParseError{Message: fmt.Sprintf("Schema is too complex: its full names take more than %d bytes together", nameBytesMax)}
}

// nameCounter adds up the lengths of full names.
type nameCounter struct{ bytes int }

// count adds a name in a scope whose name has scope bytes, and returns the bytes
// of the scope that it makes.
func (c *nameCounter) count(scope int, name string) int {
	scope += len(name) + 1
	c.bytes += scope
	return scope
}

func (c *nameCounter) types(scope int, messages []*Message, enums []*Enum) {
	for _, m := range messages {
		inner := c.count(scope, m.Name)
		c.fields(inner, m.Fields)
		c.groups(inner, m.Groups)
		for _, o := range m.Oneofs {
			c.count(inner, o.Name)
			c.fields(inner, o.Fields)
			c.groups(inner, o.Groups)
		}
		c.extends(inner, m.Extends)
		c.types(inner, m.Messages, m.Enums)
	}
	for _, e := range enums {
		inner := c.count(scope, e.Name)
		for i := range e.Values {
			c.count(inner, e.Values[i].Name)
		}
	}
}

func (c *nameCounter) fields(scope int, fields []*Field) {
	for _, f := range fields {
		c.count(scope, f.Name)
	}
}

func (c *nameCounter) groups(scope int, groups []*Group) {
	for _, g := range groups {
		c.fields(c.count(scope, g.Name), g.Fields)
	}
}

func (c *nameCounter) extends(scope int, extends []*Extend) {
	for _, x := range extends {
		c.fields(scope, x.Fields)
	}
}
