package avro

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/linkedin/goavro/v2"
	"google.golang.org/protobuf/proto"

	"milena/serde/record"
	"milena/serde/record/recordpb"
	"milena/serde/schema"
)

// TestRatios measures programs against the straightforward way through
// libraries, in the same run so that the machine's load hits both, and fails
// below the ratios that make them worth having. It runs with MILENA_BENCH=1:
// medians of five rounds, in each of which every path has three turns of which
// the best counts.
func TestRatios(t *testing.T) {
	if os.Getenv("MILENA_BENCH") != "1" {
		t.Skip("MILENA_BENCH=1 is not set")
	}
	b := newBench(t)
	paths := b.paths(t)
	times := map[string][]float64{}
	for range rounds {
		best := map[string]float64{}
		for range 3 {
			for _, p := range paths {
				if ns := p.measure(); best[p.name] == 0 || ns < best[p.name] {
					best[p.name] = ns
				}
			}
		}
		for name, ns := range best {
			times[name] = append(times[name], ns)
		}
	}
	fmt.Printf("%d orders: payload %d B, packed %d B, map form %d B on average\n", len(b.payloads),
		average(b.payloads), average(b.packed), average(b.mapForms))
	for _, p := range paths {
		allocs := testing.AllocsPerRun(100, func() { p.run(0) })
		fmt.Printf("%-44s %10.0f ns %6.0f allocs\n", p.name, median(times[p.name]), allocs)
		if p.free && allocs != 0 {
			t.Errorf("%s: %v allocations, want none", p.name, allocs)
		}
	}
	for _, r := range []struct {
		slow, fast string
		least      float64 // 0: only shown
	}{
		{"goavro, map, RecordValue, proto.Marshal", "Avro to packed RecordValue", 50},
		{"goavro to map", "Avro to packed RecordValue", 10},
		{"proto.Unmarshal, map, goavro", "packed RecordValue to Avro", 25},
		{"goavro, map, RecordValue, proto.Marshal", "Avro to RecordValue in map form", 0},
		{"cold: parse, compile, one record", "warm: look up the program, one record", 0},
	} {
		got := medianRatio(times[r.slow], times[r.fast])
		fmt.Printf("%6.1fx (at least %2.0fx)  %s / %s\n", got, r.least, r.slow, r.fast)
		if got < r.least {
			t.Errorf("%s is %.1fx as fast as %s, want %.0fx", r.fast, got, r.slow, r.least)
		}
	}
}

// rounds is how often each path is measured.
const rounds = 5

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// medianRatio is the median of the ratios within each round: the machine's
// load changes between rounds and hits both sides of one.
func medianRatio(slow, fast []float64) float64 {
	var ratios []float64
	for i := range slow {
		ratios = append(ratios, slow[i]/fast[i])
	}
	return median(ratios)
}

// bench holds what is measured on.
type bench struct {
	program                    *Program
	codec                      *goavro.Codec
	payloads, packed, mapForms [][]byte
}

func newBench(t testing.TB) *bench {
	b := &bench{program: mustCompile(t, orderSchema), payloads: orderPayloads(t, 1000)}
	var err error
	if b.codec, err = goavro.NewCodec(orderSchema); err != nil {
		t.Fatal(err)
	}
	for _, payload := range b.payloads {
		packed, style, err := b.program.Decode(nil, payload)
		if err != nil || style != record.StyleCanonical {
			t.Fatalf("style %d, %v", style, err)
		}
		mapForm, err := b.program.AppendRecordValue(nil, packed)
		if err != nil {
			t.Fatal(err)
		}
		b.packed, b.mapForms = append(b.packed, packed), append(b.mapForms, mapForm)
	}
	return b
}

func average(list [][]byte) int {
	n := 0
	for _, b := range list {
		n += len(b)
	}
	return n / len(list)
}

// path is one way to do something to record i.
type path struct {
	name  string
	run   func(i int)
	count int // records there are
	free  bool
}

// measure returns nanoseconds for one record, over at least 20 ms, in processor
// time of this process, since others use the machine too. What it takes to
// collect the garbage is a part of it.
func (p *path) measure() float64 {
	start, n := processTime(), 0
	for processTime()-start < 20*time.Millisecond {
		for i := range p.count {
			p.run(i)
		}
		n += p.count
	}
	return float64((processTime() - start).Nanoseconds()) / float64(n)
}

// processTime returns the processor time of this process where the system tells
// it, else the time that has passed.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return time.Since(processStart)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var processStart = time.Now()

