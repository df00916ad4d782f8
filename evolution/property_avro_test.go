package evolution_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	tavro "github.com/twmb/avro"

	"milena/evolution"
	"milena/serde/schema"
)

// avroMaker makes Avro schemas, changed copies of them, and values.
type avroMaker struct {
	r     *rand.Rand
	names int
}

// make returns a type as JSON has it. Named types have names of their own.
func (m *avroMaker) make(depth int) any {
	m.names++
	kinds := 10
	if depth > 2 {
		kinds = 7
	}
	switch m.r.IntN(kinds) {
	case 0, 1, 2, 3, 4:
		return []string{"int", "long", "float", "double", "string", "bytes", "boolean"}[m.r.IntN(7)]
	case 5:
		return map[string]any{"type": "enum", "name": fmt.Sprint("E", m.names), "symbols": m.symbols()}
	case 6:
		return map[string]any{"type": "fixed", "name": fmt.Sprint("F", m.names), "size": 1 + m.r.IntN(2)}
	case 7:
		return []any{"null", m.branch(depth + 1)}
	case 8:
		return map[string]any{"type": "array", "items": m.make(depth + 1)}
	default:
		return m.record(depth)
	}
}

// branch is a type that is no union, which unions can't hold.
func (m *avroMaker) branch(depth int) any {
	for {
		t := m.make(depth)
		if _, union := t.([]any); !union {
			return t
		}
	}
}

func (m *avroMaker) symbols() []any {
	all := []any{"A", "B", "C"}
	m.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+m.r.IntN(3)]
}

func (m *avroMaker) record(depth int) any {
	m.names++
	record := map[string]any{"type": "record", "name": fmt.Sprint("R", m.names)}
	fields := []any{}
	for _, name := range []string{"a", "b", "c"} {
		if m.r.IntN(4) > 0 {
			fields = append(fields, map[string]any{"name": name, "type": m.make(depth + 1)})
		}
	}
	record["fields"] = fields
	return record
}

// change returns a copy with some changes.
func (m *avroMaker) change(t any) any {
	if m.r.IntN(12) == 0 {
		return m.branch(3)
	}
	switch t := t.(type) {
	case string:
		if wider := map[string][]string{"int": {"long", "float", "double"}, "long": {"float", "double", "int"}, "float": {"double", "int"}, "string": {"bytes"}, "bytes": {"string"}}[t]; wider != nil && m.r.IntN(3) == 0 {
			return wider[m.r.IntN(len(wider))]
		}
		return t
	case []any:
		switch inner := m.change(t[1]); m.r.IntN(6) {
		case 0:
			return inner
		case 1:
			return []any{inner, "null"}
		default:
			return []any{t[0], inner}
		}
	case map[string]any:
		return m.changeObject(t)
	}
	return t
}

func (m *avroMaker) changeObject(t map[string]any) any {
	out := map[string]any{}
	for k, v := range t {
		out[k] = v
	}
	switch t["type"] {
	case "enum":
		if m.r.IntN(2) == 0 {
			symbols := m.symbols()
			out["symbols"] = symbols
			if m.r.IntN(2) == 0 {
				out["default"] = symbols[0]
			}
		}
	case "fixed":
		if m.r.IntN(6) == 0 {
			out["size"] = 3
		}
	case "array":
		out["items"] = m.change(t["items"])
	case "record":
		fields := []any{}
		for _, f := range t["fields"].([]any) {
			if m.r.IntN(8) > 0 {
				field := f.(map[string]any)
				fields = append(fields, map[string]any{"name": field["name"], "type": m.change(field["type"])})
			}
		}
		switch m.r.IntN(6) {
		case 0:
			fields = append(fields, map[string]any{"name": "d", "type": "int", "default": 1})
		case 1:
			fields = append(fields, map[string]any{"name": "d", "type": "string"})
		}
		m.r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		out["fields"] = fields
	}
	if name, ok := out["name"].(string); ok && m.r.IntN(15) == 0 {
		out["name"] = name + "x"
		if m.r.IntN(2) == 0 {
			out["aliases"] = []any{name}
		}
	}
	return out
}

