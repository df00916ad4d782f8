package avro

import (
	"fmt"
	"strings"
	"testing"

	"milena/serde/record"
)

// showType prints a record type on one line; types in themselves by name.
func showType(t *record.Type, open []*record.Type) string {
	for _, o := range open {
		if o == t {
			return "^" + t.Name
		}
	}
	open = append(open, t)
	var cols []string
	for i := range t.Columns {
		cols = append(cols, showColumn(&t.Columns[i], open))
	}
	return fmt.Sprintf("%s{%s}", t.Name, strings.Join(cols, " "))
}

func showColumn(c *record.Column, open []*record.Type) string {
	s := c.Name + ":" + c.Kind.String()
	if c.Nullable {
		s += "?"
	}
	if c.Logical != "" {
		s += "/" + c.Logical
	}
	if c.UTC {
		s += "/utc"
	}
	if c.Precision != 0 {
		s += fmt.Sprintf("(%d,%d)", c.Precision, c.Scale)
	}
	if c.TypeName != "" {
		s += "=" + c.TypeName
	}
	if c.Size != 0 {
		s += fmt.Sprintf("[%d]", c.Size)
	}
	if len(c.Symbols) > 0 {
		s += strings.Join(c.Symbols, "|")
	}
	if c.Record != nil {
		s += showType(c.Record, open)
	}
	if c.Item != nil {
		s += "<" + showColumn(c.Item, open) + ">"
	}
	for i := range c.Branches {
		s += "|" + showColumn(&c.Branches[i], open)
	}
	return s
}

func TestRecordType(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{orderSchema, "bench.Order{order_id:string customer_id:int64 quantity:int32 price:double paid:bool coupon:string? " +
			"referrer:int64? status:string=bench.StatusNEW|PAID|SHIPPED|CANCELLED " +
			"address:recordbench.Address{street:string city:string zip:string floor:int32} tags:list<:string> attrs:map<:string> " +
			"created:timestamp/timestamp-millis/utc total:decimal/decimal(12,2)}"},
		{`{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]},{"name":"n","type":"null"},{"name":"f","type":"float"}]}`,
			"Node{next:record?^Node n:null? f:float}"},
		{`{"type":"array","items":["null","int",{"type":"fixed","name":"F","size":3},{"type":"map","values":["null","bytes"]}]}`,
			"{value:list<:union?|null:null?|int:int32|F:bytes=F[3]|map:map<:bytes?>>}"},
		{`["null","string"]`, "{value:string?}"},
		{`["null"]`, "{value:null?|null:null?}"},
		{`{"type":"bytes","logicalType":"decimal","precision":4}`, "{value:bytes}"},
		{`{"type":"record","name":"L","fields":[{"name":"d","type":{"type":"int","logicalType":"date"}},
		  {"name":"t","type":{"type":"int","logicalType":"time-millis"}},{"name":"u","type":{"type":"long","logicalType":"time-micros"}},
		  {"name":"l","type":{"type":"long","logicalType":"local-timestamp-micros"}},{"name":"n","type":{"type":"long","logicalType":"timestamp-nanos"}},
		  {"name":"b","type":{"type":"bytes","logicalType":"big-decimal"}},{"name":"i","type":{"type":"string","logicalType":"uuid"}},
		  {"name":"p","type":{"type":"fixed","name":"P","size":12,"logicalType":"duration"}}]}`,
			"L{d:date/date t:time/time-millis u:time/time-micros l:timestamp/local-timestamp-micros n:int64/timestamp-nanos " +
				"b:decimal/big-decimal i:string/uuid p:bytes/duration=P[12]}"},
	} {
		p := mustCompile(t, c.schema)
		if got := showType(p.RecordType(), nil); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.schema, got, c.want)
		}
		if bare := p.RecordType().Bare; bare != strings.HasPrefix(c.want, "{") {
			t.Errorf("%s: bare %v", c.schema, bare)
		}
	}
}

// TestProgramSize: a named type is compiled once, however often it is used, so
// that a program is no larger than its schema.
func TestProgramSize(t *testing.T) {
	var fields []string
	for i := range 500 {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":["null","R"]}`, i))
	}
	p := mustCompile(t, `{"type":"record","name":"R","fields":[`+strings.Join(fields, ",")+`]}`)
	if n := len(p.ops); n != 501 {
		t.Errorf("%d operations, want 501", n)
	}
	doubling := `{"type":"record","name":"R0","fields":[]}`
	for i := 1; i < 40; i++ {
		doubling = fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":%s},{"name":"b","type":"R%d"}]}`, i, doubling, i-1)
	}
	p = mustCompile(t, doubling)
	if n := len(p.ops); n != 1+2*39 {
		t.Errorf("%d operations, want %d", n, 1+2*39)
	}
}
