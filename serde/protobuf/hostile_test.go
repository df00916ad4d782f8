package protobuf

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"milena/serde/schema"
)

// TestHostileTexts: whatever a text does, it is parsed or refused in bounded
// time.
func TestHostileTexts(t *testing.T) {
	const n = 20_000
	names := strings.Repeat("m.", 400) + "m"
	for name, text := range map[string]string{
		"nested messages":  "syntax = \"proto3\";" + strings.Repeat("message M {", n) + strings.Repeat("}", n),
		"nested options":   "option a = " + strings.Repeat("{a: ", n) + "1" + strings.Repeat("}", n) + ";",
		"nested lists":     "option a = " + strings.Repeat("[", n) + strings.Repeat("]", n) + ";",
		"nested maps":      "syntax = \"proto3\"; message M {" + strings.Repeat("map<string, ", n) + "int32" + strings.Repeat(">", n) + " a = 1; }",
		"option parts":     "option (a)" + strings.Repeat(".a", n) + " = 1;",
		"keys in parts":    "option a = {" + manyLines(n, func(i int) string { return fmt.Sprintf("(a).k%d: 1 ", i) }) + "}; message M {}",
		"types":            manyLines(100_001, func(i int) string { return fmt.Sprintf("message M%d {}\n", i) }),
		"fields":           "syntax = \"proto3\"; message M {" + manyLines(n, func(i int) string { return fmt.Sprintf("M f%d = %d;", i, i) }) + "}",
		"deep names":       "syntax = \"proto3\"; package " + names + "; message M {" + manyLines(n, func(i int) string { return fmt.Sprintf("x.M f%d = %d;", i, i) }) + "}",
		"unknown names":    "syntax = \"proto3\"; message M {" + manyLines(n, func(i int) string { return fmt.Sprintf("map<int32, N%d> f%d = %d;", i, i, i) }) + "}",
		"same option":      "syntax = \"proto3\"; message M { int32 a = 1 [" + strings.Repeat("(confluent.field_meta).tags = \"x\", ", n/4) + "deprecated = true]; }",
		"long string":      "option a = \"" + strings.Repeat("\\\"", 1<<20) + "\"; message M {}",
		"numbers":          "option a = [" + strings.Repeat("1e9999999, 0x"+strings.Repeat("f", 990)+",", 1000) + "]; message M {}",
		"comments":         strings.Repeat("/* */", n) + "message M {}",
		"open strings":     strings.Repeat("option a = 'x' ", n),
		"indented deeply":  strings.Repeat("message M {", 300) + manyLines(n/4, func(i int) string { return fmt.Sprintf("optional int32 a%d = 1;", i) }) + strings.Repeat("}", 300),
		"longer than ever": strings.Repeat(" ", 5<<20),
	} {
		start := time.Now()
		s, err := Parser{}.ParseSchema(schema.Resolved{Text: text})
		var parse *schema.ParseError
		if err != nil && !errors.As(err, &parse) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s took %v", name, d)
		} else {
			t.Logf("%-16s %8v %v", name, d.Round(time.Millisecond), err != nil)
		}
		if s != nil && len(s.Canonical()) > printedMax+1<<16 {
			t.Errorf("%s prints as %d bytes", name, len(s.Canonical()))
		}
	}
}