// value returns a value of a type, in the form that the other library encodes.
func (m *avroMaker) value(t any) any {
	switch t := t.(type) {
	case []any:
		if m.r.IntN(2) == 0 {
			return nil
		}
		return m.value(t[1])
	case string:
		return map[string]any{
			"int": int32(m.r.Int32()), "long": m.r.Int64(), "float": m.r.Float32(), "double": m.r.Float64(),
			"string": fmt.Sprint("s", m.r.IntN(9)), "bytes": []byte{byte(m.r.IntN(100))}, "boolean": m.r.IntN(2) == 0,
		}[t]
	case map[string]any:
		switch t["type"] {
		case "enum":
			symbols := t["symbols"].([]any)
			return symbols[m.r.IntN(len(symbols))]
		case "fixed":
			return make([]byte, t["size"].(int))
		case "array":
			return []any{m.value(t["items"])}
		case "record":
			out := map[string]any{}
			for _, f := range t["fields"].([]any) {
				field := f.(map[string]any)
				out[field["name"].(string)] = m.value(field["type"])
			}
			return out
		}
	}
	return nil
}

// TestAvroCompatibleMeansReadable: what the checker lets pass, another
// implementation of Avro reads, whatever values were written; what it refuses,
// that one refuses as well.
func TestAvroCompatibleMeansReadable(t *testing.T) {
	c, err := evolution.New(evolution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	verdicts := [2]int{}
	for seed := range uint64(3000) {
		m := &avroMaker{r: rand.New(rand.NewPCG(seed, 1))}
		writer := m.record(0)
		oldText, newText := jsonText(t, writer), jsonText(t, m.change(writer))
		old, next := parseText(t, schema.Avro, oldText), parseText(t, schema.Avro, newText)
		result, err := c.Check(t.Context(), evolution.Backward, next, []schema.Parsed{old})
		if err != nil {
			t.Fatal(err)
		}
		w, errW := tavro.Parse(oldText)
		r, errR := tavro.Parse(newText)
		if errW != nil || errR != nil {
			t.Fatalf("%v %v", errW, errR)
		}
		both, refused := tavro.Resolve(w, r)
		if result.Compatible != (refused == nil) {
			t.Errorf("seed %d: compatible %v %v, the other library says %v\nold %s\nnew %s", seed, result.Compatible, result.Findings, refused, oldText, newText)
			continue
		}
		if !result.Compatible {
			verdicts[0]++
			continue
		}
		verdicts[1]++
		for range 5 {
			data, err := w.Encode(m.value(writer))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			var got any
			if rest, err := both.Decode(data, &got); err != nil || len(rest) != 0 {
				t.Errorf("seed %d: %v, %d bytes left\nold %s\nnew %s", seed, err, len(rest), oldText, newText)
			}
		}
	}
	if verdicts[0] < 300 || verdicts[1] < 300 {
		t.Errorf("%d incompatible and %d compatible pairs say little", verdicts[0], verdicts[1])
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAlgebra: FULL is BACKWARD and FORWARD, which are each other's mirror; a
// schema differs in nothing from itself; the order of older versions and of
// fields doesn't change a verdict.
func TestAlgebra(t *testing.T) {
	c, err := evolution.New(evolution.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(level evolution.Level, next schema.Parsed, old ...schema.Parsed) bool {
		t.Helper()
		r, err := c.Check(t.Context(), level, next, old)
		if err != nil {
			t.Fatal(err)
		}
		return r.Compatible
	}
	for seed := range uint64(500) {
		m := &avroMaker{r: rand.New(rand.NewPCG(seed, 2))}
		first := m.record(0)
		a, b, d := parseText(t, schema.Avro, jsonText(t, first)), parseText(t, schema.Avro, jsonText(t, m.change(first))), parseText(t, schema.Avro, jsonText(t, m.change(first)))
		back, fore := check(evolution.Backward, b, a), check(evolution.Forward, b, a)
		if check(evolution.Full, b, a) != (back && fore) || check(evolution.Forward, a, b) != back || check(evolution.Backward, a, b) != fore {
			t.Errorf("seed %d: %v %v", seed, back, fore)
		}
		for _, level := range []evolution.Level{evolution.BackwardTransitive, evolution.ForwardTransitive, evolution.FullTransitive} {
			if check(level, d, a, b) != check(level, d, b, a) {
				t.Errorf("seed %d: %s depends on the order", seed, level)
			}
		}
		if changes, err := c.Changes(t.Context(), evolution.Strict, b, b, "new", "old"); err != nil || len(changes) != 0 {
			t.Errorf("seed %d: a schema differs from itself: %v %v", seed, changes, err)
		}
	}
}
