package protobuf

import "strings"

// printer writes a file in the one layout that the reference stores. Groups of
// declarations are told apart by lines that hold the indentation of the element
// around them and nothing else.
type printer struct {
	strings.Builder
	strict bool // escape all that protoc wants escaped, which the reference doesn't
	max    int  // bytes after which printing ends, because indentation multiplies
}

// printedMax is how many bytes a text may print as.
const printedMax = 16 << 20

// printFile returns the text of a file and whether it fits into printedMax.
func printFile(f *File) (string, bool) {
	p := &printer{max: printedMax}
	p.file(f)
	return p.String(), !p.full()
}

// strictLineItems is how many items of a list a line for compilers has:
// protocompile finds each token's column by walking its line, so that one long
// line would take minutes.
const strictLineItems = 200

// printStrict is printFile for compilers: the lines are the same up to the
// first list of more than strictLineItems numbers or reserved names.
func printStrict(f *File) string {
	p := &printer{max: printedMax, strict: true}
	p.file(f)
	return p.String()
}

func (p *printer) full() bool { return p.Len() > p.max }

func (p *printer) write(parts ...string) {
	if p.full() {
		return
	}
	for _, s := range parts {
		p.WriteString(s)
	}
}

func (p *printer) file(f *File) {
	if f.Syntax != "" {
		p.write("syntax = ", p.quote(f.Syntax), ";\n")
	}
	if f.Package != "" {
		p.write("package ", f.Package, ";\n")
	}
	if len(f.Imports)+len(f.PublicImports) > 0 {
		p.write("\n")
		for _, i := range f.Imports {
			p.write("import ", p.bareQuote(i.Path), ";\n")
		}
		for _, i := range f.PublicImports {
			p.write("import public ", p.bareQuote(i.Path), ";\n")
		}
	}
	if len(f.Options) > 0 {
		p.write("\n")
		p.statements("", f.Options)
	}
	if len(f.Messages)+len(f.Enums) > 0 {
		p.write("\n")
		p.types("", f.Messages, f.Enums)
	}
	if len(f.Extends) > 0 {
		p.write("\n")
		p.extends("", f.Extends)
	}
	if len(f.Services) > 0 {
		p.write("\n")
		for _, s := range f.Services {
			p.service(s)
		}
	}
}

func (p *printer) types(indent string, messages []*Message, enums []*Enum) {
	for _, m := range messages {
		p.message(indent, m)
	}
	for _, e := range enums {
		p.enum(indent, e)
	}
}

// sections writes the parts of a body with an empty line between them.
type sections struct {
	p      *printer
	indent string
	any    bool
}

// start begins a part if there is anything in it.
func (s *sections) start(n int) bool {
	if n == 0 || s.p.full() {
		return false
	}
	if s.any {
		s.p.write(s.indent, "\n")
	} else {
		s.p.write("\n")
	}
	s.any = true
	return true
}

func (s *sections) end() {
	if s.any {
		s.p.write(s.indent)
	}
	s.p.write("}\n")
}

func (p *printer) message(indent string, m *Message) {
	p.write(indent, "message ", m.Name, " {")
	inner := indent + "  "
	s := &sections{p: p, indent: indent}
	if s.start(len(m.Reserved)) {
		p.reserved(inner, m.Reserved)
	}
	if s.start(len(m.Options)) {
		p.statements(inner, m.Options)
	}
	if s.start(len(m.Fields)) {
		p.fields(inner, m.Fields)
	}
	if s.start(len(m.Oneofs)) {
		for _, o := range m.Oneofs {
			p.oneof(inner, o)
		}
	}
	if s.start(len(m.Groups)) {
		p.groups(inner, m.Groups)
	}
	if s.start(len(m.Extensions)) {
		for i := range m.Extensions {
			p.extensions(inner, &m.Extensions[i])
		}
	}
	if s.start(len(m.Extends)) {
		p.extends(inner, m.Extends)
	}
	if s.start(len(m.Messages) + len(m.Enums)) {
		p.types(inner, m.Messages, m.Enums)
	}
	s.end()
}

func (p *printer) reserved(indent string, list []Reserved) {
	for i := range list {
		p.write(indent, "reserved ")
		for j, item := range list[i].Items {
			p.separate(j)
			if item.Name != nil {
				p.write(p.bareQuote(*item.Name))
			} else {
				p.numbers(item.Range)
			}
		}
		p.write(";\n")
	}
}

