package jsonschema

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"milena/serde/schema"
)

func newValidator(t testing.TB, text string, deps ...schema.Dependency) *Validator {
	t.Helper()
	v, err := NewValidator(schema.Resolved{Text: text, Dependencies: deps}, ValidatorOptions{})
	if err != nil {
		t.Fatalf("%.300s: %v", text, err)
	}
	return v
}

func TestValidator(t *testing.T) {
	address := schema.Dependency{Name: "address.json", Text: `{"definitions":{"zip":{"type":"string","minLength":5}}}`}
	for _, c := range []struct {
		why, schema string
		valid       []string
		invalid     []string
	}{
		{"draft 7 is the default, also for dialects that nobody knows", `{"$schema":"https://corp.test/my-dialect","items":[{"type":"string"}]}`, []string{`["a",1]`}, []string{`[1]`}},
		{"the spelling of $schema", `{"$schema":"https://json-schema.org/draft-04/schema","minimum":1,"exclusiveMinimum":true}`, []string{`2`}, []string{`1`}},
		{"an identifier within starts a base", `{"$schema":"http://json-schema.org/draft-07/schema#","oneOf":[{"$id":"leg.json","type":"object","properties":{"lid":{"$ref":"#/definitions/lid"}},"definitions":{"lid":{"type":"string","minLength":4}}},{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}]}`,
			[]string{`{"lid":"abcd"}`}, []string{`{"lid":"ab"}`}},
		{"siblings of a reference count in 2020-12", `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"r":{"maxProperties":1,"$ref":"#/$defs/R"}},"$defs":{"R":{"required":["n"]}}}`,
			[]string{`{"r":{"n":1}}`}, []string{`{"r":{}}`, `{"r":{"n":1,"m":2}}`}},
		{"and are hidden in draft 7", `{"properties":{"r":{"maxProperties":1,"$ref":"#/definitions/R"}},"definitions":{"R":{"required":["n"]}}}`,
			[]string{`{"r":{"n":1,"m":2}}`}, []string{`{"r":{}}`}},
		{"definitions are found under $defs", `{"properties":{"x":{"$ref":"#/$defs/a"}},"definitions":{"a":{"type":"string"}}}`, []string{`{"x":"a"}`}, []string{`{"x":1}`}},
		{"references by name", `{"$id":"http://acme.test/x/main.json","properties":{"z":{"$ref":"address.json#/$defs/zip"}}}`, []string{`{"z":"12345"}`}, []string{`{"z":"1"}`}},
		{"single values", `{"enum":["a",1,null]}`, []string{`"a"`, ` null `, `1.0`}, []string{`"b"`, `[]`}},
		{"nothing", `false`, nil, []string{`1`, `{}`}},
	} {
		v := newValidator(t, c.schema, address)
		for _, doc := range c.valid {
			if err := v.Validate([]byte(doc)); err != nil {
				t.Errorf("%s: %s: %v", c.why, doc, err)
			}
		}
		for _, doc := range c.invalid {
			var invalid *InvalidError
			if err := v.Validate([]byte(doc)); !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
				t.Errorf("%s: %s: %v", c.why, doc, err)
			}
		}
	}
}

func TestProblems(t *testing.T) {
	v := newValidator(t, `{"properties":{"a/b":{"type":"array","items":{"type":"string"}}},"required":["c"]}`)
	err := v.Validate([]byte(`{"a/b":["x",1]}`))
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 2 {
		t.Fatalf("%v", err)
	}
	for _, want := range []Problem{{Path: "", Keyword: "/required"}, {Path: "/a~1b/1", Keyword: "/type"}} {
		found := false
		for _, p := range invalid.Problems {
			found = found || p.Path == want.Path && strings.HasSuffix(p.Keyword, want.Keyword) && p.Message != ""
		}
		if !found {
			t.Errorf("no %v in %v", want, err)
		}
	}
	many := newValidator(t, `{"items":{"type":"string"}}`)
	err = many.Validate([]byte("[" + strings.Repeat("1,", 1000) + "1]"))
	if !errors.As(err, &invalid) || len(invalid.Problems) != problemsMax || !strings.Contains(err.Error(), `at "/0"`) {
		t.Errorf("%.300v", err)
	}
}

// TestNoValidator: what is accepted as a schema need not be one to validate by.
func TestNoValidator(t *testing.T) {
	for why, text := range map[string]string{
		"itself":             `{"$ref":"#"}`,
		"itself in two ways": `{"anyOf":[{"type":"string"},{"allOf":[{"$ref":"#"}]}]}`,
		"against the draft":  `{"minLength":-1}`,
		"the network":        `{"$ref":"http://127.0.0.1:9/x.json"}`,
		"a huge number":      `{"multipleOf":1e2000000}`,
		"a pattern of Java":  `{"pattern":"(?<=a)b"}`,
	} {
		if _, err := NewValidator(schema.Resolved{Text: text}, ValidatorOptions{}); !errors.Is(err, ErrNoValidator) {
			t.Errorf("%s: %v", why, err)
		}
	}
	var pe *schema.ParseError
	if _, err := NewValidator(schema.Resolved{Text: `{`}, ValidatorOptions{}); !errors.As(err, &pe) {
		t.Errorf("%v", err)
	}
}