// TestLongNames: a long name around many declarations doesn't take its length
// for each.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("a", 200_000)
	fields := func(typ string) string {
		return manyLines(20_000, func(i int) string { return fmt.Sprintf("%s f%d = %d;", typ, i, i+1) })
	}
	for name, text := range map[string]string{
		"package of messages": "package " + long + ";" + manyLines(20_000, func(i int) string { return fmt.Sprintf("message M%d {}", i) }),
		"package of fields":   "syntax = \"proto3\"; package " + long + "; message M {" + fields("M") + "}",
		"package of values":   "package " + long + "; enum E {" + manyLines(20_000, func(i int) string { return fmt.Sprintf("V%d = %d;", i, i) }) + "}",
		"package of methods":  "package " + long + "; message M {} service S {" + manyLines(20_000, func(i int) string { return fmt.Sprintf("rpc R%d (M) returns (M);", i) }) + "}",
		"package of parts":    "syntax = \"proto3\"; package " + strings.Repeat("a.", 100_000) + "a; message M {" + fields("M") + "}",
		"message of fields":   "syntax = \"proto3\"; message " + long + " {" + fields("int32") + "}",
		"package of extends":  "package " + long + "; message M {}" + strings.Repeat("extend M {}", 20_000),
	} {
		for _, lenient := range []bool{false, true} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			s, err := Parser{Lenient: lenient}.ParseSchema(schema.Resolved{Text: text})
			if err == nil {
				s.Normalized()
				s.Tags()
				_, _ = s.Linked()
			}
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 1<<30 {
				t.Errorf("%s: %d MB allocated", name, got>>20)
			}
			if took > 20*time.Second {
				t.Errorf("%s took %v", name, took)
			}
			t.Logf("%-20s lenient=%-5t %8v %5d MB %.100v", name, lenient, took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, err)
		}
	}
}

// TestHostileLinks: what a text holds many of links in bounded time.
func TestHostileLinks(t *testing.T) {
	const n = 30_000 // each took a minute or more in the library as it is
	odd := func(i int) string { return fmt.Sprintf("%d, ", 2*i+3) }
	for name, text := range map[string]string{
		"reserved names":   "message M { reserved " + manyLines(n, func(i int) string { return fmt.Sprintf("\"r%d\", ", i) }) + "\"z\"; }",
		"reserved numbers": "message M { reserved " + manyLines(n, odd) + "2; }",
		"enum's names":     "enum E { A = 0; reserved " + manyLines(n, func(i int) string { return fmt.Sprintf("\"r%d\", ", i) }) + "\"z\"; }",
		"imports":          manyLines(n, func(i int) string { return fmt.Sprintf("import \"a%d.proto\";\n", i) }) + "message M {}",
		"extensions":       "message M { extensions " + manyLines(n, odd) + "2; }",
	} {
		s, err := Parser{}.ParseSchema(schema.Resolved{Text: text})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		start := time.Now()
		if _, err := s.Link(); err != nil {
			t.Logf("%s: %v", name, err)
		}
		if d := time.Since(start); d > 15*time.Second {
			t.Errorf("%s took %v", name, d)
		} else {
			t.Logf("%-16s %8v", name, d.Round(time.Millisecond))
		}
	}
}

func manyLines(n int, line func(int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		text, want string
		limits     schema.Limits
	}{
		{"message M { message N {} }", "deeper than the maximum allowed (1)", schema.Limits{DepthMax: 1}},
		{"message M {} enum E {}", "more than 1 named types", schema.Limits{NamesMax: 1}},
		{"message M {}", "exceeds the maximum allowed (5)", schema.Limits{TextBytesMax: 5}},
	} {
		_, err := Parser{Limits: c.limits}.ParseSchema(schema.Resolved{Text: c.text})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	long := schema.Dependency{Name: "d", Text: "message D {}" + strings.Repeat(" ", 10)}
	_, err := Parser{Limits: schema.Limits{TextBytesMax: 30}}.ParseSchema(schema.Resolved{
		Text: "message M {}", Dependencies: []schema.Dependency{long, long, long, long, long, long, long, long, long, long, long, long},
	})
	if err == nil || !strings.Contains(err.Error(), "too long together") {
		t.Errorf("%v", err)
	}
}

// TestRecursiveTypes: types that hold themselves and each other are schemas like
// others.
func TestRecursiveTypes(t *testing.T) {
	s := parse(t, `syntax = "proto3"; package shop;
message Node { Node next = 1; map<string, Node> kids = 2; Leaf leaf = 3; } message Leaf { Node up = 1; }`)
	if _, err := s.Link(); err != nil {
		t.Error(err)
	}
	if _, err := s.Serialized(); err != nil {
		t.Error(err)
	}
}
