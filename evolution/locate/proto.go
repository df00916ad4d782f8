package locate

import (
	"regexp"
	"strconv"
	"strings"

	"milena/serde/protobuf"
)

// packagePattern finds the package of a file.
func packagePattern() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*(package[ \t]+[\w.]+)`) }

// found is where a trail led in a Protobuf file.
type found struct {
	pos  protobuf.Pos
	name string
}

// level is what a step is looked up in: the file, a message or an enum.
type level struct {
	messages []*protobuf.Message
	enums    []*protobuf.Enum
	message  *protobuf.Message
	enum     *protobuf.Enum
}

// step goes down one step. Within a message, numbers are those of fields, which
// are looked for outside and inside of oneofs.
func (l *level) step(key string) (found, level, bool) {
	for _, m := range l.messages {
		if m.Name == key {
			return found{m.Pos, m.Name}, level{messages: m.Messages, enums: m.Enums, message: m}, true
		}
	}
	for _, e := range l.enums {
		if e.Name == key {
			return found{e.Pos, e.Name}, level{enum: e}, true
		}
	}
	number, err := strconv.ParseInt(key, 10, 32)
	switch {
	case err == nil && l.enum != nil:
		for _, v := range l.enum.Values {
			if int64(v.Number) == number {
				return found{v.Pos, v.Name}, level{}, true
			}
		}
	case err == nil && l.message != nil:
		if f := fieldOf(l.message, int32(number)); f != nil {
			return found{f.Pos, f.Name}, level{}, true
		}
	case l.message != nil:
		for _, o := range l.message.Oneofs {
			if o.Name == key {
				return found{o.Pos, o.Name}, level{message: l.message}, true
			}
		}
	}
	return found{}, level{message: l.message}, false
}

func fieldOf(m *protobuf.Message, number int32) *protobuf.Field {
	for _, f := range m.Fields {
		if f.Number == number {
			return f
		}
	}
	for _, o := range m.Oneofs {
		for _, f := range o.Fields {
			if f.Number == number {
				return f
			}
		}
	}
	return nil
}

// nameProto names what the steps of a path lead to.
func (d *Doc) nameProto(steps []Step) {
	l := level{messages: d.file.Messages, enums: d.file.Enums}
	for i := range steps {
		f, next, ok := l.step(steps[i].Key)
		if ok {
			steps[i].Name = f.name
		}
		l = next
	}
}

// findProto finds a trail. A oneof that is missing doesn't keep its fields from
// being found: they may stand outside.
func (d *Doc) findProto(trail []Step) Place {
	if len(trail) == 0 {
		if at := packagePattern().FindStringSubmatchIndex(d.text); at != nil {
			p := d.at(at[2])
			p.Exact, p.Value = true, Brief(d.text[at[2]:at[3]])
			return p
		}
		return Place{Line: 1, Column: 1}
	}
	l := level{messages: d.file.Messages, enums: d.file.Enums}
	place := Place{}
	for _, s := range trail {
		f, next, ok := l.step(s.Key)
		place.Exact = ok
		if ok {
			place.Line, place.Column = f.pos.Line, f.pos.Column
		}
		l = next
	}
	place.Value = ""
	if place.Exact && place.Line > 0 {
		place.Value = d.statement(place)
	}
	return place
}

// statement is the text from a place to the end of a field, or to where a body
// starts.
func (d *Doc) statement(p Place) string {
	if p.Line > len(d.lines) {
		return ""
	}
	start := d.lines[p.Line-1] + p.Column - 1
	if start >= len(d.text) {
		return ""
	}
	rest := d.text[start:]
	if end := strings.IndexAny(rest, ";{\n"); end >= 0 {
		rest = rest[:end]
	}
	return Brief(rest)
}
