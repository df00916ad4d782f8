package avro

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand"
	"testing"
	"time"

	"github.com/linkedin/goavro/v2"
)

// orderSchema is the record that is measured: 13 fields, about 170 bytes.
const orderSchema = `{"type":"record","name":"Order","namespace":"bench","fields":[
{"name":"order_id","type":"string"},
{"name":"customer_id","type":"long"},
{"name":"quantity","type":"int"},
{"name":"price","type":"double"},
{"name":"paid","type":"boolean"},
{"name":"coupon","type":["null","string"],"default":null},
{"name":"referrer","type":["null","long"],"default":null},
{"name":"status","type":{"type":"enum","name":"Status","symbols":["NEW","PAID","SHIPPED","CANCELLED"]}},
{"name":"address","type":{"type":"record","name":"Address","fields":[
  {"name":"street","type":"string"},{"name":"city","type":"string"},{"name":"zip","type":"string"},{"name":"floor","type":"int"}]}},
{"name":"tags","type":{"type":"array","items":"string"}},
{"name":"attrs","type":{"type":"map","values":"string"}},
{"name":"created","type":{"type":"long","logicalType":"timestamp-millis"}},
{"name":"total","type":{"type":"bytes","logicalType":"decimal","precision":12,"scale":2}}
]}`

// order is one record in the form that hamba/avro encodes.
type order struct {
	OrderID    string            `avro:"order_id"`
	CustomerID int64             `avro:"customer_id"`
	Quantity   int32             `avro:"quantity"`
	Price      float64           `avro:"price"`
	Paid       bool              `avro:"paid"`
	Coupon     *string           `avro:"coupon"`
	Referrer   *int64            `avro:"referrer"`
	Status     string            `avro:"status"`
	Address    address           `avro:"address"`
	Tags       []string          `avro:"tags"`
	Attrs      map[string]string `avro:"attrs"`
	Created    time.Time         `avro:"created"`
	Total      *big.Rat          `avro:"total"`
}

type address struct {
	Street string `avro:"street"`
	City   string `avro:"city"`
	Zip    string `avro:"zip"`
	Floor  int32  `avro:"floor"`
}

// orders returns n records, the same ones in every run.
func orders(n int) []order {
	r := rand.New(rand.NewSource(7))
	pick := func(s ...string) string { return s[r.Intn(len(s))] }
	out := make([]order, n)
	for i := range out {
		o := order{
			OrderID:    fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", r.Uint32(), r.Intn(1<<16), r.Intn(1<<12), r.Intn(1<<16), r.Int63n(1<<48)),
			CustomerID: r.Int63n(5_000_000),
			Quantity:   int32(1 + r.Intn(40)),
			Price:      float64(r.Intn(100_000)) / 100,
			Paid:       r.Intn(3) > 0,
			Status:     pick("NEW", "PAID", "SHIPPED", "CANCELLED"),
			Address: address{fmt.Sprintf("%d Long Market Street", r.Intn(400)),
				pick("Amsterdam", "Berlin", "Lisbon", "Prague", "Tallinn", "Vienna"),
				fmt.Sprintf("%05d", r.Intn(100_000)), int32(r.Intn(30) - 2)},
			Attrs:   map[string]string{"channel": pick("web", "app", "store"), "campaign": fmt.Sprintf("c-%d", r.Intn(1000))},
			Created: time.UnixMilli(1_750_000_000_000 + int64(i)*137 + int64(r.Intn(100))).UTC(),
		}
		if r.Intn(2) == 0 {
			s := fmt.Sprintf("SAVE%d", r.Intn(50))
			o.Coupon = &s
		}
		if r.Intn(3) == 0 {
			v := r.Int63n(1 << 33)
			o.Referrer = &v
		}
		for j := r.Intn(4); j >= 0; j-- {
			o.Tags = append(o.Tags, pick("gift", "express", "fragile", "b2b", "eu", "priority"))
		}
		o.Total = big.NewRat(int64(o.Quantity)*int64(o.Price*100+0.5), 100)
		out[i] = o
	}
	return out
}

// native returns o in the form that goavro encodes.
func (o *order) native() map[string]any {
	m := map[string]any{
		"order_id": o.OrderID, "customer_id": o.CustomerID, "quantity": o.Quantity, "price": o.Price, "paid": o.Paid,
		"coupon": nil, "referrer": nil, "status": o.Status,
		"address": map[string]any{"street": o.Address.Street, "city": o.Address.City, "zip": o.Address.Zip, "floor": o.Address.Floor},
		"created": o.Created, "total": o.Total,
	}
	if o.Coupon != nil {
		m["coupon"] = map[string]any{"string": *o.Coupon}
	}
	if o.Referrer != nil {
		m["referrer"] = map[string]any{"long": *o.Referrer}
	}
	tags := []any{}
	for _, s := range o.Tags {
		tags = append(tags, s)
	}
	m["tags"] = tags
	attrs := map[string]any{}
	for k, v := range o.Attrs {
		attrs[k] = v
	}
	m["attrs"] = attrs
	return m
}

func compactJSON(t testing.TB, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// orderPayloads returns n orders as goavro encodes them.
func orderPayloads(t testing.TB, n int) [][]byte {
	t.Helper()
	c, err := goavro.NewCodec(orderSchema)
	if err != nil {
		t.Fatal(err)
	}
	list := orders(n)
	out := make([][]byte, n)
	for i := range list {
		if out[i], err = c.BinaryFromNative(nil, list[i].native()); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
