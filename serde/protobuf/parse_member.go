package protobuf

import (
	"slices"
	"strconv"
	"strings"
)

// member reads a field or group of a message or extend.
func (p *parser) member(word string, start int, to body) {
	var label Label
	switch word {
	case "required":
		if p.isProto3 {
			p.failAt(start, "'required' label forbidden in proto3 field declarations")
			return
		}
		label = Required
	case "optional":
		label = Optional
	case "repeated":
		label = Repeated
	default:
		if !p.isProto3 && (word != "map" || p.peek() != '<') {
			p.failAt(start, "unexpected label: %s", clip(word))
			return
		}
	}
	if label != NoLabel {
		word = p.word()
	}
	t := p.dataType(word)
	if t.IsMap() && label != NoLabel {
		p.failAt(start, "'map' type cannot have label")
		return
	}
	if t.Name == "group" {
		if g := p.group(start, label); to.message != nil {
			to.message.Groups = append(to.message.Groups, g)
		}
		return
	}
	f := p.field(start, label, t)
	if to.message != nil {
		to.message.Fields = append(to.message.Fields, f)
		return
	}
	to.extend.Fields = append(to.extend.Fields, f)
}

// field reads what follows the type of a field.
func (p *parser) field(start int, label Label, t Type) *Field {
	f := &Field{Label: label, Type: t, Pos: p.place(start)}
	f.Name = p.memberName()
	p.require('=')
	f.Number = p.integer()
	f.Options = p.options()
	p.require(';')
	f.Options, f.Default = strip(f.Options, "default")
	f.Options, f.JSONName = strip(f.Options, "json_name")
	return f
}

// strip takes the options of one name out and returns the value of the last.
func strip(options []Option, name string) ([]Option, *string) {
	var found *string
	kept := options[:0]
	for _, o := range options {
		if o.Name != name {
			kept = append(kept, o)
			continue
		}
		s := o.Value.javaString()
		found = &s
	}
	if len(kept) == 0 {
		kept = nil
	}
	return kept, found
}

func (p *parser) oneof(start int, m *Message) {
	o := &Oneof{Pos: p.place(start)}
	o.Name = p.name()
	p.require('{')
	for p.err == nil && !p.take('}') {
		start := p.pos
		word := p.word()
		switch word {
		case "group":
			o.Groups = append(o.Groups, p.group(start, NoLabel))
		case "option":
			o.Options = append(o.Options, p.option('='))
			p.require(';')
		default:
			t := p.dataType(word)
			o.Fields = append(o.Fields, p.field(start, NoLabel, t))
		}
	}
	m.Oneofs = append(m.Oneofs, o)
}

// group reads what follows the word. Groups have neither options nor nested
// types.
func (p *parser) group(start int, label Label) *Group {
	g := &Group{Label: label, Pos: p.place(start)}
	g.Name = p.word()
	p.require('=')
	g.Number = p.integer()
	p.named()
	p.require('{')
	holder := &Message{}
	for p.err == nil && !p.take('}') {
		start := p.pos
		word := p.word()
		p.member(word, start, body{message: holder})
		if len(holder.Groups) > 0 {
			p.failAt(start, "expected field declaration, was a group")
		}
	}
	g.Fields = holder.Fields
	return g
}

func (p *parser) reserved(to body) {
	var r Reserved
	for p.err == nil {
		if c := p.peek(); c == '"' || c == '\'' {
			s := p.quoted()
			r.Items = append(r.Items, ReservedItem{Name: &s})
		} else {
			r.Items = append(r.Items, ReservedItem{Range: p.numberRange(",;")})
		}
		c := p.read()
		if c == ';' {
			break
		}
		if c != ',' {
			p.fail("expected ',' or ';'")
		}
	}
	if to.enum != nil {
		to.enum.Reserved = append(to.enum.Reserved, r)
		return
	}
	to.message.Reserved = append(to.message.Reserved, r)
}

// numberRange reads a number or a range before one of the ends.
func (p *parser) numberRange(ends string) Range {
	from := p.integer()
	c := p.peek()
	for i := range len(ends) {
		if c == ends[i] {
			return Range{From: from, To: from, Single: true}
		}
	}
	if w := p.word(); w != "to" {
		p.fail("expected ',', ';' or 'to'")
		return Range{}
	}
	start := p.pos
	if w := p.word(); w == "max" {
		return Range{From: from, To: maxNumber}
	}
	p.pos = start
	return Range{From: from, To: p.integer()}
}

func (p *parser) extensions(m *Message) {
	var x Extensions
	for p.err == nil {
		x.Ranges = append(x.Ranges, p.numberRange(",;["))
		c := p.peek()
		if c == '[' {
			x.Options = p.options()
			c = p.peek()
		}
		if c == ';' {
			p.pos++
			break
		}
		if c != ',' {
			p.fail("expected ',' or ';'")
			break
		}
		p.pos++
	}
	m.Extensions = append(m.Extensions, x)
}

// options reads a list of options in brackets, if there is one.
func (p *parser) options() []Option {
	if !p.take('[') {
		return nil
	}
	var list []Option
	for p.err == nil {
		list = append(list, p.option('='))
		if p.take(']') {
			break
		}
		if !p.take(',') {
			p.fail("Expected ',' or ']")
		}
	}
	return list
}