func (b *bench) paths(t *testing.T) []path {
	buf := make([]byte, 0, 8192)
	packed := make([]byte, 0, 8192)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	native := func(i int) map[string]any {
		v, _, err := b.codec.NativeFromBinary(b.payloads[i])
		check(err)
		return v.(map[string]any)
	}
	var err error
	source := schema.Resolved{Type: schema.Avro, Text: orderSchema}
	cache := map[schema.Key]*Program{source.Key(): b.program}
	key := source.Key()
	return []path{
		{"Avro to packed RecordValue", func(i int) { buf, _, err = b.program.Decode(buf[:0], b.payloads[i]); check(err) }, 1000, true},
		{"Avro to RecordValue in map form", func(i int) {
			packed, _, err = b.program.Decode(packed[:0], b.payloads[i])
			check(err)
			buf, err = b.program.AppendRecordValue(buf[:0], packed)
			check(err)
		}, 1000, true},
		{"packed RecordValue to Avro", func(i int) {
			buf, err = b.program.Encode(buf[:0], b.packed[i], record.StyleCanonical)
			check(err)
		}, 1000, true},
		{"packed RecordValue to map form", func(i int) {
			buf, err = b.program.AppendRecordValue(buf[:0], b.packed[i])
			check(err)
		}, 1000, true},
		{"goavro to map", func(i int) { native(i) }, 1000, false},
		{"goavro, map, RecordValue, proto.Marshal", func(i int) {
			buf, err = proto.MarshalOptions{}.MarshalAppend(buf[:0], recordOf(native(i)))
			check(err)
		}, 1000, false},
		{"proto.Unmarshal, map, goavro", func(i int) {
			var rv recordpb.RecordValue
			check(proto.Unmarshal(b.mapForms[i], &rv))
			buf, err = b.codec.BinaryFromNative(buf[:0], orderNative(&rv))
			check(err)
		}, 1000, false},
		{"warm: look up the program, one record", func(i int) {
			buf, _, err = cache[key].Decode(buf[:0], b.payloads[i])
			check(err)
		}, 1000, true},
		{"cold: parse, compile, one record", func(i int) {
			s, err := Parser{}.ParseSchema(source)
			check(err)
			p, err := Compile(s)
			check(err)
			buf, _, err = p.Decode(buf[:0], b.payloads[i])
			check(err)
		}, 100, false},
	}
}

// recordOf turns a decoded Go map into RecordValue objects.
func recordOf(m map[string]any) *recordpb.RecordValue {
	f := make(map[string]*recordpb.Value)
	for k, v := range m {
		f[k] = valueOf(v)
	}
	return &recordpb.RecordValue{Fields: f}
}

func valueOf(x any) *recordpb.Value {
	switch v := x.(type) {
	case nil:
		return &recordpb.Value{}
	case bool:
		return &recordpb.Value{Kind: &recordpb.Value_BoolValue{BoolValue: v}}
	case int32:
		return &recordpb.Value{Kind: &recordpb.Value_Int32Value{Int32Value: v}}
	case int64:
		return &recordpb.Value{Kind: &recordpb.Value_Int64Value{Int64Value: v}}
	case float32:
		return &recordpb.Value{Kind: &recordpb.Value_FloatValue{FloatValue: v}}
	case float64:
		return &recordpb.Value{Kind: &recordpb.Value_DoubleValue{DoubleValue: v}}
	case string:
		return &recordpb.Value{Kind: &recordpb.Value_StringValue{StringValue: v}}
	case []byte:
		return &recordpb.Value{Kind: &recordpb.Value_BytesValue{BytesValue: v}}
	case time.Time:
		return &recordpb.Value{Kind: &recordpb.Value_TimestampValue{TimestampValue: &recordpb.TimestampValue{
			TimestampMicros: v.UnixMicro(), IsUtc: true}}}
	case []any:
		l := make([]*recordpb.Value, len(v))
		for i := range v {
			l[i] = valueOf(v[i])
		}
		return &recordpb.Value{Kind: &recordpb.Value_ListValue{ListValue: &recordpb.ListValue{Values: l}}}
	case map[string]any:
		return &recordpb.Value{Kind: &recordpb.Value_RecordValue{RecordValue: recordOf(v)}}
	default:
		return &recordpb.Value{Kind: &recordpb.Value_StringValue{StringValue: fmt.Sprint(v)}}
	}
}
