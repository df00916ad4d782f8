package protobuf

import (
	"fmt"
	"path"

	"milena/serde/schema"
)

// scope says what a declaration stands in, which decides what its first word
// can mean.
type scope uint8

const (
	inFile scope = iota
	inMessage
	inEnum
	inExtend
	inService
	inRPC
)

// parser reads one text into a File. Depth is bounded by limits.
type parser struct {
	lexer
	limits schema.Limits
	file   *File
	index  int // declarations so far
	depth  int
	names  int
	steps  int            // spent on keys of maps in parts
	types  map[string]Pos // top-level types

	isProto3  bool
	hasSyntax bool
}

// body is what declarations are added to; which parts are used depends on the
// scope.
type body struct {
	message *Message
	enum    *Enum
	extend  *Extend
	service *Service
	rpc     *RPC
}

// parseText reads a text that is not blank.
func parseText(text string, limits schema.Limits) (*File, *schema.ParseError) {
	p := &parser{limits: limits, file: &File{}, types: map[string]Pos{}}
	p.src = text
	for !p.done() {
		p.declaration(inFile, body{})
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.file, nil
}

// down goes one level down and reports whether that is not too deep. Each down
// has its up.
func (p *parser) down() bool {
	p.depth++
	if p.depth > p.limits.DepthMax {
		p.fail("nested deeper than the maximum allowed (%d)", p.limits.DepthMax)
	}
	return p.err == nil
}

func (p *parser) up() { p.depth-- }

// declaration reads one declaration, an empty statement included.
func (p *parser) declaration(in scope, to body) {
	index := p.index
	p.index++
	if p.take(';') {
		return
	}
	start := p.pos
	label := p.word()
	if p.err != nil {
		return
	}
	if in == inFile && p.fileDeclaration(label, start, index) {
		return
	}
	switch {
	case label == "option":
		o := p.option('=')
		p.require(';')
		to.addOption(p, o)
	case label == "message" && (in == inFile || in == inMessage):
		p.message(start, to)
	case label == "enum" && (in == inFile || in == inMessage):
		p.enum(start, to)
	case label == "extend" && (in == inFile || in == inMessage):
		p.extend(start, to)
	case label == "reserved" && (in == inMessage || in == inEnum):
		p.reserved(to)
	case label == "oneof" && in == inMessage:
		p.oneof(start, to.message)
	case label == "extensions" && in == inMessage:
		p.extensions(to.message)
	case label == "rpc" && in == inService:
		p.rpc(start, to.service)
	case in == inMessage || in == inExtend:
		p.member(label, start, to)
	case in == inEnum:
		p.constant(label, start, to.enum)
	default:
		p.failAt(start, "unexpected label: %s", clip(label))
	}
}

func (b body) addOption(p *parser, o Option) {
	switch {
	case b.rpc != nil:
		b.rpc.Options = append(b.rpc.Options, o)
	case b.service != nil:
		b.service.Options = append(b.service.Options, o)
	case b.enum != nil:
		b.enum.Options = append(b.enum.Options, o)
	case b.extend != nil: // read and dropped
	case b.message != nil:
		b.message.Options = append(b.message.Options, o)
	default:
		p.file.Options = append(p.file.Options, o)
	}
}

// fileDeclaration reads what can stand only at the top and reports whether it
// was that.
func (p *parser) fileDeclaration(label string, start, index int) bool {
	switch label {
	case "syntax":
		p.syntax(start, index)
	case "edition":
		p.failAt(start+len(label), "edition is not currently supported")
	case "package":
		p.file.Package = p.name()
		p.require(';')
	case "import":
		p.imported(start)
	case "service":
		p.service(start)
	default:
		return false
	}
	return true
}

func (p *parser) syntax(start, index int) {
	if p.hasSyntax {
		p.failAt(start, "too many syntax definitions")
	}
	p.require('=')
	if index != 0 {
		p.failAt(start, "'syntax' element must be the first declaration in a file")
	}
	s := p.quoted()
	if s != "proto2" && s != "proto3" {
		p.failAt(start, "unexpected syntax: %s", clip(s))
	}
	p.require(';')
	p.hasSyntax = true
	p.file.Syntax, p.isProto3 = s, s == "proto3"
}

// imported reads an import. Weak ones are dropped, as the reference does.
func (p *parser) imported(start int) {
	pos := p.place(start)
	quote := p.peek()
	word := p.text()
	add := func(list *[]Import, s string) { *list = append(*list, Import{Path: path.Clean(s), Pos: pos}) }
	switch {
	case p.err != nil:
		return
	case quote == '"' || quote == '\'':
		add(&p.file.Imports, word)
	case word == "public":
		add(&p.file.PublicImports, p.text())
	case word == "weak":
		p.text()
	default:
		p.failAt(start, "expected quoted string")
	}
	p.require(';')
}

// named counts a named type.
func (p *parser) named() {
	if p.names++; p.names > p.limits.NamesMax {
		p.fail("more than %d named types", p.limits.NamesMax)
	}
}

// topLevel notes a type of the file; two may not have one name.
func (p *parser) topLevel(name string, pos Pos) {
	if first, twice := p.types[name]; twice && p.err == nil {
		p.err = &schema.ParseError{
			Line: pos.Line, Column: pos.Column,
			Message: fmt.Sprintf("%s%s (:%d:%d) is already defined at :%d:%d",
				syntaxPrefix, clip(name), pos.Line, pos.Column, first.Line, first.Column),
		}
	}
	p.types[name] = pos
}

func (p *parser) message(start int, to body) {
	m := &Message{Pos: p.place(start)}
	m.Name = p.name()
	p.named()
	p.require('{')
	p.block(inMessage, body{message: m})
	if to.message == nil {
		p.topLevel(m.Name, m.Pos)
		p.file.Messages = append(p.file.Messages, m)
		return
	}
	to.message.Messages = append(to.message.Messages, m)
}

// block reads declarations up to the closing brace.
func (p *parser) block(in scope, to body) {
	defer p.up()
	if !p.down() {
		return
	}
	for p.err == nil && !p.take('}') {
		p.declaration(in, to)
	}
}

func (p *parser) enum(start int, to body) {
	e := &Enum{Pos: p.place(start)}
	e.Name = p.name()
	p.named()
	p.require('{')
	p.block(inEnum, body{enum: e})
	if to.message == nil {
		p.topLevel(e.Name, e.Pos)
		p.file.Enums = append(p.file.Enums, e)
		return
	}
	to.message.Enums = append(to.message.Enums, e)
}

func (p *parser) constant(label string, start int, e *Enum) {
	v := EnumValue{Name: label, Pos: p.place(start)}
	p.require('=')
	v.Number = p.integer()
	v.Options = p.options()
	p.require(';')
	e.Values = append(e.Values, v)
}

func (p *parser) extend(start int, to body) {
	x := &Extend{Pos: p.place(start)}
	x.Name = p.name()
	p.require('{')
	p.block(inExtend, body{extend: x})
	if to.message == nil {
		p.file.Extends = append(p.file.Extends, x)
		return
	}
	to.message.Extends = append(to.message.Extends, x)
}

func (p *parser) service(start int) {
	s := &Service{Pos: p.place(start)}
	s.Name = p.name()
	p.require('{')
	p.block(inService, body{service: s})
	p.file.Services = append(p.file.Services, s)
}

func (p *parser) rpc(start int, s *Service) {
	r := &RPC{Pos: p.place(start)}
	r.Name = p.name()
	r.Request, r.StreamsRequest = p.rpcType()
	if w := p.word(); w != "returns" {
		p.fail("expected 'returns'")
	}
	r.Response, r.StreamsResponse = p.rpcType()
	if p.take('{') {
		p.block(inRPC, body{rpc: r})
	} else {
		p.require(';')
	}
	s.RPCs = append(s.RPCs, r)
}

func (p *parser) rpcType() (name string, streams bool) {
	p.require('(')
	w := p.word()
	if w == "stream" {
		w, streams = p.word(), true
	}
	name = p.dataType(w).String()
	p.require(')')
	return name, streams
}

// dataType returns the type that starts with a word.
func (p *parser) dataType(word string) Type {
	if word != "map" || p.err != nil {
		return Type{Name: word}
	}
	defer p.up()
	if !p.down() {
		return Type{}
	}
	if p.read() != '<' {
		p.fail("expected '<'")
		return Type{}
	}
	key := p.dataType(p.word())
	p.require(',')
	value := p.dataType(p.word())
	p.require('>')
	return Type{Key: &key, Value: &value}
}