// separate stands in front of item i of a list on one line.
func (p *printer) separate(i int) {
	switch {
	case i == 0:
	case p.strict && i%strictLineItems == 0:
		p.write(",\n")
	default:
		p.write(", ")
	}
}

func (p *printer) numbers(r Range) {
	p.write(number(r.From))
	switch {
	case r.Single:
	case r.To >= maxNumber:
		p.write(" to max")
	default:
		p.write(" to ", number(r.To))
	}
}

func (p *printer) extensions(indent string, x *Extensions) {
	p.write(indent, "extensions ")
	for i, r := range x.Ranges {
		p.separate(i)
		p.numbers(r)
	}
	p.options(indent, x.Options)
	p.write(";\n")
}

func (p *printer) fields(indent string, fields []*Field) {
	for _, f := range fields {
		p.write(indent)
		if f.Label != NoLabel {
			p.write(f.Label.String(), " ")
		}
		p.write(f.Type.String(), " ", f.Name, " = ", number(f.Number))
		p.options(indent, p.fieldOptions(f))
		p.write(";\n")
	}
}

// fieldOptions returns the options with default and json_name behind them.
func (p *printer) fieldOptions(f *Field) []Option {
	options := f.Options
	options = options[:len(options):len(options)]
	if f.Default != nil {
		v := Value{Kind: WordValue, Text: *f.Default}
		if f.Type.Name == "string" {
			v.Kind = StringValue
		}
		options = append(options, Option{Name: "default", Value: v})
	}
	if f.JSONName != nil {
		options = append(options, Option{Name: "json_name", Value: Value{Kind: StringValue, Text: *f.JSONName}})
	}
	return options
}

// oneof writes a oneof; one without a name, which no text has, stands for one
// that normalizing dropped: the line in front of it stays.
func (p *printer) oneof(indent string, o *Oneof) {
	if o.Name == "" {
		return
	}
	p.write(indent, "oneof ", o.Name, " {")
	inner := indent + "  "
	s := &sections{p: p, indent: indent}
	if s.start(len(o.Options)) {
		p.statements(inner, o.Options)
	}
	if s.start(len(o.Fields)) {
		p.fields(inner, o.Fields)
	}
	if s.start(len(o.Groups)) {
		p.groups(inner, o.Groups)
	}
	s.end()
}

func (p *printer) groups(indent string, groups []*Group) {
	for _, g := range groups {
		p.write(indent)
		if g.Label != NoLabel {
			p.write(g.Label.String(), " ")
		}
		p.write("group ", g.Name, " = ", number(g.Number), " {")
		s := &sections{p: p, indent: indent}
		if s.start(len(g.Fields)) {
			p.fields(indent+"  ", g.Fields)
		}
		s.end()
	}
}

func (p *printer) enum(indent string, e *Enum) {
	p.write(indent, "enum ", e.Name, " {")
	if len(e.Reserved)+len(e.Options)+len(e.Values) > 0 {
		p.write("\n")
		inner := indent + "  "
		p.reserved(inner, e.Reserved)
		p.statements(inner, e.Options)
		for i := range e.Values {
			v := &e.Values[i]
			p.write(inner, v.Name, " = ", number(v.Number))
			p.options(inner, v.Options)
			p.write(";\n")
		}
		p.write(indent)
	}
	p.write("}\n")
}

func (p *printer) extends(indent string, extends []*Extend) {
	for _, x := range extends {
		if x.Name == "" {
			continue // see oneof
		}
		p.write(indent, "extend ", x.Name, " {")
		if len(x.Fields) > 0 {
			p.write("\n")
			p.fields(indent+"  ", x.Fields)
			p.write(indent)
		}
		p.write("}\n")
	}
}

func (p *printer) service(s *Service) {
	p.write("service ", s.Name, " {")
	body := &sections{p: p}
	if body.start(len(s.Options)) {
		p.statements("  ", s.Options)
	}
	if body.start(len(s.RPCs)) {
		for _, r := range s.RPCs {
			p.rpc(r)
		}
	}
	body.end()
}

func (p *printer) rpc(r *RPC) {
	stream := func(yes bool) string {
		if yes {
			return "stream "
		}
		return ""
	}
	p.write("  rpc ", r.Name, " (", stream(r.StreamsRequest), r.Request, ") returns (", stream(r.StreamsResponse), r.Response, ")")
	if len(r.Options) > 0 {
		p.write(" {\n")
		p.statements("    ", r.Options)
		p.write("  }")
	}
	p.write(";\n")
}