// TestCosts: schemas and documents that multiply what is to be checked are
// refused before anything is.
func TestCosts(t *testing.T) {
	twice := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/definitions/d0","definitions":{`)
		for i := range n {
			fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
		}
		fmt.Fprintf(&b, `"d%d":{"type":"integer"}}}`, n)
		return b.String()
	}
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	const both = `{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`
	const once = `{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"additionalProperties":false}`
	for _, c := range []struct {
		why, schema, document string
		fits                  bool
	}{
		{"2^5 ways", twice(5), `1`, true},
		{"2^60 ways", twice(60), `1`, false},
		{"two ways at each of 10 levels", both, nested(10), true},
		{"two ways at each of 200 levels", both, nested(200), false},
		{"different ways for different properties", `{"properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]},"b":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}`, nested(400), true},
		{"many patterns for many properties", manyPatterns(500), `{"x":0` + manyMembers(2_000) + `}`, false},
		{"one way at each of 500 levels", once, nested(500), true},
		{"600 levels", once, nested(600), false},
		{"100,000 levels", `{}`, strings.Repeat("[", 100_000), false},
		{"a number of a million digits", `{"multipleOf":3}`, `1e1000000`, false},
		{"a long number", `{"multipleOf":3}`, strings.Repeat("9", 1001), false},
		{"many values", `{"uniqueItems":true}`, "[0" + manyNumbers(20_000) + "]", true},
	} {
		start := time.Now()
		v, err := NewValidator(schema.Resolved{Text: c.schema}, ValidatorOptions{StepsMax: 60_000})
		if err != nil {
			t.Fatal(err)
		}
		err = v.Validate([]byte(c.document))
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s took %v", c.why, d)
		}
		if c.fits && err != nil || !c.fits && err == nil {
			t.Errorf("%s: %.200v", c.why, err)
		}
		var invalid *InvalidError
		if !c.fits && errors.As(err, &invalid) {
			t.Errorf("%s: judged: %v", c.why, err)
		}
	}
	small, err := NewValidator(schema.Resolved{Text: `{}`}, ValidatorOptions{DocumentBytesMax: 4})
	if err != nil || !errors.Is(small.Validate([]byte(`"abc"`)), ErrTooLarge) || small.Validate([]byte(`"ab"`)) != nil {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "{", "1 2", "nul", `{"a":1}]`} {
		if err := newValidator(t, `{}`).Validate([]byte(bad)); err == nil {
			t.Errorf("validated %q", bad)
		}
	}
}

func manyNumbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",%d", i+1)
	}
	return b.String()
}

func manyPatterns(n int) string {
	var b strings.Builder
	b.WriteString(`{"patternProperties":{"x":true`)
	for i := range n {
		fmt.Fprintf(&b, `,"a%d":true`, i)
	}
	return b.String() + "}}"
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return b.String()
}

// TestChains: schemas that lie deep inside each other take stack for each
// level of a document, so both together are bounded.
func TestChains(t *testing.T) {
	chain := func(n int) string {
		return `{"properties":{"a":{"$ref":"#"}},"allOf":[` + strings.Repeat(`{"allOf":[`, n) + `{}` + strings.Repeat("]}", n) + "]}"
	}
	if _, err := NewValidator(schema.Resolved{Text: chain(300)}, ValidatorOptions{}); !errors.Is(err, ErrNoValidator) {
		t.Errorf("%v", err)
	}
	v := newValidator(t, chain(150))
	if err := v.Validate([]byte(strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300))); err != nil {
		t.Error(err)
	}
	if err := v.Validate([]byte(strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500))); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// TestConcurrent: one validator checks many documents at a time, and one that
// is stopped leaves the others alone.
func TestConcurrent(t *testing.T) {
	text := `{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}],"type":"object"}`
	v, err := NewValidator(schema.Resolved{Text: text}, ValidatorOptions{StepsMax: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 3 {
				var want error
				doc := `{"a":{"a":{}}}`
				if i == 0 {
					doc, want = strings.Repeat(`{"a":`, 60)+"{}"+strings.Repeat("}", 60), ErrTooLarge
				}
				if err := v.Validate([]byte(doc)); !errors.Is(err, want) {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
}

func FuzzValidate(f *testing.F) {
	v := newValidator(f, `{"type":["object","array","string","number"],"items":{"$ref":"#"},"additionalProperties":{"$ref":"#"},"multipleOf":0.01,"pattern":"^a*$","uniqueItems":true}`)
	for _, seed := range []string{`{"a":[1,2.5,"aa"]}`, `[1e3,1.0,1]`, `"b"`, `{}`, `[[],[[]]]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if err := v.Validate(document); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}