// option reads name, separator and value. In maps the separator may be left
// out before a value in braces or brackets.
func (p *parser) option(separator byte) Option {
	c := p.peek()
	o := Option{Pos: p.place(p.pos), Paren: c == '('}
	o.Name = p.name()
	if c == '[' {
		o.Name = "[" + o.Name + "]"
	}
	c = p.read()
	for c == '.' && p.err == nil {
		paren := p.peek() == '('
		sub := p.name()
		if paren {
			o.Sub = append(o.Sub, "("+sub+")")
		} else {
			o.Sub = append(o.Sub, strings.Split(sub, ".")...)
		}
		if p.depth+len(o.Sub) > p.limits.DepthMax {
			p.fail("nested deeper than the maximum allowed (%d)", p.limits.DepthMax)
		}
		c = p.read()
	}
	switch {
	case p.err != nil:
		return o
	case separator == ':' && (c == '{' || c == '['):
		p.pos--
	case c != separator:
		p.fail("expected '%c' in option", separator)
		return o
	}
	o.Value = p.value()
	return o
}

func (p *parser) value() Value {
	defer p.up()
	if !p.down() {
		return Value{}
	}
	switch c := p.peek(); {
	case c == '{':
		return p.mapValue()
	case c == '[':
		return p.listValue()
	case c == '"' || c == '\'':
		return Value{Kind: StringValue, Text: p.quoted()}
	case c >= '0' && c <= '9' || c == '-':
		return Value{Kind: NumberValue, Text: p.word()}
	default:
		return Value{Kind: WordValue, Text: p.word()}
	}
}

func (p *parser) listValue() Value {
	v := Value{Kind: ListValue}
	p.require('[')
	for p.err == nil && !p.take(']') {
		v.List = append(v.List, p.value())
		if !p.take(',') && p.peek() != ']' {
			p.fail("expected ',' or ']'")
		}
	}
	v.List = slices.Clip(v.List) // see collect
	return v
}

// mapValue reads a value in braces. A key that comes again makes a list, or
// adds to the map of its parts if it is written in parts.
func (p *parser) mapValue() Value {
	v := Value{Kind: MapValue}
	index := map[string]int{}
	p.require('{')
	for p.err == nil && !p.take('}') {
		o := p.option(':')
		i, known := index[o.Name]
		if !known {
			i = len(v.Map)
			index[o.Name] = i
			v.Map = append(v.Map, Entry{Key: o.Name})
		}
		at := &v.Map[i].Value
		switch {
		case len(o.Sub) > 0:
			if p.steps += len(at.Map) + 1; p.steps > partsMax {
				p.fail("too many parts of one option")
				return v
			}
			at.setParts(known, o.Sub, o.Value)
		case !known:
			*at = o.Value
		default:
			at.collect(o.Value)
		}
		if !p.take(',') {
			p.take(';')
		}
	}
	for i := range v.Map {
		v.Map[i].Value.List = slices.Clip(v.Map[i].Value.List)
	}
	return v
}

// partsMax bounds the steps spent on keys written in parts.
const partsMax = 10_000_000

// collect makes v a list of what it held and more. Lists of the tree have no
// room behind them, so that appending copies what it must not change.
func (v *Value) collect(more Value) {
	if v.Kind != ListValue {
		*v = Value{Kind: ListValue, List: []Value{*v}}
	}
	if more.Kind == ListValue {
		v.List = append(v.List, more.List...)
		return
	}
	v.List = append(v.List, more)
}

// setParts puts a value under a path of keys into a map.
func (v *Value) setParts(known bool, parts []string, value Value) {
	if !known || v.Kind != MapValue {
		*v = Value{Kind: MapValue}
	}
	at := v.entry(parts[0])
	if at == nil {
		v.Map = append(v.Map, Entry{Key: parts[0]})
		at = &v.Map[len(v.Map)-1].Value
	}
	if len(parts) == 1 {
		*at = value
		return
	}
	at.setParts(true, parts[1:], value)
}

// javaString returns a value as Java prints it, which is how the reference
// keeps the values of default and json_name.
func (v *Value) javaString() string {
	switch v.Kind {
	case ListValue, MapValue:
		return string(v.appendJava(nil))
	}
	return v.Text
}

func (v *Value) appendJava(dst []byte) []byte {
	switch v.Kind {
	case ListValue:
		dst = append(dst, '[')
		for i := range v.List {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = v.List[i].appendJava(dst)
		}
		return append(dst, ']')
	case MapValue:
		dst = append(dst, '{')
		for i := range v.Map {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, v.Map[i].Key...), '=')
			dst = v.Map[i].Value.appendJava(dst)
		}
		return append(dst, '}')
	case NumberValue, WordValue:
		kind := "NUMBER"
		if v.Kind == WordValue {
			kind = "ENUM"
			if v.Text == "true" || v.Text == "false" {
				kind = "BOOLEAN"
			}
		}
		return append(dst, "OptionPrimitive(kind="+kind+", value="+v.Text+")"...)
	}
	return append(dst, v.Text...)
}

// number returns a number as it is printed in ranges.
func number(n int32) string { return strconv.Itoa(int(n)) }
